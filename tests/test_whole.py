"""The parts of the project agree: code, fixtures, README and change log."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.checks import Check
from flake8_cnnmem.cli import COMMANDS
from flake8_cnnmem.settings.directives import KEYS
from flake8_cnnmem.settings.options import OPTIONS, Option, Settings
from flake8_cnnmem.source import load
from tests.conftest import by_hand

Run = Callable[..., "CompletedProcess[str]"]

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MANUAL = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "flake8_cnnmem" / "manual").glob("*.md")}
PAGES = "\n".join((README, *MANUAL.values()))
CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
FIXTURES = ROOT / "fixtures" / "checks"

each_check = pytest.mark.parametrize("check", checks.every(), ids=lambda check: check.code)
each_option = pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)


def test_these_are_the_codes() -> None:
    on = [check.code for check in checks.every() if check.default]
    off = [check.code for check in checks.every() if not check.default]
    assert on == ["CNM101", "CNM102", "CNM201", "CNM202", "CNM901"]
    assert off == ["CNM203", "CNM301", "CNM302"]


@each_check
def test_every_code_has_a_manual_page(check: Check) -> None:
    first, _, rest = check.page.partition("\n")
    assert first.endswith((".", "line."))
    assert f" {check.code} " in rest, "an example of what it prints"
    assert check.default or f"Off unless selected: `--extend-select {check.code}`" in " ".join(rest.split())
    assert check.for_model is not None or check.for_file is not None


@each_check
def test_every_code_has_a_row_in_the_readme(check: Check) -> None:
    [row] = re.findall(rf"^\| {check.code} \|.*$", README, re.MULTILINE)
    assert row.endswith("| on |" if check.default else "| off |")


@each_check
def test_every_code_has_a_line_in_the_change_log(check: Check) -> None:
    assert re.search(rf"^- {check.code}\b", CHANGELOG, re.MULTILINE)


@each_option
def test_every_option_has_a_row_in_the_readme_and_stands_in_the_change_log(option: Option) -> None:
    assert re.search(rf"^\| `cnnmem-{option.name}` \|", README, re.MULTILINE)
    assert f"`cnnmem-{option.name}`" in " ".join(CHANGELOG.split())


def test_every_key_of_a_directive_stands_in_the_readme() -> None:
    [line] = re.findall(r"^# cnnmem: batch-size=.*$", README, re.MULTILINE)
    assert all(f"{key}=" in line for key in KEYS)


def test_every_code_has_a_fixture_and_every_fixture_a_code() -> None:
    assert sorted(path.stem.upper() for path in FIXTURES.glob("*.py")) == [check.code for check in checks.every()]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.py")), ids=lambda path: path.stem)
def test_a_fixture_gives_the_findings_that_its_comments_name(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    marked = re.compile(r"# (CNM\d{3})$")
    expected = {(number, mark[1]) for number, line in enumerate(text.split("\n"), 1) if (mark := marked.search(line))}
    assert {code for _, code in expected} == {path.stem.upper()}
    codes = {path.stem.upper(), *(check.code for check in checks.every() if check.default)}
    found = checks.run(analyse(load(str(path)), Settings()), Settings(), codes)
    assert {(finding.line, finding.code) for finding in found} == expected


def shows(printed: str, output: str) -> bool:
    """Whether it is the output, but for what a line of `...` stands for."""
    pieces = re.split(r"^\.\.\.\n", printed, flags=re.MULTILINE)
    pattern = "(?s:.*)".join(map(re.escape, pieces))
    return re.fullmatch(pattern, output) is not None


CONSOLE = re.findall(r"^```console\n\$ ((?:flake8|cnnmem) .*fixtures/.*)\n((?:.*\n)*?)```$", PAGES, re.MULTILINE)


@pytest.mark.parametrize(("command", "printed"), CONSOLE, ids=[command.split()[0] for command, _ in CONSOLE])
def test_the_readme_shows_what_is_printed(
    command: str, printed: str, run_flake8: Run, run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, *arguments = command.split()
    if program == "cnnmem":
        monkeypatch.chdir(ROOT)
        done = run_cnnmem(*arguments)
    else:
        done = run_flake8("--isolated", *arguments, folder=ROOT)
    assert shows(printed, done.stdout)


PROJECTS = re.findall(r"^```console\n\$ cd (fixtures/\S+) && cnnmem (.*)\n((?:.*\n)*?)```$", PAGES, re.MULTILINE)


@pytest.mark.parametrize(("folder", "command", "printed"), PROJECTS, ids=[command for _, command, _ in PROJECTS])
def test_a_project_is_shown_as_it_comes_out(
    folder: str, command: str, printed: str, run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT / folder)
    assert run_cnnmem(*command.split(), "--cache-dir=none").stdout == printed


@by_hand
def test_the_readme_shows_the_summary_of_torchvision(
    run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch, zoo: Callable[[str], Path]
) -> None:
    [(command, printed)] = re.findall(r"^\$ cd .cache/zoo && cnnmem (.*)\n((?:.*\n)*?)```$", README, re.MULTILINE)
    monkeypatch.chdir(zoo("torchvision"))
    assert shows(printed, run_cnnmem(*command.split(), "--cache-dir=none").stdout)


def test_the_readme_shows_both_commands() -> None:
    assert {command.split()[0] for command, _ in CONSOLE} == {"cnnmem", "flake8"}


def test_the_readme_shows_the_end_of_a_page(run_cnnmem: Run) -> None:
    [(code, lines, printed)] = re.findall(
        r"^\$ cnnmem explain (\w+) \| tail -(\d+)\n((?:.*\n)*?)```$", PAGES, re.MULTILINE
    )
    assert run_cnnmem("explain", code).stdout.splitlines()[-int(lines) :] == printed.splitlines()


def test_the_readme_is_short_and_names_every_page() -> None:
    assert len(README.splitlines()) <= 250
    listed = re.findall(r"^\| \[(\w+)\]\(flake8_cnnmem/manual/(\w+)\.md\) \|", README, re.MULTILINE)
    assert sorted(name for name, _ in listed) == sorted(file for _, file in listed) == sorted(MANUAL)


@pytest.mark.parametrize("topic", sorted(MANUAL))
def test_a_page_of_the_manual_is_printed_as_it_lies(topic: str, run_cnnmem: Run) -> None:
    done = run_cnnmem("explain", topic)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", MANUAL[topic])
    assert MANUAL[topic].startswith("# ")


def test_the_schema_is_printed(run_cnnmem: Run) -> None:
    path = ROOT / "flake8_cnnmem" / "manual" / "json-2.schema.json"
    assert run_cnnmem("explain", "json-schema").stdout == path.read_text(encoding="utf-8")


def test_whatever_explain_is_named_for_there_is() -> None:
    words = set(re.findall(r"`cnnmem explain ([\w-]+)`", PAGES)) - {"PAGE", "TOPIC"}
    known = {*MANUAL, "json-schema", *(check.code for check in checks.every())}
    assert words <= known
    assert words


def test_every_command_stands_in_the_readme() -> None:
    assert set(re.findall(r"^cnnmem (\w+)", README, re.MULTILINE)) >= set(COMMANDS)
