"""The modules that nbQA hands to flake8: places in its own words."""

from __future__ import annotations

import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

from flake8_cnnmem.text.nbqa import ModuleLine, cells_of

CELLS = (
    "import torch\nfrom torch import nn\n",
    """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5)
        self.fc = nn.Linear(400, 10)

    def forward(self, x):
        return self.fc(nn.functional.max_pool2d(self.conv(x), 2).flatten(1))
""",
    "net = Net()\nnet(torch.zeros(64, 1, 28, 28))\n",
)
MODULE = "".join(f"# %%NBQA-CELL-SEP0a1b2c\n{cell}" for cell in CELLS)


def test_a_message_names_cells_and_flake8_gets_the_modules_line(
    run_flake8: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "net_ipynb.py").write_text(MODULE)
    done = run_flake8("--select=CNM", "net_ipynb.py")
    assert done.stdout == (
        "net_ipynb.py:9:19: CNM201 fc takes 400 features, but is given 2304 by flatten (cell_2:8) for the 28x28 input "
        "of cell_3:2, 16 comes from cell_2:4; 2304 features would fit\n"
    )


def test_lines_are_counted_within_their_cell() -> None:
    cells = cells_of(MODULE)
    assert cells is not None
    assert cells.text == MODULE
    assert [str(cells.line(number)) for number in (2, 3, 5, 14)] == ["cell_1:1", "cell_1:2", "cell_2:1", "cell_3:1"]
    again = pickle.loads(pickle.dumps(cells.line(5)))
    assert (type(again), int(again), str(again)) == (ModuleLine, 5, "cell_2:1")


def test_another_module_is_none_of_them() -> None:
    assert cells_of("import torch\n# %%NBQA-CELL-SEP0a1b2c\n") is None
