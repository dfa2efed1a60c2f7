"""Measures what one more turn of the loops of fixtures/growth adds to their memory: fixtures/truth/growth.json.

Run by hand, with a CUDA build of PyTorch and a card (a fake one that only counts will do: no value is looked at), each
program and each change of it in a process of its own (measure_programs.py --one):

    python tests/oracle/measure_growth.py
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve()
FIXTURES = HERE.parents[2] / "fixtures"
TRUTH = FIXTURES / "truth" / "growth.json"


def peak(program: str, phase: int, replace: list[list[str]]) -> int:
    """Requested bytes at the peak of a phase, the text changed before."""
    changes = [word for old, new in replace for word in ("--replace", old, new)]
    command = [sys.executable, str(HERE.with_name("measure_programs.py")), "--one"]
    path = FIXTURES / "growth" / program
    output = subprocess.run([*command, str(path), *changes], stdout=subprocess.PIPE, text=True, check=True).stdout
    return int(json.loads(output.splitlines()[-1])["phases"][phase - 1]["requested_peak"])


def main() -> None:
    truth = json.loads(TRUTH.read_text())
    for each in truth["programs"]:
        where = each["program"], each["phase"]
        each["growth"] = peak(*where, each["more"]) - peak(*where, [])
        each["twin_growth"] = peak(*where, each["more"] + each["twin"]) - peak(*where, each["twin"])
        print(each["program"], each["growth"], each["twin_growth"], flush=True)
    TRUTH.write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
