"""The reusable workflow's shell steps, run as a runner does in a scratch repository, with a `gh` that remembers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "cnnmem.yml").read_text())
STEPS = WORKFLOW["jobs"]["models"]["steps"]

NET = """\
from keras import layers, models

net = models.Sequential([layers.Input((28, 28, 1)), layers.Conv2D(8, 3), layers.Flatten(), layers.Dense(10)])
"""

# Keeps the comments of one pull request in a file, and answers as GitHub does. What `--jq` selects is written out here.
GH = """\
#!{python}
import json, os, sys
store = os.environ["GH_STORE"]
comments = json.load(open(store)) if os.path.exists(store) else []
arguments = sys.argv[1:]
assert os.environ["GH_TOKEN"] == "token" and arguments.pop(0) == "api"
options = {{}}
paths = []
while arguments:
    word = arguments.pop(0)
    if word == "--paginate":
        continue
    if word.startswith("--"):
        options[word] = arguments.pop(0)
    else:
        paths.append(word)
[path] = paths
body = options.get("--field", "").removeprefix("body=@")
if path == "repos/owner/project/issues/7/comments" and "--method" not in options:
    marker = options["--jq"].split('startswith("')[1].split('"')[0]
    for comment in comments:
        if comment["login"] == "github-actions[bot]" and comment["body"].startswith(marker):
            print(comment["id"])
elif path == "repos/owner/project/issues/7/comments" and options["--method"] == "POST":
    comments.append({{"id": len(comments) + 101, "login": "github-actions[bot]", "body": open(body).read()}})
elif options["--method"] == "PATCH":
    [comment] = [each for each in comments if path == f"repos/owner/project/issues/comments/{{each['id']}}"]
    comment["body"] = open(body).read()
else:
    sys.exit(f"no such place: {{path}}")
