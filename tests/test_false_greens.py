"""What passes because nothing was looked at says so; a change is checked where it counts. Through the real commands."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_cnnmem import checks, manual
from flake8_cnnmem.cli import dependents, main
from flake8_cnnmem.cli import project as around

Run = Callable[..., "subprocess.CompletedProcess[str]"]

FILES = {
    "pyproject.toml": '[tool.cnnmem]\ngpu-limit = "64KiB"\n',
    "parts/__init__.py": "",
    "parts/net.py": (
        "from torch import nn\ndef make(units):\n    return nn.Sequential(nn.Linear(8, units), nn.Linear(units, 2))\n"
    ),
    "train.py": (
        "import torch\nimport yaml\nfrom parts.net import make\n"
        "settings = yaml.safe_load(open('configs/default.yaml'))\nnet = make(4)\n"
        "optimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "for step in range(9):\n"
        "    loss = net(torch.zeros(settings['batch_size'], 8)).sum()\n"
        "    optimizer.zero_grad()\n    loss.backward()\n    optimizer.step()\n"
    ),
    "configs/default.yaml": "batch_size: 4\n",
    "other.py": "import torch\nfrom torch import nn\nnet = nn.Linear(2, 2)\n",
    "notes.txt": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("given", "edit"),
    [
        ("parts/net.py", ("parts/net.py", "nn.Linear(8, units)", "nn.Linear(8, 9999), nn.Linear(9999, units)")),
        ("configs/default.yaml", ("configs/default.yaml", "4", "999999")),
    ],
)
def test_a_change_is_checked_where_it_counts(
    project: Path, run_cnnmem: Run, given: str, edit: tuple[str, str, str]
) -> None:
    assert run_cnnmem("check", given).returncode == 0
    name, old, new = edit
    (project / name).write_text((project / name).read_text().replace(old, new))
    done = run_cnnmem("check", given)
    assert done.returncode == 1
    assert "train.py" in done.stdout
    assert "CNM101" in done.stdout
    assert run_cnnmem("check", "other.py").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "closing"),
    [
        (["check", "train.py"], "1 model in 1 file: 1 fits"),
        (["check", "train.py", "--gpu-limit=1KiB"], "1 model in 1 file: 1 is over its limit"),
        (
            ["check", "train.py", "--gpu-limit=none"],
            "1 model in 1 file: 1 exact; no limit is set (cnnmem init shows some)",
        ),
        (["check", "other.py"], "no model in 1 file"),
    ],
)
def test_check_ends_with_what_it_has_seen(project: Path, run_cnnmem: Run, arguments: list[str], closing: str) -> None:
    done = run_cnnmem(*arguments)
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith(closing)
    assert run_cnnmem(*arguments, "-q").stderr == ""


def test_what_is_not_estimated_is_counted(project: Path, run_cnnmem: Run) -> None:
    (project / "open.py").write_text(
        "import keras\nspace = keras.utils.FeatureSpace({})\n"
        "net = keras.Model(space.get_inputs(), keras.layers.Dense(1)(space.get_encoded_features()))\n"
        "net.compile('adam', 'mse')\n"
    )
    done = run_cnnmem("check", "open.py")
    assert "not estimated (cnnmem check --extend-select CNM3 says why)" in done.stderr
    assert done.returncode == 0


def test_a_folder_says_no_less_than_its_files(project: Path, run_cnnmem: Run) -> None:
    (project / "alone").mkdir()
    (project / "alone" / "script.py").write_text("from nowhere_torch import Trainer\nTrainer('resnet50').fit()\n")
    single = run_cnnmem("report", "alone/script.py")
    folder = run_cnnmem("report", "alone")
    assert "nowhere_torch" in single.stderr
    assert "nowhere_torch" in folder.stderr


ENGINE = """import torch


def fit(model, batch_size):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.utils.data.DataLoader(torch.randn(64, 8), batch_size=batch_size):
        optimizer.zero_grad()
        model(x).sum().backward()
        optimizer.step()
"""
NET = """from torch import nn


def create(units):
    return nn.Sequential(nn.Linear(8, units), nn.Linear(units, 2))
