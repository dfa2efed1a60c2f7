"""Run both twins of every shape bug with the frameworks themselves. Run by hand, with the extra `oracle` installed:

    python tests/oracle/confirm_bugs.py [NAME...]

Each fixtures/bugs/*_wrong.py must fail and each *_right.py must run; what they say is kept in
fixtures/truth/bugs.json. Exit status 1 if one does not.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUGS = ROOT / "fixtures" / "bugs"
TRUTH = ROOT / "fixtures" / "truth" / "bugs.json"

COLOUR = re.compile(r"\x1b\[\d*m")

STAND_IN = """\
import runpy, sys, types
summary = types.ModuleType("torchsummary")
def run(model, input_size, device="cpu", **_):
    import torch
    model(torch.rand(2, *input_size))
summary.summary = run
sys.modules["torchsummary"] = summary
runpy.run_path(sys.argv[1], run_name="__main__")
"""
"""Runs a file as a script, with the little of torchsummary that is used: it calls the model."""


def run(path: Path) -> str | None:
    """The last line of the error that the file ends with; None where it runs through."""
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", STAND_IN, str(path)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    last = max(number for number, line in enumerate(lines) if "Error" in line.partition(":")[0] and line[0] != " ")
    said = COLOUR.sub("", " ".join(line.strip() for line in lines[last:] if line.strip()))
    return said.partition("Arguments received by")[0].strip()[:300]


def main(asked: list[str]) -> int:
    known = json.loads(TRUTH.read_text())["bugs"] if asked else []
    found = {bug["name"]: bug for bug in known}
    wrong = 0
    for path in sorted(BUGS.glob("*_wrong.py")):
        name = path.stem.removesuffix("_wrong")
        if asked and name not in asked:
            continue
        error, twin = run(path), run(path.with_name(f"{name}_right.py"))
        print(f"{name}: {error}; {twin or 'right runs'}", flush=True)
        wrong += error is None or twin is not None
        found[name] = {"name": name, "wrong": error, "right": twin}
    modules = [importlib.import_module(name) for name in ("torch", "keras", "tensorflow")]
    versions = {module.__name__: module.__version__.partition("+")[0] for module in modules}
    about = "What the frameworks say to fixtures/bugs/NAME_wrong.py and NAME_right.py (null: nothing, it runs)."
    lines = ",\n".join(json.dumps(found[name]) for name in sorted(found))
    head = json.dumps({"about": f"{about} Measured by tests/oracle/confirm_bugs.py.", **versions}, indent=1)[:-2]
    TRUTH.write_text(f'{head},\n "bugs": [\n{lines}\n]}}\n')
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
