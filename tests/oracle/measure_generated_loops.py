"""Measures what PyTorch says of the first programs that tests/generated_loops.py makes. Run by hand, with torch installed:

    python tests/oracle/measure_generated_loops.py [COUNT]

writes fixtures/truth/generated_loops.json, one record a seed, with a sum of the program's text: a generator that writes
another program for a seed needs another truth.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import generated_loops  # noqa: E402


def main(count: int) -> int:
    import torch

    lines = []
    for seed in range(count):
        text = generated_loops.written(seed)
        lines.append(json.dumps({"text": zlib.crc32(text.encode()), **generated_loops.asked(text)}))
    about = (
        "What PyTorch's CPU build says of the programs of tests/generated_loops.py, in the order of their seeds, "
        "measured by tests/oracle/measure_generated_loops.py. text: the CRC-32 of the program; trainable: values of the "
        "parameters that the optimizer holds and that ask for a gradient; state: bytes of the optimizer's state in "
        "tensors of more than one value; growth: bytes that the last turn of a loop left to autograd, of the loop that "
        "leaves most."
    )
    body = ",\n".join(lines)
    head = f'"about": {json.dumps(about)},\n"torch": {json.dumps(torch.__version__.partition("+")[0])}'
    (ROOT / "fixtures" / "truth" / "generated_loops.json").write_text(f'{{{head},\n"programs": [\n{body}\n]}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 150))