"""


@pytest.mark.parametrize(
    ("imports", "call", "counts"),
    [
        ("from lib.engine import fit\nfrom lib.net import create", "fit(create(99), batch_size=16)", True),
        ("from lib import (\n    engine,\n    net,\n)", "engine.fit(net.create(99), batch_size=16)", True),
        ("import lib.engine as e, lib.net as n", "if __name__ == '__main__':\n    e.fit(n.create(99), 16)", True),
        ("from lib.start import begin", "begin()", True),
        ("from lib.engine import fit\nfrom lib.net import create", "def main():\n    fit(create(99), 16)", False),
        ("from lib.net import create", "units = max(99, len(str(create)))", False),
        ("import json", "json.dumps({})", False),
        ("from nowhere import fit", "fit()", False),
    ],
)
def test_a_program_that_only_imports_its_own_project_is_looked_at(
    tmp_path: Path, run_cnnmem: Run, imports: str, call: str, counts: bool
) -> None:
    (tmp_path / "lib").mkdir()
    start = "from .engine import fit\nfrom . import net\n\ndef begin():\n    fit(net.create(99), 16)\n"
    for name, text in {"__init__": "", "engine": ENGINE, "net": NET, "start": start}.items():
        (tmp_path / "lib" / f"{name}.py").write_text(text)
    (tmp_path / "run.py").write_text(f"{imports}\n\n{call}\n")
    assert ("run.py" in run_cnnmem("report", ".").stdout) is counts
    assert (run_cnnmem("check", "run.py", "--gpu-limit=1KiB").returncode == 1) is counts
    assert ("run.py" in run_cnnmem("check", "lib/net.py", "--gpu-limit=1KiB").stdout) is counts


TRAINER = """from transformers import AutoModel, Trainer, TrainingArguments
model = AutoModel.from_pretrained('m')
arguments = TrainingArguments('out', per_device_train_batch_size=8)
Trainer(model=model, args=arguments, train_dataset=[]).train()
"""
LEARNER = """from fastai.vision.all import *
dls = ImageDataLoaders.from_folder('p', bs=64)
vision_learner(dls, resnet34).fine_tune(1)
"""
ON_TOP = {
    "trainer.py": (
        TRAINER,
        "the source of 'transformers.AutoModel' is not found",
        "1 model in 1 file: 1 not estimated",
    ),
    "detector.py": (
        "from ultralytics import YOLO\nYOLO('m.pt').train(data='d.yaml')\n",
        "detector.py:1: the source of 'ultralytics' is not found",
        "1 file may have models that were not found (detector.py:1: the source of 'ultralytics' is not found",
    ),
    "learner.py": (
        LEARNER,
        "vision_learner is not known",
        "1 file may have models that were not found (learner.py:3: the source of fastai is not found",
    ),
}
"""Scripts that name no framework, only a package on top of one: what a report says of them, and a check."""


@pytest.mark.parametrize("name", ON_TOP)
def test_a_script_on_a_package_that_is_not_installed_is_no_file_without_models(
    tmp_path: Path, run_cnnmem: Run, name: str
) -> None:
    text, told, closing = ON_TOP[name]
    (tmp_path / name).write_text(text)
    folder = run_cnnmem("report", ".")
    assert told in folder.stdout + folder.stderr
    assert "AttributeError" not in folder.stderr
    assert closing in run_cnnmem("check").stderr
    assert closing in run_cnnmem("check", name).stderr, "from the cache"


def test_a_folder_says_why_a_figure_is_a_bound(project: Path, run_cnnmem: Run) -> None:
    (project / "bound").mkdir()
    for number in range(7):
        (project / "bound" / f"script{number}.py").write_text(
            "from torch import nn\nimport nowhere_torch\n"
            "net = nn.Sequential(nn.Linear(8, 8), nowhere_torch.Backbone())\nnet.train()\n"
        )
    single = run_cnnmem("report", "bound/script0.py").stdout
    folder = run_cnnmem("report", "bound").stdout
    cause = "the source of 'nowhere_torch' is not found"
    assert cause in single
    title, *told = next(block for block in folder.split("\n\n") if cause in block).splitlines()
    assert title in ("not exact, because", "not estimated, because")
    assert told[0].startswith(f"  net  bound/script0.py:3: {cause}")
    assert [len(told), told[-1]] == [6, "  and 2 more"]


def test_init_writes_no_limit_from_a_lower_bound(tmp_path: Path, run_cnnmem: Run) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\nimport unheard_of\n"
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.fc = nn.Linear(8, 8)\n    def forward(self, x):\n        if unheard_of.happens():\n"
        "            x = self.fc(x)\n        return self.fc(x)\n"
        "Net()(torch.zeros(1, 8))\n"
    )
    for form in ("pyproject", "flake8"):
        done = run_cnnmem("init", "--format", form)
        set_ = [line for line in done.stdout.splitlines() if "KiB" in line or "gpu-limit" in line]
        assert done.returncode == 0
        assert set_
        assert all(line.lstrip().startswith("#") or "per-file-limits" in line or " at " in line for line in set_[1:])
        assert "needs more than is known" in done.stdout


def test_flake8_reads_the_table_of_pyproject(project: Path, run_flake8: Run) -> None:
    assert run_flake8("--select=CNM", "train.py").stdout == ""
    (project / "pyproject.toml").write_text('[tool.cnnmem]\ngpu-limit = "1KiB"\n')
    assert "CNM101" in run_flake8("--select=CNM", "train.py").stdout
    assert run_flake8("--select=CNM", "--cnnmem-gpu-limit=1GiB", "train.py").stdout == ""
    assert run_flake8("--select=CNM", "--isolated", "train.py").stdout == ""


def test_misspelt_names_are_refused(project: Path, run_cnnmem: Run, run_flake8: Run) -> None:
    done = run_cnnmem("check", "--select", "CNM110")
    assert (done.returncode, "CNM110 is no code: did you mean CNM10" in done.stderr) == (2, True)
    assert run_cnnmem("check", "--select", "CNM1,E501").returncode == 0
    done = run_cnnmem("check", "--search-path", "part")
    assert "search-path: part is no folder: did you mean parts?" in done.stderr
    (project / "pyproject.toml").unlink()
    (project / "setup.cfg").write_text("[flake8]\ncnnmem-gpulimit = 1KiB\n")
    for done in (run_cnnmem("check"), run_flake8("train.py")):
        assert done.returncode == 2
        assert "cnnmem-gpulimit in the configuration is no option: did you mean cnnmem-gpu-limit?" in done.stderr


def test_a_finding_need_not_fail(project: Path, run_cnnmem: Run) -> None:
    assert run_cnnmem("check", "train.py", "--gpu-limit=1KiB").returncode == 1
    done = run_cnnmem("check", "train.py", "--gpu-limit=1KiB", "--exit-zero")
    assert (done.returncode, "CNM101" in done.stdout) == (0, True)


def test_explain_without_a_code_lists_all(run_cnnmem: Run) -> None:
    done = run_cnnmem("explain")
    assert done.returncode == 0
    words = [line.split(":")[0] for line in done.stdout.splitlines()]
    codes = [check.code for check in checks.every()]
    assert words[: len(codes)] == codes
    assert words[len(codes) :] == [*manual.topics(), "json-schema"]
    assert all(": " in line for line in done.stdout.splitlines())


def test_sizes_that_do_not_fit_together_are_no_green_table(tmp_path: Path, run_cnnmem: Run) -> None:
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\n"
        "net = nn.Sequential(nn.Linear(8, 4), nn.Linear(5, 2))\nnet(torch.zeros(1, 8))\n"
    )
    for arguments in (["report", "net.py"], ["report", "."]):
        done = run_cnnmem(*arguments)
        assert (done.returncode, "exact" in done.stdout) == (1, False)
        assert "sizes do not fit together" in done.stdout
    assert run_cnnmem("check").returncode == 1
    [model] = json.loads(run_cnnmem("report", "net.py", "--format=json").stdout)["models"]
    assert (model["status"], model["memory"]["total"]) == ("unresolved", None)


def test_two_configurations_that_differ_are_refused(project: Path, run_cnnmem: Run) -> None:
    (project / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 8GiB\n")
    done = run_cnnmem("check")
    assert done.returncode == 2
    assert "gpu-limit is set in [tool.cnnmem] of pyproject.toml and set in [flake8]" in done.stderr
    assert run_cnnmem("check", "--config", "setup.cfg").returncode == 0


def test_a_folder_of_scripts_that_cannot_be_followed_says_why(tmp_path: Path, run_cnnmem: Run) -> None:
    (tmp_path / "script.py").write_text("from nowhere_torch import Trainer\nTrainer('resnet50').fit()\n")
    done = run_cnnmem("report", ".")
    assert "nowhere_torch" in done.stderr
    assert done.stderr.splitlines()[-1] == "cnnmem: .: no model found"


ASKING = "import torch\nfrom {module} import make\ndef f(:\n"
"""What does not parse is told: it was looked at."""


def put(project: Path, name: str, text: str) -> None:
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text(text)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("a/b/train.py", "parts.net"),
        ("parts/train.py", ".net"),
        ("parts/deep/train.py", "..net"),
        ("train_all.py", "renamed_by_package_dir.parts.net"),
        ("build/train.py", "parts.net"),
        ("tracked/train.py", "parts.net"),
    ],
)
def test_an_import_is_found_however_it_is_written(project: Path, run_cnnmem: Run, name: str, module: str) -> None:
    put(project, name, ASKING.format(module=module))
    put(project, ".gitignore", "tracked/\n")  # No work tree of git: nothing is ignored.
    assert looked_at(name, run_cnnmem)


@pytest.mark.parametrize("module", ["parts.other", ".net", "elsewhere.parts2.net", "torch.net"])
def test_another_module_of_that_name_is_not_meant(project: Path, run_cnnmem: Run, module: str) -> None:
    put(project, "a/train.py", ASKING.format(module=module))
    put(project, "elsewhere/parts2/net.py", "")
    assert not looked_at("a/train.py", run_cnnmem)


@pytest.mark.parametrize(
    ("name", "markers"),
    [
        ("deep/venv/train.py", ["deep/venv/pyvenv.cfg"]),
        ("deep/conda/train.py", ["deep/conda/conda-meta/history"]),
        ("lib/site-packages/p/train.py", []),
        ("lib/dist-packages/p/train.py", []),
        ("web/node_modules/train.py", []),
        (".hidden/train.py", []),
        ("build/lib/train.py", []),
        ("build/lib.linux-x86_64/train.py", []),
        ("ignored/train.py", [".git/HEAD"]),
        ("a/ignored_there/train.py", [".git/HEAD", "a/.gitignore"]),
    ],
)
def test_what_is_not_the_projects_own_is_not_searched(
    project: Path, run_cnnmem: Run, name: str, markers: list[str]
) -> None:
    put(project, name, ASKING.format(module="parts.net"))
    put(project, ".gitignore", "/ignored/\n")
    for marker in markers:
        put(project, marker, "ignored_there\n")
    assert not looked_at(name, run_cnnmem)
    # The folder of a file that is named is searched all the same.
    other = str(Path(name).with_name("changed.py"))
    put(project, other, "")
    put(project, name, ASKING.format(module=".changed"))
    assert looked_at(name, run_cnnmem, other)


def looked_at(name: str, run_cnnmem: Run, given: str = "parts/net.py") -> bool:
    """Whether a file is checked because another has changed."""
    done = run_cnnmem("check", given)
    assert "model" in done.stderr.splitlines()[-1]
    return f"{name}:3: not valid Python" in done.stderr


def test_a_search_that_ends_early_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    for number in range(4):
        put(project, f"far/away/{number}.py", ASKING.format(module="parts.net"))

    def told(status: int = 1) -> str:
        assert main(["check", "parts/net.py"]) == status
        return capsys.readouterr().err

    assert told(0).count("not valid Python") == 4
    monkeypatch.setattr(around, "MOST_DEPENDENTS", 3)
    text = told()
    assert "cnnmem: 2 more files depend on the files given" in text
    assert text.count("not valid Python") == 3
    # Those next to what changed are read first.
    monkeypatch.setattr(dependents, "MOST_FILES", 6)
    text = told()
    assert "cnnmem: the working directory is large: 4 of its files are not searched" in text
    assert "not valid Python" not in text
    monkeypatch.setattr(dependents, "MOST_FILES", 10)
    assert told().count("not valid Python") == 3
    monkeypatch.setattr(dependents, "MOST_CHARACTERS", 1)
    assert "of its files are not searched" in told()
    # Who says so takes it as it is.
    assert main(["check", "parts/net.py", "--exit-zero"]) == 0
    # A walk that ends early has seen the way to the files given and what lies next to them.
    monkeypatch.undo()
    monkeypatch.chdir(project)
    monkeypatch.setattr(around, "MOST_ENTRIES", 12)
    text = told()
    assert "cnnmem: the working directory is large: its folders far from the files given are not searched" in text
    assert "not valid Python" not in text
