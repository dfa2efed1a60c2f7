"""Which of several modules of one name an import finds: as Python's own rule has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

NET = "import torch\nfrom torch import nn\n{}\nnet = nn.Sequential(nn.Linear(1, WIDTH))\nnet(torch.zeros(1, 1))\n"

FOUND = {
    "a module beside a script comes before the library's": (
        {"queue.py": "WIDTH = 3", "net.py": NET.format("from queue import WIDTH")}, "net.py", 6,
    ),
    "a package beside a script comes before the library's": (
        {"queue/__init__.py": "WIDTH = 3", "net.py": NET.format("import queue\nWIDTH = queue.WIDTH")}, "net.py", 6,
    ),
    "a folder without __init__ comes after the library": (
        {"statistics/x.py": "", "net.py": NET.format("import statistics\nWIDTH = int(statistics.mean([3]))")},
        "net.py", 6,
    ),
    "what Python has imported itself stays": (
        {"os.py": "sep = 'xyz'", "net.py": NET.format("import os\nWIDTH = len(os.sep)")}, "net.py", 2,
    ),
    "a package that is modelled here has a file's function under the file's own name": (
        {"torch/distributed/rendezvous.py": "def rendezvous(url):\n    return 3\n",
         "net.py": NET.format("import torch.distributed\nWIDTH = torch.distributed.rendezvous('env://')")},
        "net.py", 6,
    ),
    "a module of the package is meant where the import is relative": (
        {"pkg/__init__.py": "", "pkg/types.py": "WIDTH = 3", "pkg/net.py": NET.format("from .types import WIDTH")},
        "pkg/net.py", 6,
    ),
    "a module beside a script may be imported relatively": (
        {"types.py": "WIDTH = 3", "net.py": NET.format("from .types import WIDTH")}, "net.py", 6,
    ),
    "inside a package an absolute import means the library": (
        {"pkg/__init__.py": "", "pkg/math.py": "pi = 30", "pkg/statistics.py": "mean = max",
         "pkg/net.py": NET.format("import statistics\nWIDTH = int(statistics.mean([3, 5, 10]))")},
        "pkg/net.py", 12,
    ),
    "what a function of the module that it calls itself makes global": (
        {"sizes.py": "WIDTH = None\ndef choose(n):\n    global WIDTH\n    WIDTH = n\ntry:\n    choose(3)\n"
                     "except ImportError:\n    choose(4)\n", "net.py": NET.format("from sizes import WIDTH")},
        "net.py", 6,
    ),
    "a folder without __init__ comes after a real package, wherever that is": (
        {"net_sizes/run-1/log.txt": "", "src/net_sizes/__init__.py": "WIDTH = 3",
         "net.py": NET.format("from net_sizes import WIDTH")}, "net.py", 6,
    ),
    "a folder with the name of a package that is not there holds nothing of it": (
        {"net_tracker/run-1/log.txt": "", "net.py": NET.format("import net_tracker\nnet_tracker.init()\nWIDTH = 3")},
        "net.py", 6,
    ),
    "a name that no file brings, looked for in files that import each other's names in thousands of ways": (
        {**{f"m{at}.py": f"from m{at + 1} import *\nfrom m{at + 2} import *\n# len\n" for at in range(40)},
         "m40.py": "# len\n", "m41.py": "# len\n",
         "net.py": NET.format("from m0 import *\nWIDTH = len('abc')")},
        "net.py", 6,
    ),
    "the folder above the package is where Python looks first": (
        {"queue.py": "WIDTH = 3", "pkg/__init__.py": "", "pkg/net.py": NET.format("from queue import WIDTH")},
        "pkg/net.py", 6,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("files", "path", "parameters"), FOUND.values(), ids=FOUND)
def test_an_import_finds(
    files: dict[str, str], path: str, parameters: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [model] = analyse(load(path), Settings()).reports
    assert (model.status, model.parameters) == ("exact", parameters), model.causes


def test_a_name_that_a_module_lacks_comes_from_another_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkout beside the installed package: its public names are made when it is packaged."""
    for folder, text in (("checkout", "DEPTH = 1\n"), ("installed", "DEPTH = 2\nWIDTH = 3\n")):
        (tmp_path / folder / "net_sizes").mkdir(parents=True)
        (tmp_path / folder / "net_sizes" / "__init__.py").write_text(text)
    (tmp_path / "net.py").write_text(NET.format("import net_sizes\nfrom net_sizes import WIDTH").replace(
        "Linear(1, WIDTH)", "Linear(net_sizes.DEPTH, net_sizes.WIDTH)"
    ))  # fmt: skip
    monkeypatch.chdir(tmp_path)
    settings = Settings(search_path=(str(tmp_path / "checkout"), str(tmp_path / "installed")))
    [model] = analyse(load("net.py"), settings).reports
    assert (model.status, model.parameters) == ("exact", 6), model.causes


BOUNDED = {
    "a module that is too long is not read": ("from long import WIDTH", "WIDTH", 1000, "net.py", 3),
    "a statement for which too little is left is not run": ("from long import WIDTH", "WIDTH", 2200, "long.py", 1),
    "what is not imported from it is not touched": ("from long import WIDTH", "2", 1000, "", 0),
    "it is read where it is short enough": ("from long import WIDTH", "WIDTH", 5000, "", 0),
}


@pytest.mark.parametrize(("line", "width", "allowed", "file", "at"), BOUNDED.values(), ids=BOUNDED)
def test_what_is_imported_is_bounded(
    line: str, width: str, allowed: int, file: str, at: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "long.py").write_text("WIDTH = (\n" + "    0 +\n" * 250 + "    2\n)\n", encoding="utf-8")
    (tmp_path / "net.py").write_text(NET.format(line).replace("WIDTH))", f"{width}))"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("flake8_cnnmem.evaluate.imports.READ", allowed)
    [model] = analyse(load("net.py"), Settings()).reports
    if not file:
        assert (model.status, model.parameters) == ("exact", 4), model.causes
        return
    [cause, *_] = model.causes
    assert cause.reason == "what is imported is too much to be followed"
    assert (Path(cause.path).name, cause.line) == (file, at)
