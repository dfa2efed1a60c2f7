"""`cnnmem check` beside flake8 on the same files: the same findings, byte for byte, and its own configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Run = Callable[..., "CompletedProcess[str]"]

NET = """\
import keras
from keras import layers

model = keras.Sequential({call}
    [
        keras.Input((50, 50, 3)),
        layers.Conv2D(32, 3, padding="same"),
        layers.MaxPooling2D(),
        layers.MaxPooling2D(),{pool}
        layers.Flatten(),
        layers.Dense(10),
    ]
)
"""


def net(call: str = "", pool: str = "") -> str:
    return NET.format(call=call, pool=pool)


# flake8 joins the lines of a string for what silences it.
LONG = NET.format(call='name="""a\nb""",  # noqa: CNM101', pool="").replace("    [", "    layers=[", 1)


@pytest.fixture(autouse=True)
def project(tmp_path: Path) -> None:
    """Files with findings, silenced and not, in several folders; one that does not parse, one excluded."""
    for name, text in {
        "net.py": net(),
        "b/second.py": net() + "\n\n" + net(pool="  # a comment").replace("Dense(10)", "Dense(20)"),
        "b/a.py": net("  # noqa"),
        "b/one.py": net("  # noqa: CNM101"),
        "b/other.py": net("  # noqa: E501,CNM203"),
        "b/letters.py": net("  # NOQA:CNM1"),
        "b/pool.py": net(pool="  # noqa: CNM203"),
        "b/file.py": "# flake8: noqa\n" + net(),
        "b/file_codes.py": "# flake8: noqa: CNM101\n" + net(),
        "b/directive.py": "# cnnmem: gpu-limit=8GiB\n\n" + net(),
        "b/skipped.py": net("  # cnnmem: skip"),
        "b/bad.py": net("  # cnnmem: batch=3"),
        "b/broken.py": "import keras\ndef f(:\n",
        "b/plain.py": "x = 1\n",
        "b/__pycache__/cached.py": net(),
        ".tox/hidden.py": net(),
        "b/long.py": LONG,
    }.items():  # fmt: skip
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)


SETTINGS = {"gpu-limit": "16MiB", "batch-size": "48", "optimizer": "adam"}


def ours(done: CompletedProcess[str]) -> str:
    """What flake8 says under our codes, without the `./` of its paths; its own are another linter's business."""
    return "".join(line.removeprefix("./") for line in done.stdout.splitlines(keepends=True) if ": CNM" in line)


SOME = ["net.py", "./b/second.py", "b/plain.py"]


@pytest.mark.parametrize(
    ("lists", "paths"),
    [
        pytest.param({}, [], id="nothing more"),
        pytest.param({}, ["b", "net.py"], id="a folder and a file"),
        pytest.param({"extend-select": "CNM203"}, SOME, id="a code that is off"),
        pytest.param({"extend-select": "CNM"}, [], id="all codes"),
        pytest.param({"select": "CNM203,CNM9"}, ["b"], id="some codes alone"),
        pytest.param({"extend-ignore": "CNM101"}, [], id="a code left out"),
        pytest.param({"select": "CNM", "ignore": "CNM20"}, SOME, id="the longer one of two prefixes"),
        pytest.param({"exclude": "b/*.py"}, [], id="files left out"),
        pytest.param({"extend-exclude": "./b"}, SOME, id="a folder left out"),
        pytest.param({"per-file-ignores": "b/second.py:CNM101 net.py:CNM"}, SOME, id="codes left out of files"),
    ],
)
def test_the_findings_are_flake8s_byte_for_byte(
    run_flake8: Run, run_cnnmem: Run, tmp_path: Path, lists: dict[str, str], paths: list[str]
) -> None:
    section = "".join(f"{key} = {value}\n" for key, value in lists.items())
    options = "".join(f"cnnmem-{key} = {value}\n" for key, value in SETTINGS.items())
    (tmp_path / "setup.cfg").write_text(f"[flake8]\n{section}{options}")
    expected = ours(run_flake8("--jobs=1", *paths, ours_alone=False))
    assert expected or lists
    done = run_cnnmem("check", *paths)
    assert (done.stdout, done.returncode) == (expected, bool(expected))

    (tmp_path / "setup.cfg").unlink()
    table = "".join(f'{key} = "{value}"\n' for key, value in {**SETTINGS, **lists}.items())
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "nets"\n\n[tool.cnnmem]\n{table}')
    done = run_cnnmem("check", *paths)
    assert (done.stdout, done.returncode) == (expected, bool(expected))


