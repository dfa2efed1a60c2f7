"""What a program sees of folders: its own code and that of packages, as Python sees it; of data nothing for certain."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

NET = "import torch\nfrom torch import nn\nnet = nn.Sequential(nn.Linear(1, WIDTH))\nnet(torch.zeros(1, 1))\n"

FILES = (
    *("pkg/__init__.py", "pkg/cfg/a.yaml", "pkg/cfg/b.yaml", "pkg/cfg/v1/c.yaml", "pkg/cfg/v1/note.md", "pkg/inner.py"),
    *("conf/x.yaml", "conf/y.yaml", "data/one.jpg", "data/two.jpg", ".hidden/z.yaml"),
)

KNOWN = {
    "a pattern": "import glob\nWIDTH = len(glob.glob('conf/*.yaml'))",
    "a pattern that nothing matches": "import glob, pkg\nWIDTH = 1 + len(glob.glob('pkg/cfg/q*.yaml'))",
    "a pattern through all folders": "import glob\nWIDTH = len(glob.glob('pkg/**/*.yaml', recursive=True))",
    "a pattern of one folder": "import glob\nWIDTH = len(glob.glob('pkg/**/*.yaml'))",
    "names of a pattern": "import glob\nWIDTH = len(sorted(glob.iglob('pkg/cfg/[ab].yaml'))[1])",
    "hidden folders": "import glob\nWIDTH = 1 + len(glob.glob('**/z.yaml', recursive=True))",
    "paths of a pattern": "from pathlib import Path\nWIDTH = len([p.name for p in Path('pkg').glob('*/*.yaml')])",
    "paths below": "from pathlib import Path\nWIDTH = len([p.stem for p in Path('pkg').rglob('*.yaml')])",
    "a package's folder": "import os, pkg\nWIDTH = len(os.listdir(os.path.join(os.path.dirname(pkg.__file__), 'cfg')))",
    "a package's paths": "from pathlib import Path\nimport pkg\n"
    "WIDTH = len([p for p in (Path(pkg.__file__).parent / 'cfg').iterdir() if p.is_dir()])",
    "a walk": "import os, pkg\nWIDTH = sum(len(files) for _, _, files in os.walk('pkg/cfg'))",
    "a folder": "import os\nWIDTH = 3 if os.path.isdir('conf') else 4",
    "a file that is not there": "import os\nWIDTH = 3 if os.path.exists('none.yaml') else 4",
    "a file of a package": "import os, pkg\nat = os.path.dirname(pkg.__file__)\n"
    "WIDTH = 3 if os.path.exists(at + '/cfg/a.yaml') else 4",
}  # fmt: skip

UNKNOWN = {
    "data": "import os\nWIDTH = len(os.listdir('data'))",
    "data by a pattern": "import glob\nWIDTH = len(glob.glob('data/*.jpg'))",
    "data that is not there": "import glob\nWIDTH = 1 + len(glob.glob('data/*.png'))",
    "other places": "import os\nWIDTH = len(os.listdir('/'))",
    "other places by a pattern": "import glob\nWIDTH = 1 + len(glob.glob('../*.py'))",
    "a path below another folder": "import os\nWIDTH = 3 if os.path.exists('runs/none.yaml') else 4",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True, parents=True)
        (tmp_path / name).write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("code", KNOWN.values(), ids=KNOWN)
def test_code_and_settings_are_seen_as_python_sees_them(project: Path, code: str) -> None:
    python = [sys.executable, "-S", "-E", "-B", "-c", f"{code}\nprint(WIDTH)"]
    done = subprocess.run(python, cwd=project, capture_output=True, text=True, check=True)
    (project / "net.py").write_text(f"{code}\n{NET}")
    [model] = analyse(load("net.py"), Settings()).reports
    assert (model.status, model.parameters) == ("exact", 2 * int(done.stdout)), model.causes


@pytest.mark.parametrize("code", UNKNOWN.values(), ids=UNKNOWN)
def test_nobody_knows_what_is_in_other_folders(project: Path, code: str) -> None:
    (project / "net.py").write_text(f"{code}\n{NET}")
    assert [model.status for model in analyse(load("net.py"), Settings()).reports] != ["exact"]


def test_a_link_out_of_the_project_is_not_followed(project: Path) -> None:
    (project / "out").symlink_to("..")
    (project / "net.py").write_text(f"import os\nWIDTH = len(os.listdir('out'))\n{NET}")
    assert [model.status for model in analyse(load("net.py"), Settings()).reports] != ["exact"]