json.dump(comments, open(store, "w"))
"""


class Runner:
    """A runner's part: the environment of a step, its outputs, and the shell with GitHub's own flags."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        self.temp = folder / "temp"
        self.store = folder / "comments.json"
        programs = folder / "bin"
        for made in (self.project, self.temp, programs):
            made.mkdir()
        entry = "import sys; from flake8_cnnmem.cli import main; sys.exit(main())"
        self.program(programs / "cnnmem", f'#!/bin/sh\nexec "{sys.executable}" -c \'{entry}\' "$@"\n')
        self.program(programs / "gh", GH.format(python=sys.executable))
        self.environment = {
            **os.environ, "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
            "GH_STORE": str(self.store), "RUNNER_TEMP": str(self.temp), "GITHUB_OUTPUT": str(self.temp / "output"),
            "GITHUB_STEP_SUMMARY": str(self.temp / "summary"), "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        self.base = ""

    def program(self, path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
        return subprocess.run(command, cwd=self.project, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            (self.project / f"{name}.py").write_text(text)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "a commit")
        return self.git("rev-parse", "HEAD")

    def value(self, expression: str) -> str:
        """What an expression of the workflow gives on a pull request."""
        known = {
            "github.event.pull_request.base.sha": self.base,
            "github.event.pull_request.number": "7",
            "github.repository": "owner/project",
            "github.token": "token",
            "inputs.fail-on": "over-limit",
            "inputs.packages": "torchvision==0.28.0 timm",
            "inputs.requirement": "flake8-cnnmem",
            "inputs.paths": ".",
            "steps.compare.outputs.status": self.output("status"),
        }
        return known[expression.strip()]

    def output(self, name: str) -> str:
        path = self.temp / "output"
        lines = path.read_text().splitlines() if path.exists() else []
        return next((line.partition("=")[2] for line in reversed(lines) if line.startswith(f"{name}=")), "")

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        [step] = [step for step in STEPS if step.get("name") == name]
        values = {
            key: re.sub(r"\$\{\{(.*?)\}\}", lambda match: self.value(match[1]), text)
            for key, text in step.get("env", {}).items()
        }
        # `shell: bash` of a runner: bash --noprofile --norc -eo pipefail {0}
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=self.project,
            env={**self.environment, **values}, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    def push(self) -> list[str]:
        """What a push does to the comments; their bodies after it."""
        for name in ("Compare", "Comment"):
            done = self.step(name)
            assert done.returncode == 0, done.stderr
        return [comment["body"] for comment in self.comments()]

    def comments(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.store.read_text()) if self.store.exists() else []
        return found


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    made = Runner(tmp_path)
    made.git("init", "-q", "-b", "main")
    (made.project / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 24MiB\n")
    made.base = made.commit(net=NET)
    return made


def test_one_comment_follows_the_pushes(runner: Runner) -> None:
    runner.commit(notes="x = 1\n")
    assert runner.push() == []
    runner.store.write_text(json.dumps([{"id": 5, "login": "somebody", "body": "<!-- cnnmem diff -->\nmine"}]))
    runner.commit(net=NET.replace("Conv2D(8", "Conv2D(16"))
    [others, first] = runner.push()
    assert others.endswith("mine")
    assert first.startswith("<!-- cnnmem diff -->\n**1 model changed, ")
    assert "| `net`" in first
    assert runner.step("Verdict").returncode == 0
    runner.commit(net=NET.replace("Conv2D(8", "Conv2D(512"))
    [_, second] = runner.push()
    assert "over the 24 MiB limit" in second
    assert runner.step("Verdict").returncode == 1
    runner.commit(net=NET)
    [_, third] = runner.push()
    assert "No model changed" in third
    assert runner.step("Verdict").returncode == 0
    assert "**1 model changed" in (runner.temp / "summary").read_text()


def test_the_findings_are_there_for_code_scanning(runner: Runner) -> None:
    runner.commit(net=NET.replace("Conv2D(8", "Conv2D(512"))
    assert runner.step("Check").returncode == 0
    log = json.loads((runner.temp / "cnnmem.sarif").read_text())
    assert [result["ruleId"] for result in log["runs"][0]["results"]] == ["CNM101"]
    [upload] = [step for step in STEPS if "upload-sarif" in step.get("uses", "")]
    assert upload["with"]["sarif_file"] == "${{ runner.temp }}/cnnmem.sarif"


def test_the_packages_that_models_come_from_are_where_they_are_looked_up(runner: Runner, tmp_path: Path) -> None:
    # A Python that installs nothing, but says what it was asked for.
    told = tmp_path / "told"
    runner.program(
        tmp_path / "bin" / "python",
        f'#!/bin/sh\necho "$@" >> "{told}"\n[ "$2" != venv ] || mkdir -p .venv/lib/python3.12/site-packages\n',
    )
    assert runner.step("Install").returncode == 0
    assert told.read_text().splitlines() == [
        "-m pip install --quiet flake8-cnnmem",
        "-m venv --without-pip .venv",
        "-m pip install --quiet --no-deps --target .venv/lib/python3.12/site-packages torchvision==0.28.0 timm",
    ]


def test_a_bad_configuration_ends_the_run(runner: Runner) -> None:
    (runner.project / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = RTX 9090\n")
    for name in ("Compare", "Check"):
        done = runner.step(name)
        assert done.returncode == 2
        assert "is neither a size" in done.stderr


def test_a_comment_too_long_for_github_goes_without_its_details(runner: Runner) -> None:
    assert runner.step("Compare").returncode == 0
    (runner.temp / "cnnmem.md").write_text("**1 model changed**\n\n<details>\n" + "x" * 70_000 + "\n</details>\n")
    assert runner.step("Comment").returncode == 0
    assert [comment["body"] for comment in runner.comments()] == ["<!-- cnnmem diff -->\n**1 model changed**\n\n"]


def test_nothing_of_an_event_is_pasted_into_a_script() -> None:
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert scripts
    assert not any("${{" in script for script in scripts)
