"""Measures the training loops of fixtures/scripts that train several models in one step: fixtures/truth/together.json.

Run by hand: `python tests/oracle/measure_together.py ZOO`. The body of each script's innermost loop around a
`backward()` is run twice on fake tensors, after the definitions that measure_scripts.py takes and the lines given here.
`peak_bytes` is the highest sum of live storages in the second round, each rounded up to 512 bytes; storages of masks
included, data of the loader made anew for each round.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(Path(__file__).parent))
from measure_scripts import EXTRA, FIXTURES, namespace, surroundings
from torch_measure import LiveStorages

CASES: dict[str, dict[str, str]] = {
    "dcgan_faces.py": {
        "before": "device = torch.device('cpu')\n"
        "netG, netD = Generator(1), Discriminator(1)\n"
        "criterion, real_label, fake_label = nn.BCELoss(), 1., 0.\n"
        "optimizerD = optim.Adam(netD.parameters(), lr=lr, betas=(beta1, 0.999), foreach=True)\n"
        "optimizerG = optim.Adam(netG.parameters(), lr=lr, betas=(beta1, 0.999), foreach=True)\n"
        "iters, epoch, num_epochs, i, dataloader = 1, 0, 5, 0, [0] * 9\n",
        "data": "data = [torch.empty(128, 3, 64, 64), torch.empty(128, dtype=torch.int64)]",
        "models": "[netG, netD]",
    },
    "distill_student.py": {
        "before": "device = torch.device('cpu')\n"
        "teacher, student = frozen_teacher(resnet34(), nn).eval(), Student()\n"
        "optimizer = torch.optim.Adam(student.parameters(), foreach=True)\n"
        "T, alpha = 4.0, 0.7\n",
        "data": "inputs, labels = torch.empty(64, 3, 32, 32), torch.empty(64, dtype=torch.int64)",
        "models": "[teacher, student]",
    },
}


def loop_body(path: Path) -> list[ast.stmt]:
    """The innermost loop around a backward pass."""
    loops = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.For) and ".backward()" in ast.unparse(node)
    ]
    return min(loops, key=lambda loop: len(ast.unparse(loop))).body


def measured(script: str, zoo: str) -> dict[str, Any]:
    path, case = FIXTURES / "scripts" / script, CASES[script]
    body = compile(ast.Module(loop_body(path), []), str(path), "exec", dont_inherit=True)
    with surroundings(path, zoo), FakeTensorMode(allow_non_fake_inputs=True):
        names = {**namespace(path, {}), **EXTRA}
        exec(case["before"], names)
        models = eval(case["models"], names)
        with LiveStorages() as live:
            for model in models:
                for tensor in (*model.parameters(), *model.buffers()):
                    live.watch(tensor)
            for _ in range(2):
                exec(case["data"], names)
                live.peak = live.live
                exec(body, names)
    return {
        "script": script,
        "parameters": [sum(parameter.numel() for parameter in model.parameters()) for model in models],
        "peak_bytes": live.peak,
    }


def main() -> None:
    cases = [measured(script, sys.argv[1]) for script in CASES]
    about = (__doc__ or "").partition("\n\n")[2].replace("\n", " ").strip()
    document = {"about": about, "torch": torch.__version__, "scripts": cases}
    (FIXTURES / "truth" / "together.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
