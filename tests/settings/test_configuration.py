"""Reading flake8's configuration for the command `cnnmem`, by flake8's own rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.settings import configuration
from flake8_cnnmem.settings.options import BadValue, Limit, parse_per_file_limits
from flake8_cnnmem.units import GIB


@pytest.fixture(autouse=True)
def at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with a folder above that is the home: flake8 looks no further up than that."""
    here = tmp_path / "project" / "package"
    here.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(here)
    return here


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini", ".flake8"])
def test_options_are_read_under_either_spelling(at: Path, name: str) -> None:
    (at / name).write_text("[flake8]\ncnnmem-gpu-limit = 12GiB\ncnnmem_batch_size = 8\nmax-line-length = 120\n")
    assert configuration.read() == {"gpu_limit": Limit(12 * GIB), "batch_size": 8}


def test_the_nearest_folder_wins_and_nothing_is_merged(at: Path) -> None:
    (at.parent / "setup.cfg").write_text("[flake8]\ncnnmem-batch-size = 8\n")
    assert configuration.read() == {"batch_size": 8}
    (at / ".flake8").write_text("[flake8]\ncnnmem-dtype = float16\n")
    assert configuration.read() == {"dtype": "float16"}


def test_setup_cfg_comes_before_tox_ini_before_flake8(at: Path) -> None:
    (at / ".flake8").write_text("[flake8]\ncnnmem-batch-size = 1\n")
    (at / "tox.ini").write_text("[flake8]\ncnnmem-batch-size = 2\n")
    assert configuration.read() == {"batch_size": 2}
    (at / "setup.cfg").write_text("[metadata]\nname = no section of flake8 here\n")
    assert configuration.read() == {"batch_size": 2}
    (at / "setup.cfg").write_text("[flake8]\ncnnmem-batch-size = 3\n")
    assert configuration.read() == {"batch_size": 3}


def test_no_configuration_sets_nothing() -> None:
    assert configuration.read() == {}


def test_a_section_without_our_options_sets_nothing(at: Path) -> None:
    (at / "setup.cfg").write_text("[flake8]\nmax-line-length = 120\nother-nonsense = 1\n")
    assert configuration.read() == {}


def test_folders_are_meant_from_the_file_that_names_them(at: Path) -> None:
    (at.parent / "setup.cfg").write_text("[flake8]\ncnnmem-search-path = src, ./lib\n    ../vendor\n")
    folders = [at.parent / "src", at.parent / "lib", at.parent.parent / "vendor"]
    assert configuration.read() == {"search_path": tuple(map(str, folders))}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[flake8]\ncnnmem-batch-size = many\n", "cnnmem-batch-size in the configuration: 'many' is not a batch size"),
        ("[flake8]\ncnnmem-batch-size = 4  # as our cards\n", "cnnmem-batch-size in the configuration"),
        ("[flake8]\nselect = E\nselect = W\n", "the configuration cannot be read"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(at: Path, text: str, message: str) -> None:
    (at / "setup.cfg").write_text(text)
    with pytest.raises(BadValue, match=message) as refused:
        configuration.read()
    assert "\n" not in str(refused.value)


def test_a_search_path_of_the_command_line_is_meant_from_the_working_directory(at: Path) -> None:
    def resolved(folder: str, isolated: bool = False) -> tuple[str, ...]:
        values: tuple[str, ...] = configuration.resolve({"search_path": (folder,)}, None, None, isolated)["search_path"]
        return values

    (at.parent / "setup.cfg").write_text("[flake8]\ncnnmem-search-path = src\n")
    assert resolved("lib") == (str(at / "lib"),)
    assert resolved("src") == (str(at.parent / "src"),)
    assert resolved("src", isolated=True) == (str(at / "src"),)


def test_patterns_of_limits_are_meant_from_the_file_that_names_them(at: Path) -> None:
    text = "edge/*.py: 2GiB, net.py: T4"
    (at.parent / "setup.cfg").write_text(f"[flake8]\ncnnmem-per-file-limits = {text}\n")
    limits = parse_per_file_limits(text)
    from_above = tuple(each.pattern for each in configuration.read()["per_file_limits"])
    assert from_above == (str(at.parent / "edge/*.py"), "net.py")
    resolved = configuration.resolve({"per_file_limits": limits}, None, None, False)["per_file_limits"]
    assert tuple(each.pattern for each in resolved) == from_above
    isolated = configuration.resolve({"per_file_limits": limits}, None, None, True)["per_file_limits"]
    assert isolated[0].pattern == str(at / "edge/*.py")


TABLE = """\
[tool.cnnmem]
batch-size = 8
search-path = ["src", "../vendor"]
[tool.cnnmem.per-file-limits]
"edge/*.py" = "T4"
"""


def test_the_nearest_table_of_pyproject_counts_and_its_paths_are_meant_from_there(at: Path) -> None:
    (at / "pyproject.toml").write_text('[project]\nname = "cnnmem-user"\n')
    (at.parent / "pyproject.toml").write_text(TABLE)
    found = configuration.read()
    assert found["batch_size"] == 8
    assert found["search_path"] == (str(at.parent / "src"), str(at.parent.parent / "vendor"))
    assert [each.pattern for each in found["per_file_limits"]] == [str(at.parent / "edge/*.py")]


def test_the_table_of_the_home_is_none_of_a_projects(at: Path) -> None:
    (at.parent.parent / "pyproject.toml").write_text(TABLE)
    assert configuration.read() == {}


def test_a_broken_pyproject_without_a_word_of_ours_is_somebody_elses(at: Path) -> None:
    (at / "pyproject.toml").write_text("[tool.ruff\n")
    assert configuration.read() == {}
    (at / "pyproject.toml").write_text("[tool.cnnmem\n")
    with pytest.raises(BadValue, match=r"pyproject.toml cannot be read: "):
        configuration.read()