def test_parts_of_the_files_make_the_whole(run_cnnmem: Run, tmp_path: Path) -> None:
    options = ("check", "--gpu-limit=16MiB", "--extend-select=CNM203")
    whole = run_cnnmem(*options).stdout.splitlines()
    parts = [run_cnnmem(*options, "--shard", f"{number}/3").stdout.splitlines() for number in (1, 2, 3)]
    assert sorted(line for part in parts for line in part) == sorted(whole)
    assert sum(1 for part in parts if part) > 1
    # A file stays in its part when others come and go, and however it is named.
    (tmp_path / "b" / "a_new.py").write_text(net())
    for number, part in enumerate(parts, 1):
        again = run_cnnmem(*options, "--shard", f"{number}/3", str(tmp_path)).stdout.replace(f"{tmp_path}/", "")
        assert [line for line in again.splitlines() if "a_new" not in line] == part
    assert run_cnnmem(*options, "--shard", "1/1").stdout.splitlines() != whole


def test_noqa_can_be_left_aside(run_flake8: Run, run_cnnmem: Run) -> None:
    limit = "--gpu-limit=16MiB"
    with_noqa = run_cnnmem("check", limit, "b").stdout
    without = run_cnnmem("check", limit, "--disable-noqa", "b").stdout
    assert without == ours(run_flake8("--cnnmem-gpu-limit=16MiB", "--disable-noqa", "--jobs=1", "b"))
    assert set(with_noqa.splitlines()) < set(without.splitlines())


def test_what_does_not_parse_is_told_and_no_finding(run_cnnmem: Run) -> None:
    done = run_cnnmem("check", "b/broken.py", "b/plain.py")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("cnnmem: b/broken.py:2: not valid Python")


def test_virtual_environments_are_no_code_of_the_project(run_cnnmem: Run, tmp_path: Path) -> None:
    for name in ("venv", ".venv", "[odd]"):
        (tmp_path / name / "lib").mkdir(parents=True)
        (tmp_path / name / "pyvenv.cfg").write_text("")
        (tmp_path / name / "lib" / "package.py").write_text(net())
    done = run_cnnmem("check", "--gpu-limit=16MiB")
    assert "net.py:4:9: CNM101" in done.stdout
    assert "package.py" not in done.stdout


