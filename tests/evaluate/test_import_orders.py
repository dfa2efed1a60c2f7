"""What a name is worth where modules import each other, change `sys.path` or are found by name: as in Python itself,
which runs each project first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

NET = "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(1, WIDTH))\nnet(torch.zeros(1, 1))\n"

HERE = "import os, sys\nHERE = os.path.dirname(os.path.abspath(__file__))\n"

PROJECTS = {
    "modules import each other": {
        "a.py": "import b\nN = 12\ndef width():\n    return b.width()\n",
        "b.py": "import a\ndef width():\n    return a.N + 1\n", "net.py": "import a\nWIDTH = a.width()\n",
    },
    "a name that its package changes after the import": {
        "pkg/__init__.py": "N = 4\nfrom .sizes import K\nN = 9\n", "pkg/sizes.py": "from pkg import N\nK = N\n",
        "net.py": "from pkg import K, N\nWIDTH = 10 * K + N\n",
    },
    "a name that its package has only after the import": {
        "pkg/__init__.py": "from . import sizes\nN = 7\n",
        "pkg/sizes.py": "import pkg\ntry:\n    K = pkg.N\nexcept AttributeError:\n    K = 3\n",
        "net.py": "from pkg.sizes import K\nWIDTH = K\n",
    },
    "a name that its package had at last is there for calls": {
        "pkg/__init__.py": "from .sizes import width\nN = 7\n",
        "pkg/sizes.py": "import pkg\ndef width():\n    return pkg.N\n",
        "net.py": "from pkg import width\nWIDTH = width()\n",
    },
    "a star import of what asks its package for a name that an earlier one has brought": {
        "pkg/__init__.py": "from .pool import *\nfrom .old import *\n", "pkg/pool.py": "def mean():\n    return 4\n",
        "pkg/old.py": "from pkg import mean\ndef deprecated():\n    return mean() + 1\n",
        "net.py": "from pkg import deprecated, mean\nWIDTH = 10 * mean() + deprecated()\n",
    },
    "the last star import": {
        "one.py": "N = 5\n",
        "two.py": "N = 6\n",
        "net.py": "from one import *\nfrom two import *\nWIDTH = N\n",
    },
    "a star import over a name": {"one.py": "N = 5\n", "net.py": "N = 9\nfrom one import *\nWIDTH = N\n"},
    "a star import over a name of a module": {
        "one.py": "N = 5\n", "sizes.py": "N = 9\nfrom one import *\n", "net.py": "from sizes import N\nWIDTH = N\n",
    },
    "a name over a star import": {
        "one.py": "N = 5\n", "sizes.py": "from one import *\nN = 9\n", "net.py": "from sizes import N\nWIDTH = N\n",
    },
    "a star import of listed names": {
        "one.py": "__all__ = ['N']\nN = 5\nM = 6\n", "net.py": "M = 2\nfrom one import *\nWIDTH = 10 * N + M\n",
    },
    "a name that is deleted at the end": {
        "one.py": "def f():\n    return 5\n", "sizes.py": "from one import f\nN = f()\ndel f\n",
        "net.py": "from sizes import N\nWIDTH = N\n",
    },
    "a folder that is appended": {
        "lib/sizes.py": "N = 5\n",
        "net.py": "import sys\nsys.path.append('lib')\nfrom sizes import N\nWIDTH = N\n",
    },
    "a folder that is appended comes last": {
        "sizes.py": "N = 5\n", "lib/sizes.py": "N = 6\n",
        "net.py": "import sys\nsys.path.append('lib')\nfrom sizes import N\nWIDTH = N\n",
    },
    "a folder that is put in front": {
        "sizes.py": "N = 5\n", "lib/sizes.py": "N = 6\n",
        "net.py": "import sys\nsys.path.insert(0, 'lib')\nfrom sizes import N\nWIDTH = N\n",
    },
    "the last folder that is put in front": {
        "src/sizes.py": "N = 5\n", "src/deep/sizes.py": "N = 6\n",
        "net.py": "import sys\nfrom pathlib import Path\nROOT = Path(__file__).resolve().parent\n"
                  "for part in ('src', 'src/deep'):\n    sys.path.insert(0, str(ROOT / part))\n"
                  "from sizes import N\nWIDTH = N\n",
    },
    "a namespace package over two folders": {
        "one/ns/a.py": "N = 3\n", "two/ns/b.py": "M = 4\n",
        "net.py": HERE + "sys.path.extend([os.path.join(HERE, 'one'), os.path.join(HERE, 'two')])\n"
                         "from ns.a import N\nfrom ns.b import M\nWIDTH = 10 * N + M\n",
    },
    "a folder that a module puts in front": {
        "paths.py": "import sys\nsys.path.insert(0, 'lib')\nREADY = True\n",
        "sizes.py": "N = 5\n",
        "lib/sizes.py": "N = 6\n",
        "net.py": "from paths import READY\nfrom sizes import N\nWIDTH = N\n",
    },
    "a module by its file": {
        "plug/sizes.py": "N = 5\n",
        "net.py": HERE + "import importlib.util\npath = os.path.join(HERE, 'plug', 'sizes.py')\n"
                         "spec = importlib.util.spec_from_file_location('own', path)\n"
                         "own = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(own)\nWIDTH = own.N\n",
    },
    "a module by a loader": {
        "plug/sizes.py": "N = 5\n",
        "net.py": "from importlib.machinery import SourceFileLoader\n"
                  "WIDTH = SourceFileLoader('own', 'plug/sizes.py').load_module().N\n",
    },
    "a thing by its dotted name": {
        "pkg/__init__.py": "", "pkg/sizes.py": "class Sizes:\n    N = 5\n",
        "net.py": "import pydoc\n"
                  "WIDTH = pydoc.locate('pkg.sizes.Sizes').N if pydoc.locate('pkg.other') is None else 2\n",
    },
    "modules of a package by their names": {
        "pkg/__init__.py": "",
        "pkg/a.py": "N = 3\n",
        "pkg/b.py": "N = 4\n",
        "pkg/c/__init__.py": "N = 5\n",
        "pkg/c.txt": "",
        "net.py": "import importlib, pkgutil\nimport pkg\nWIDTH = 0\n"
                  "for _, name, package in pkgutil.iter_modules(pkg.__path__):\n"
                  "    WIDTH = 10 * WIDTH + importlib.import_module('pkg.' + name).N\n",
    },
    "modules of a package by its files": {
        "pkg/__init__.py": "import os\n"
                           "NAMES = sorted(f[:-3] for f in os.listdir(os.path.dirname(__file__)) if f[0] != '_')\n",
        "pkg/a.py": "N = 3\n", "pkg/b.py": "N = 4\n",
        "net.py": "import importlib, pkg\nWIDTH = 0\nfor name in pkg.NAMES:\n"
                  "    WIDTH = 10 * WIDTH + importlib.import_module('pkg.' + name).N\n",
    },
    "names that a package gives when they are asked for": {
        "pkg/__init__.py": "import importlib\nPLACES = {'N': '.sizes'}\ndef __getattr__(name):\n"
                           "    if name not in PLACES:\n"
                           "        raise AttributeError(name)\n"
                           "    return getattr(importlib.import_module(PLACES[name], __name__), name)\n",
        "pkg/sizes.py": "N = 5\n", "net.py": "import pkg\nWIDTH = pkg.N if not hasattr(pkg, 'M') else 2\n",
    },
    "what a module has kept of a library before another puts its own in": {
        "own.py": "import math\nkept = math.sqrt\ndef sqrt(x):\n    return kept(x) + 1\n",
        "setup_own.py": "import math\nfrom own import sqrt\nmath.sqrt = sqrt\nREADY = True\n",
        "net.py": "import setup_own\nWIDTH = int(setup_own.math.sqrt(16))\n",
    },
}  # fmt: skip


@pytest.mark.parametrize("files", PROJECTS.values(), ids=PROJECTS)
def test_a_name_is_worth_what_python_makes_it(
    files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "shown.py").write_text(files["net.py"] + "print(WIDTH)\n", encoding="utf-8")
    python = [sys.executable, "-S", "-E", "-B", "-W", "ignore", "shown.py"]
    done = subprocess.run(python, cwd=tmp_path, capture_output=True, text=True, check=True)
    (tmp_path / "net.py").write_text(files["net.py"] + NET, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    [model] = analyse(load("net.py"), Settings()).reports
    assert (model.status, model.parameters) == ("exact", 2 * int(done.stdout)), model.causes


def test_a_program_cannot_have_other_places_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "sizes.py").write_text("N = 5\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "net.py").write_text(
        f"import sys\nsys.path.append({str(tmp_path / 'other')!r})\nfrom sizes import N\nWIDTH = N\n{NET}"
    )
    monkeypatch.chdir(tmp_path / "project")
    assert [model.status for model in analyse(load("net.py"), Settings()).reports] != ["exact"]
