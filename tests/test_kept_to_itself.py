"""What a project keeps to itself is not read, whoever asks for it and by whatever link; what is read is not printed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.reporting.test_html import unpacked

Run = Callable[..., "subprocess.CompletedProcess[str]"]

LEAK = """\
import torch
from torch import nn

with open({path!r}) as file:
    text = file.read()
net = nn.Sequential()
net.add_module(text.replace(".", "-"), nn.Linear(8, 8))
net(torch.zeros(1, 8))
"""

CONTENT = "url = https://anna:hunter2@example.org"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in (".git/config", ".git/config.txt", ".env", ".env.yaml", ".aws/credentials.ini", "secrets.yaml",
                 "deploy/api_key.txt", "id_rsa", "notes.docx", "my-password.txt", "plain.txt", "plain.yaml",
                 "secretary.txt", "keys.txt"):  # fmt: skip
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(CONTENT)
    (tmp_path / "outside.txt").write_text(CONTENT)
    folder = tmp_path / "project"
    (folder / "leaves.txt").symlink_to("../outside.txt")
    (folder / "folder").symlink_to("..")
    (folder / "inside.txt").symlink_to("plain.txt")
    (folder / "git.txt").symlink_to(".git/config")
    (folder / "git2.txt").symlink_to(".git/config.txt")
    (folder / "key.txt").symlink_to("id_rsa")
    return folder


@pytest.mark.skipif(os.name == "nt", reason="links")
@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        *((name, False) for name in (".git/config", ".git/config.txt", ".env", ".env.yaml", ".aws/credentials.ini")),
        *((name, False) for name in ("secrets.yaml", "deploy/api_key.txt", "id_rsa", "notes.docx", "my-password.txt")),
        *((name, False) for name in ("leaves.txt", "folder/outside.txt", "../outside.txt", "git.txt", "git2.txt")),
        *((name, False) for name in ("key.txt", "./x/../.git/config", "/etc/hostname", "folder/project/.env.yaml")),
        *((name, True) for name in ("plain.txt", "plain.yaml", "inside.txt", "secretary.txt", "keys.txt")),
    ],
)
def test_only_settings_of_the_project_are_read(
    project: Path, run_cnnmem: Run, monkeypatch: pytest.MonkeyPatch, path: str, is_read: bool
) -> None:
    monkeypatch.chdir(project)
    (project / "net.py").write_text(LEAK.format(path=path))
    for form in ("table", "json"):
        done = run_cnnmem("report", "net.py", "--format", form)
        assert done.returncode == 0
        assert ("hunter2" in done.stdout + done.stderr) == is_read


@pytest.mark.parametrize("form", ["table", "json", "markdown", "html"])
@pytest.mark.parametrize(
    "use",
    [
        "net.add_module(text.replace('.', '-'), nn.Linear(8, 8))",
        "raise ValueError(text)",
        "{}[text]",
        "getattr(net, text)",
    ],
)
def test_what_a_file_says_is_not_printed(run_cnnmem: Run, tmp_path: Path, form: str, use: str) -> None:
    (tmp_path / "plain.txt").write_text("first line\n" + CONTENT)
    (tmp_path / "net.py").write_text(
        "import torch\nfrom torch import nn\ntext = open('plain.txt').read()\nnet = nn.Sequential(nn.Linear(8, 8))\n"
        f"{use}\nnet(torch.zeros(1, 8))\n"
    )
    done = run_cnnmem("report", "net.py", "--format", form)
    assert "hunter2" not in done.stdout + done.stderr
    done = run_cnnmem("check", "net.py", "--extend-select", "CNM3")
    assert "hunter2" not in done.stdout + done.stderr


NAME = "a\x1b[31m\n::error ::pwned\x9b<b>|`"


@pytest.mark.skipif(os.name == "nt", reason="no such names")
@pytest.mark.parametrize(
    "arguments",
    [
        *(("report", ".", "--format", form) for form in ("table", "json", "markdown", "html", "sarif", "github")),
        *(("check", ".", "--format", form, "--extend-select=CNM") for form in ("text", "json", "markdown", "sarif")),
        ("check", ".", "--format", "github"),
        ("init", "."),
        ("report", f"{NAME}.py::Nothing"),
        ("report", f"{NAME}broken.py"),
        ("check", f"{NAME}none.py"),
    ],
    ids=" ".join,
)
def test_names_are_escaped_in_every_form(run_cnnmem: Run, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    model = LEAK.replace("with open({path!r}) as file:\n    text = file.read()", f"text = {NAME!r}")
    (tmp_path / f"{NAME}.py").write_text(
        f"{model}nn.Linear(9, 1)(net(torch.zeros(1, 8)))\nnn.Sequential(nn.Linear(9, 9))(torch.zeros(1, 8))\n"
    )
    (tmp_path / f"{NAME}broken.py").write_text("import torch\ndef f(:\n")
    done = run_cnnmem(*arguments, *(() if arguments[0] == "init" else ("--gpu-limit=1KiB",)))
    texts = (done.stdout, done.stderr)
    if "html" in arguments:
        # What a page shows is packed; its scripts and its style are its own.
        texts = (unpacked(done.stdout, "index"), unpacked(done.stdout, "model-0"))
    for printed in texts:
        assert "pwned" in printed or printed == "" or printed.startswith("cnnmem") or arguments[0] == "init"
        assert "\x1b[31" not in printed
        assert "pwned\x9b" not in printed
        assert all(letter.isprintable() or letter == "\n" for letter in printed)
        assert not any(line.startswith("::error ::") for line in printed.splitlines())
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["net.py", "other.py", "there.ipynb", "link.txt", "pyproject.toml", "text"])
def test_no_report_is_written_over_source(run_cnnmem: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / "net.py").write_text("import torch\n")
    (tmp_path / "text").write_text("import torch\n")
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "link.txt").symlink_to("net.py")
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    for command in (["report", "net.py", "text"], ["check", "net.py"], ["diff", "HEAD"]):
        if name == "text" and command[0] != "report":
            continue
        done = run_cnnmem(*command, "-o", name)
        assert done.returncode == 2
        assert "no report is written over" in done.stderr
        assert {path: path.read_text() for path in tmp_path.iterdir()} == before
