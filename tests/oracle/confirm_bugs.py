"""Run both twins of every shape bug with the frameworks themselves. Run by hand, with the extra `oracle` installed:

    python tests/oracle/confirm_bugs.py [NAME...]

Each fixtures/bugs/*_wrong.py must fail and each *_right.py must run, and so must each program of fixtures/bugs/programs,
which fails with each of its changed lines (tests/changed_lines.py); what they say is kept in fixtures/truth/bugs.json.
NAME is that of a pair or a program. Programs ask for torchvision, lightning and einops as well. Exit status 1 if one does not. Keras runs on TensorFlow, unless KERAS_BACKEND says otherwise.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import sys
import tempfile
import traceback
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.changed_lines import bugs_of  # noqa: E402  found from the folder above

BUGS = ROOT / "fixtures" / "bugs"
TRUTH = ROOT / "fixtures" / "truth" / "bugs.json"

COLOUR = re.compile(r"\x1b\[\d*m")


def stand_in() -> None:
    """The little of torchsummary that is used: it calls the model."""
    summary = types.ModuleType("torchsummary")

    def run(model: Any, input_size: tuple[int, ...], device: str = "cpu", **_: Any) -> None:
        import torch

        model(torch.rand(2, *input_size))

    summary.summary = run
    sys.modules["torchsummary"] = summary


def run(path: Path) -> str | None:
    """The error that the file ends with; None where it runs through. In a process of its own, which has the frameworks
    from this one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        said = ""
        try:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 1)
                sys.argv[1:] = []
                runpy.run_path(str(path), run_name="__main__")
        except Exception as error:
            said = "".join(traceback.format_exception_only(error))
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    said = COLOUR.sub("", " ".join(line.strip() for line in said.splitlines() if line.strip()))
    return said.partition("Arguments received by")[0].strip()[:300] or None


def main(asked: list[str]) -> int:
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    known = json.loads(TRUTH.read_text()) if asked else {"bugs": []}
    found = {bug["name"]: bug for bug in known["bugs"]}
    versions = {name: known.get(name, "") for name in ("torch", "keras", "tensorflow")}
    for name in filter(importlib.util.find_spec, versions):
        versions[name] = importlib.import_module(name).__version__.partition("+")[0]
    stand_in()
    wrong = 0
    for path in sorted((BUGS / "programs").glob("*.py")):
        if asked and path.stem not in asked:
            continue
        twin = run(path)
        for bug in bugs_of(path):
            with tempfile.TemporaryDirectory() as folder:
                changed = Path(folder, path.name)
                changed.write_text(bug.text)
                error = run(changed)
            print(f"{bug.name}: {error}; {twin or 'right runs'}", flush=True)
            wrong += error is None or twin is not None
            found[bug.name] = {"name": bug.name, "wrong": error, "right": twin}
    for path in sorted(BUGS.glob("*_wrong.py")):
        name = path.stem.removesuffix("_wrong")
        if asked and name not in asked:
            continue
        error, twin = run(path), run(path.with_name(f"{name}_right.py"))
        print(f"{name}: {error}; {twin or 'right runs'}", flush=True)
        wrong += error is None or twin is not None
        found[name] = {"name": name, "wrong": error, "right": twin}
    about = "What the frameworks say to fixtures/bugs/NAME_wrong.py and NAME_right.py (null: nothing, it runs)."
    lines = ",\n".join(json.dumps(found[name]) for name in sorted(found))
    head = json.dumps({"about": f"{about} Measured by tests/oracle/confirm_bugs.py.", **versions}, indent=1)[:-2]
    TRUTH.write_text(f'{head},\n "bugs": [\n{lines}\n]}}\n')
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
