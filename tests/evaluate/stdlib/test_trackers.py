"""Settings that scripts keep in wandb: what the program gives is read back, what comes from outside is not known."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.evaluate.programs import interpreted

PROGRAMS = {
    "given to init": ("wandb.init(project='p', config={'width': 3})\nresult = wandb.config.width", 3),
    "given to init as options": (
        ("import argparse\np = argparse.ArgumentParser()\np.add_argument('--width', default=3)\n"
        "wandb.init(config=p.parse_args())\nresult = wandb.config['width']"), 3,
    ),
    "set afterwards": ("run = wandb.init()\nrun.config.width = 3\nresult = wandb.config.width", 3),
    "updated": ("wandb.init(config=dict(width=1))\nwandb.config.update({'width': 3})\nresult = wandb.config.width", 3),
    "defaults do not replace": (
        "wandb.init(config=dict(width=3))\nwandb.config.setdefaults({'width': 1})\nresult = wandb.config.width", 3,
    ),
    "asked for with a default": ("wandb.init()\nresult = wandb.config.get('width', 3)", 3),
    "in a with statement": ("with wandb.init(config={'width': 3}) as run:\n    result = run.config.width", 3),
    "what is told goes elsewhere": ("wandb.init()\nresult = wandb.log({'loss': 1})", None),
}  # fmt: skip


@pytest.mark.parametrize(("code", "result"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_setting(code: str, result: object) -> None:
    assert interpreted(f"import wandb\n{code}\n") == result


OUTSIDE = {
    "a setting that nobody gives": "wandb.init()\nresult = wandb.config.width",
    "a sweep's": (
        "def train():\n    global result\n    wandb.init(config={'width': 3})\n    result = wandb.config.depth\n"
        "wandb.agent('id', function=train)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("code", OUTSIDE.values(), ids=OUTSIDE)
def test_a_setting_from_outside(code: str) -> None:
    assert isinstance(interpreted(f"import wandb\n{code}\n"), Unknown)


def test_the_defaults_of_the_file_beside_the_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config-defaults.yaml").write_text("width:\n  desc: filters\n  value: 3\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert interpreted("import wandb\nwandb.init()\nresult = wandb.config.width\n") == 3