def test_the_table_takes_numbers_lists_and_tables(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.cnnmem]\n"
        'gpu_limit = "T4"\n'
        "batch-size = 64\n"
        'extend-select = ["CNM203"]\n'
        "extend-exclude = ['b/file*.py']\n"
        "[tool.cnnmem.per-file-limits]\n"
        '"b/second.py" = "16MiB"\n'
        "'net.py' = 'none'\n"
        "[tool.cnnmem.per-file-ignores]\n"
        '"b/[a-p]*.py" = "CNM"\n'
    )
    lines = run_cnnmem("check").stdout.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["b/second.py:4:9:", "CNM101"],
        ["b/second.py:9:9:", "CNM203"],
        ["b/second.py:19:9:", "CNM101"],
        ["b/second.py:24:9:", "CNM203"],
        ["net.py:9:9:", "CNM203"],
    ]
    assert any("at batch 64" in line for line in lines)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('gpu-limit = "RTX 9090"', "gpu-limit in [tool.cnnmem] of pyproject.toml: 'RTX 9090' is neither a size"),
        ("gpu-limit = true", "gpu-limit in [tool.cnnmem] of pyproject.toml: True is neither text nor a number"),
        ("batchsize = 3", "batchsize in [tool.cnnmem] of pyproject.toml is no option: did you mean batch-size?"),
        ('select = ["cnm101"]', "select in [tool.cnnmem] of pyproject.toml: 'cnm101' is no code"),
        ('per-file-limits = "a.py"', "per-file-limits in [tool.cnnmem] of pyproject.toml: 'a.py' has no limit"),
        ("gpu-limit = ", "pyproject.toml cannot be read: "),
    ],
)
def test_a_bad_table_is_a_usage_error(run_cnnmem: Run, tmp_path: Path, table: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.cnnmem]\n{table}\n")
    for command in (["check"], ["report", "net.py"], ["init"]):
        done = run_cnnmem(*command)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("section", "message"),
    [
        pytest.param("cnnmem-gpu-limit = 1GiB\ncnnmem-batch-size = 8", "", id="the same"),
        pytest.param("max-line-length = 120\nselect = E", "", id="nothing of ours"),
        pytest.param("cnnmem-gpu-limit = T4\ncnnmem-batch-size = 8", "gpu-limit is set in [tool.cnnmem]", id="another"),
        pytest.param("cnnmem-gpu-limit = 1GiB", "batch-size is set in [tool.cnnmem]", id="less"),
        pytest.param(
            "cnnmem-gpu-limit = 1GiB\ncnnmem-batch-size = 8\ncnnmem-dtype = float16", "dtype is not set in", id="more"
        ),
    ],
)
def test_both_places_may_not_disagree(run_cnnmem: Run, tmp_path: Path, section: str, message: str) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.cnnmem]\ngpu-limit = "1GiB"\nbatch-size = 8\n')
    (tmp_path / "setup.cfg").write_text(f"[flake8]\n{section}\n")
    done = run_cnnmem("check", "net.py")
    assert (done.returncode, message in done.stderr) == ((2, True) if message else (0, True))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.py"], "cnnmem: error: nothing.py: no such file or folder"),
        (["--select=many"], "argument --select: select in the command line: 'many' is no code"),
        (["--select=CNM201,CNM2O1"], "argument --select: CNM2O1 is no code: did you mean CNM201?"),
        (["--format=html"], "argument --format: invalid choice"),
        (["--shard=0/3"], "argument --shard: '0/3' is no part of a whole, as 2/8 is"),
        (["--shard=4/3"], "argument --shard: '4/3' is no part of a whole, as 2/8 is"),
        (["--shard=1"], "argument --shard: '1' is no part of a whole, as 2/8 is"),
        (["--shard=1/2", "-"], "cnnmem: error: --shard divides files: code on standard input is none"),
        (["-o", "no/such/folder/out", "net.py"], "cnnmem: error: no/such/folder/out: cannot be written"),
    ],
)
def test_what_cannot_be_checked_is_said_in_one_line(run_cnnmem: Run, arguments: list[str], message: str) -> None:
    done = run_cnnmem("check", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr.splitlines()[0]


def test_programs_get_documents(run_cnnmem: Run, tmp_path: Path) -> None:
    arguments = ["check", "--gpu-limit=16MiB", "net.py"]
    text = run_cnnmem(*arguments).stdout.rstrip("\n")
    [finding] = json.loads(run_cnnmem(*arguments, "--format=json").stdout)["findings"]
    assert f"{finding['path']}:{finding['line']}:{finding['column']}: {finding['code']} {finding['message']}" == text
    run = json.loads(run_cnnmem(*arguments, "--format=sarif").stdout)["runs"][0]
    assert [result["ruleId"] for result in run["results"]] == ["CNM101"]
    assert run_cnnmem(*arguments, "--format=github").stdout.startswith(
        "::error file=net.py,line=4,col=9,title=CNM101::"
    )
    row = run_cnnmem(*arguments, "--format=markdown").stdout.splitlines()[-1]
    assert row.startswith("| `net.py:4` | CNM101 | model: training needs ")
    done = run_cnnmem(*arguments, "-o", "found.txt")
    assert (done.returncode, done.stdout, (tmp_path / "found.txt").read_text()) == (1, "", f"{text}\n")


def test_a_package_is_found_in_the_projects_environment_or_its_absence_told(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "zoo.py").write_text(
        "import torch\nfrom torchvision.models import tiny\n\nmodel = tiny()\nmodel(torch.zeros(1, 3, 64, 64))\n"
    )
    arguments = ["check", "--gpu-limit=1MiB", "--extend-select=CNM301", "zoo.py"]
    assert run_cnnmem(*arguments).stdout == (
        "zoo.py:2:1: CNM301 models that come from there are not looked at: the source of 'torchvision.models' is not "
        "found: name the folder that has it with cnnmem-search-path\n"
    )
    package = tmp_path / "elsewhere" / "lib" / "python3.12" / "site-packages"
    (package / "torchvision").mkdir(parents=True)
    (package / "torchvision" / "__init__.py").write_text("")
    (package / "torchvision" / "models.py").write_text(
        "from torch import nn\n\n\ndef tiny():\n    return nn.Sequential(nn.Conv2d(3, 64, 3), nn.ReLU())\n"
    )
    assert "CNM101 model: training needs" in run_cnnmem(*arguments, f"--search-path={package}").stdout
    # Where people keep it, nothing has to be configured.
    (tmp_path / "elsewhere").rename(tmp_path / ".venv")
    assert "CNM101 model: training needs" in run_cnnmem(*arguments).stdout


def test_a_search_path_takes_nothing_from_the_project(run_cnnmem: Run, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "sizes.py").write_text("SIDE = 64\n")
    (tmp_path / "scripts" / "net.py").write_text(
        "from keras import Input, Sequential, layers\nfrom sizes import SIDE\n\n"
        "model = Sequential([Input((SIDE, SIDE, 3)), layers.Conv2D(64, 3), layers.Flatten(), layers.Dense(10)])\n"
    )
    done = run_cnnmem("check", "--gpu-limit=1MiB", "--search-path=elsewhere", "scripts")
    assert done.stdout.startswith("scripts/net.py:4:9: CNM101 model: training needs ")
    assert "at least" not in done.stdout
