"""Holds what is said of random programs against what PyTorch's own CUDA code asked for: not a test, a search.

    python tests/score_random_programs.py FOLDER [NAME...]

FOLDER is one that tests/oracle/random_programs.py has written and measure_random_programs.py has measured. Prints each
program that is called exact and is off by more than 0.4 %, each one that is not exact with its cause, and how many
there were. Ends with status 1 where an exact one was off. Blocks are not rounded up to 512 bytes, as they are not in
what was asked for.
"""

from __future__ import annotations

import collections
import json
import sys
from pathlib import Path

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.frameworks.torch.saved_tensors import RULES
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

CLOSE, NUMBERS = 0.004, 4_096
"""How far a figure may be off: as a fraction, and in bytes (single numbers that an optimizer makes on its way)."""


def main() -> None:
    object.__setattr__(RULES, "alignment", 1)
    folder, only = Path(sys.argv[1]), sys.argv[2:]
    programs = json.loads((folder / "truth.json").read_text())["programs"]
    counted: collections.Counter[str] = collections.Counter()
    for name, truth in programs.items():
        if only and name.removesuffix(".py") not in only:
            continue
        if "error" in truth:
            counted["did not run"] += 1
            continue
        path, wanted = folder / name, truth["requested"]
        found = [each for each in analyse(Source(str(path), path.read_text()), Settings()).reports if each.estimate]
        if len(found) != 1 or found[0].estimate is None:
            counted["wrong"] += 1
            print(f"{name:24} {len(found)} reports")
            continue
        off = found[0].estimate.total - wanted
        status = found[0].status
        counted[status] += 1
        if status != "exact":
            print(
                f"{name:24} {status} {off / wanted:+8.2%}  {'; '.join(cause.reason for cause in found[0].causes[:2])}"
            )
        elif abs(off) > max(CLOSE * wanted, NUMBERS):
            counted["wrong"] += 1
            print(f"{name:24} exact {off / wanted:+8.2%}  {off:,} of {wanted:,}")
    print(", ".join(f"{number} {what}" for what, number in counted.items()))
    sys.exit(counted["wrong"] > 0)


if __name__ == "__main__":
    main()
