"""What the plugin costs, as ratios of commands that run in turn: `python tests/benchmark.py`.

Not a test: processors differ and are shared, so that only ratios within one run mean anything, of processor time (user
and system), each the smallest of its rounds. Reads torchvision's source from $CNNMEM_ZOO or .cache/zoo, where `.ci/run`
puts it, and installs nothing. TorchFix is compared where `--torchfix PYTHON` names an interpreter that has flake8 and
TorchFix.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import libcst

import flake8_cnnmem

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(flake8_cnnmem.__file__).resolve().parent

FLAKE8 = """\
import sys
from flake8.main.cli import main
from flake8.plugins import finder
found = finder._find_importlib_plugins
finder._find_importlib_plugins = lambda: (plugin for plugin in found() if plugin.package.lower() not in {without})
sys.exit(main())
"""
"""flake8 as it is installed, with plugins left out."""

CNNMEM = "import sys; from flake8_cnnmem.cli import main; sys.exit(main())"

PARSE = """\
import pathlib, sys, libcst
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.py")):
    libcst.parse_module(path.read_text(encoding="utf-8"))
"""

SCRIPT = "from torchvision.models import resnet50\n\nmodel = resnet50(num_classes=10)\n"

COLD = "--cnnmem-cache-dir=none"

ESTIMATED = ("--cnnmem-input-shape=3,224,224", "--cnnmem-gpu-limit=T4", "--extend-select=CNM203,CNM301,CNM302")
"""With these every model of a file is estimated and every code worked out."""


@dataclass(frozen=True)
class Cost:
    """The least of several runs of a command: seconds of the processor and of the clock, and MiB at the peak."""

    cpu: float
    wall: float
    peak: float


def run(command: Sequence[str], environment: dict[str, str]) -> Cost:
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
    assert process.stderr is not None
    complaint = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)[:200]}\nended with {process.returncode}: {complaint.decode()[-500:]}")
    return Cost(usage.ru_utime + usage.ru_stime, time.perf_counter() - started, usage.ru_maxrss / 1024)


def in_turn(rounds: int, *commands: Sequence[str]) -> list[Cost]:
    """What each command costs, the commands taking turns. All of the package is compiled before, and where there are
    several rounds, one more is not counted."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        # An installed package has its bytecode, whatever is set here.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        run([sys.executable, "-m", "compileall", "-q", str(PACKAGE), str(Path(libcst.__file__).parent)], environment)
        for command in commands if rounds > 1 else [[commands[0][0], "-m", "flake8", "--version"]]:
            run(command, environment)
        runs = [[run(command, environment) for command in commands] for _ in range(rounds)]
    return [
        Cost(min(r.cpu for r in each), min(r.wall for r in each), max(r.peak for r in each))
        for each in zip(*runs, strict=True)
    ]


def flake8(python: str, without: Sequence[str], *arguments: str) -> list[str]:
    return [python, "-c", FLAKE8.format(without=set(without) or "()"), "--isolated", "--jobs=1", *arguments]


def row(what: str, figure: str, bar: str, peak: float) -> None:
    print(f"| {what} | {figure} | {bar} | {peak:.0f} MiB |", flush=True)


def without_models(rounds: int, folder: str) -> None:
    """A tree that mentions no framework."""
    arguments = (folder, "--exclude=site-packages,lib2to3,test")
    with_it, without = in_turn(
        rounds, flake8(sys.executable, (), *arguments), flake8(sys.executable, ["flake8-cnnmem"], *arguments)
    )
    more = with_it.cpu / without.cpu - 1
    row("flake8 over the standard library", f"{more:+.1%} CPU ({without.cpu:.1f} s)", "+1%", with_it.peak)


def with_models(rounds: int, folder: Path, torchfix: str | None) -> None:
    """torchvision's models."""
    python, models = sys.executable, str(folder)
    with tempfile.TemporaryDirectory() as folder_of_cache:
        with_it, warm, without, parsed, imported = in_turn(
            rounds,
            flake8(python, (), *ESTIMATED, COLD, models),
            flake8(python, (), *ESTIMATED, f"--cnnmem-cache-dir={folder_of_cache}/cache", models),
            flake8(python, ["flake8-cnnmem"], models),
            [python, "-c", PARSE, models],
            [python, "-c", "import libcst"],
        )
    added, parse = with_it.cpu - without.cpu, parsed.cpu - imported.cpu
    what = f"flake8 over torchvision's models ({len(list(folder.rglob('*.py')))} files): the plugin adds {added:.1f} s"
    row(what, f"{added / parse:.1f} times libcst's parse ({parse:.1f} s)", "4.0", with_it.peak)
    if rounds > 1:
        # The first round, which is not counted, has filled the cache.
        row("the same with a cache", f"{(warm.cpu - without.cpu) / parse:.2f} times", "0.15", warm.peak)
    if torchfix is not None:
        fixed, plain = in_turn(rounds, flake8(torchfix, (), models), flake8(torchfix, ["torchfix"], models))
        theirs = fixed.cpu - plain.cpu
        row("the same against TorchFix", f"{added / theirs:.2f} of what it adds ({theirs:.1f} s)", "0.25", fixed.peak)


def reports(rounds: int, zoo: Path) -> None:
    """The command, whole processes."""
    command = [sys.executable, "-c", CNNMEM, "report"]
    imported = [sys.executable, "-c", "import libcst"]
    for framework in ("torch", "keras"):
        vgg = ROOT / "fixtures" / "models" / framework / "vgg16.py"
        with tempfile.TemporaryDirectory() as folder:
            kept = f"--cache-dir={folder}/cache"
            cold, warm, base = in_turn(rounds, [*command, "--no-cache", str(vgg)], [*command, kept, str(vgg)], imported)
        for how, ours, bar in (("cold", cold, "2.0"), ("warm", warm, "1.3")):
            figure = f"{ours.cpu / base.cpu:.2f} times `import libcst` ({base.cpu:.2f} s)"
            row(f"cnnmem report of VGG16, {framework}, {how}", figure, bar, ours.peak)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "train.py"
        script.write_text(SCRIPT)
        (ours,) = in_turn(
            rounds,
            [*command, str(script), "--no-cache", "--input-shape=3,224,224", f"--search-path={zoo}", "--gpu-limit=T4"],
        )
    row("torchvision's resnet50 from a user's file", f"{ours.cpu:.2f} s CPU, {ours.wall:.2f} s", "1 s", ours.peak)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="runs of each command (the standard library: one)")
    parser.add_argument("--torchfix", metavar="PYTHON", help="an interpreter that has flake8 and TorchFix")
    parser.add_argument("--only", choices=("stdlib", "models", "report"), help="one part of the table")
    options = parser.parse_args()
    zoo = Path(os.environ.get("CNNMEM_ZOO", ROOT / ".cache" / "zoo"))
    if not (zoo / "torchvision" / "models").is_dir():
        parser.error(f"no torchvision in {zoo}: run .ci/run once, or set CNNMEM_ZOO")
    print("| what | measured | bar | peak |\n|---|---|---|---|")
    if options.only in (None, "report"):
        reports(options.rounds, zoo)
    if options.only in (None, "models"):
        with_models(max(1, options.rounds // 3), zoo / "torchvision" / "models", options.torchfix)
    if options.only in (None, "stdlib"):
        without_models(1, sysconfig.get_path("stdlib"))


if __name__ == "__main__":
    main()
