"""Command lines, settings files and settings objects: what a script run without arguments works with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown
from tests.evaluate.programs import interpreted, plain

COMMANDS = {
    "argparse: the name of a program": (
        """
import argparse
named = [argparse.ArgumentParser("a"), argparse.ArgumentParser(prog="b"), argparse.ArgumentParser()]
result = [each.prog + "" for each in named[:2]] + [isinstance(named[2].prog, str)]
""",
        ["a", "b", True],
    ),
    "argparse: the functions of subcommands, each with its own options": (
        """
import argparse
result = []
def train(args):
    result.append(("train", args.batch, args.seed))
def test(args):
    result.append(("test", args.batch, args.seed))
parser = argparse.ArgumentParser()
parser.add_argument("--seed", default=7)
commands = parser.add_subparsers()
first = commands.add_parser("train")
first.add_argument("--batch", type=int, default=28)
first.set_defaults(func=train)
second = commands.add_parser("test")
second.add_argument("--batch", type=int, default=100)
second.set_defaults(func=test)
args = parser.parse_args()
args.func(args)
""",
        [("train", 28, 7), ("test", 100, 7)],
    ),
    "argparse: a subcommand among the words that the code lists": (
        """
import argparse
shared = argparse.ArgumentParser(add_help=False)
shared.add_argument("-b", type=int, default=16, dest="batch")
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=7)
commands = parser.add_subparsers(dest="command")
train = commands.add_parser("train", parents=[shared])
train.add_argument("--wide", action="store_true")
commands.add_parser("test", parents=[shared])
args = parser.parse_args(["--seed", "3", "train", "-b", "28", "--wide"])
result = args.command, args.seed, args.batch, args.wide
""",
        ("train", 3, 28, True),
    ),
    "click: options, flags, an argument": (
        """
import click
@click.command()
@click.option("--batch-size", "-b", default=8, type=int)
@click.option("--amp/--no-amp", default=True)
@click.option("--verbose", is_flag=True)
@click.option("--lr", "rate", default="0.1", type=float)
@click.option("--tag", multiple=True)
@click.argument("folder", default="data")
def main(batch_size, amp, verbose, rate, tag, folder):
    global result
    result = batch_size, amp, verbose, rate, tag, folder
main()
""",
        (8, True, False, 0.1, (), "data"),
    ),
    "click: a group's commands": (
        """
import click
@click.group()
@click.option("--seed", default=3)
@click.pass_context
def cli(ctx, seed):
    ctx.ensure_object(dict)
@cli.command()
@click.option("--epochs", default=5)
def train(epochs):
    global result
    result = epochs
cli()
""",
        5,
    ),
    "typer: a function's own signature": (
        """
import typer
app = typer.Typer()
@app.command()
def main(size: int = 32, name: str = typer.Option("x", help="h"), flag: bool = False):
    global result
    result = size, name, flag
app()
""",
        (32, "x", False),
    ),
    "typer.run": (
        "import typer\ndef main(n: int = 4):\n    global result\n    result = n\ntyper.run(main)",
        4,
    ),
    "fire: a function": (
        "import fire\ndef main(n=4, *, k=2):\n    global result\n    result = n, k\nfire.Fire(main)",
        (4, 2),
    ),
    "fire: a class": (
        (
            "import fire\n"
            "class Job:\n"
            "    def __init__(self, n=3):\n"
            "        global result\n"
            "        result = n\n"
            "fire.Fire(Job)"
        ),
        3,
    ),
    "absl: flags": (
        """
from absl import app, flags
FLAGS = flags.FLAGS
flags.DEFINE_integer("batch", 12, "h")
size = flags.DEFINE_integer("size", 64, "h")
flags.DEFINE_enum("kind", "a", ["a", "b"], "h")
def main(argv):
    global result
    result = FLAGS.batch, size.value, FLAGS.kind
app.run(main)
""",
        (12, 64, "a"),
    ),
    "EasyDict": (
        "from easydict import EasyDict\nc = EasyDict({'a': {'b': 1}})\nc.n = 2\nresult = c.a.b, c['n'], c.get('z', 3)",
        (1, 2, 3),
    ),
    "addict makes what is missing": (
        "from addict import Dict\nc = Dict()\nc.a.b = 1\nresult = c.a.b",
        1,
    ),
    "yacs": (
        """
from yacs.config import CfgNode as CN
_C = CN()
_C.MODEL = CN()
_C.MODEL.WIDTH = 64
cfg = _C.clone()
cfg.merge_from_list(["MODEL.WIDTH", "32"])
cfg.freeze()
result = cfg.MODEL.WIDTH, _C.MODEL.WIDTH
""",
        (32, 64),
    ),
    "OmegaConf: merged, referred to": (
        """
from omegaconf import OmegaConf
own = OmegaConf.create({"width": 16, "deep": {"n": "${width}"}})
c = OmegaConf.merge(own, {"deep": {"k": 2}}, OmegaConf.from_cli())
result = c.width, c.deep.n, c["deep"]["k"], OmegaConf.to_container(c)["deep"]
""",
        (16, 16, 2, {"n": 16, "k": 2}),
    ),
    "OmegaConf: a dataclass": (
        """
from dataclasses import dataclass
from omegaconf import OmegaConf
@dataclass
class Config:
    batch: int = 32
result = OmegaConf.structured(Config).batch
""",
        32,
    ),
    "ml_collections": (
        (
            "import ml_collections\n"
            "c = ml_collections.ConfigDict()\n"
            "c.lr = 0.1\n"
            "c.model = ml_collections.ConfigDict({'n': 3})\n"
            "result = c.lr, c.model.n"
        ),
        (0.1, 3),
    ),
    "a progress bar over a range": (
        "from tqdm import tqdm, trange\nresult = [at for at in tqdm(range(3))], len(tqdm([1, 2])), list(trange(2))",
        ([0, 1, 2], 2, [0, 1]),
    ),
}


@pytest.mark.parametrize(("program", "expected"), COMMANDS.values(), ids=COMMANDS)
def test_a_run_without_arguments_gives_the_defaults(program: str, expected: Any) -> None:
    assert interpreted(program) == expected


FILES = {
    "conf/config.yaml": (
        "defaults:\n  - net: small\n  - _self_\nbatch: 16\nlr: 1e-3\nsize: [64, 96]\nwidth: ${net.width}\n"
    ),
    "conf/net/small.yaml": ("width: 24\n_target_: collections.OrderedDict\n"),
    "settings.json": '{"train": {"batch_size": 20}}',
    "settings.toml": ('[train]\nbatch_size = 24\nname = "x"\n'),
    "settings.ini": ("[train]\nbatch = 28\nrate = 0.5\nfast = yes\n"),
    "notes.txt": ("one\ntwo\n"),
}
READERS = {
    "yaml of an open file": (
        (
            "import yaml\n"
            "with open('conf/config.yaml') as f:\n"
            "    c = yaml.safe_load(f)\n"
            "result = c['batch'], c['size'], c['lr']"
        ),
        (16, [64, 96], "1e-3"),
    ),
    "yaml with a loader": (
        "import yaml\nresult = yaml.load(open('conf/config.yaml'), Loader=yaml.FullLoader)['batch']",
        16,
    ),
    "beside the script": (
        (
            "import json, os\n"
            "here = os.path.dirname(os.path.abspath(__file__))\n"
            "result = json.load(open(os.path.join(here, 'settings.json')))['train']['batch_size']"
        ),
        20,
    ),
    "through pathlib": (
        (
            "import json\n"
            "from pathlib import Path\n"
            "result = json.loads((Path(__file__).resolve().parent / 'settings.json').read_text())['train']"
        ),
        {"batch_size": 20},
    ),
    "toml": (
        "import tomllib\nwith open('settings.toml', 'rb') as f:\n    result = tomllib.load(f)['train']['batch_size']",
        24,
    ),
    "ini": (
        (
            "import configparser\n"
            "c = configparser.ConfigParser()\n"
            "c.read('settings.ini')\n"
            "train = c['train']\n"
            "result = train['batch'], train.getint('batch'), c.getfloat('train', 'rate'), train.getboolean('fast'), "
            "c.get('train', 'none', fallback=7)"
        ),
        ("28", 28, 0.5, True, 7),
    ),
    "lines of a text": (
        "result = [line.strip() for line in open('notes.txt')]",
        ["one", "two"],
    ),
    "a text line by line": (
        (
            "f = open('notes.txt')\nfirst = f.readline()\nfew = f.read(1)\nrest = f.readlines()\nend = f.readline()\n"
            "f.seek(0)\nheader = next(f)\nresult = [first, few, *rest, end, header]"
        ),
        ["one\n", "t", "wo\n", "", "one\n"],
    ),
    "whether a file is there": (
        "import os\nresult = os.path.exists('notes.txt')",
        True,
    ),
    "OmegaConf": (
        "from omegaconf import OmegaConf\nresult = OmegaConf.load('conf/config.yaml').batch",
        16,
    ),
    "hydra: groups, references, targets": (
        """
import hydra
@hydra.main(version_base=None, config_path="conf", config_name="config")
def main(cfg):
    global result
    result = cfg.batch, cfg.net.width, cfg.width, dict(hydra.utils.instantiate(cfg.net, more=1))
main()
""",
        (16, 24, 24, {"width": 24, "more": 1}),
    ),
    "hydra before version 1.0: the path names the file": (
        (
            "import hydra\n@hydra.main(config_path='conf/config.yaml')\ndef main(cfg):\n    global result\n"
            "    result = cfg.batch\nmain()\n"
        ),
        16,
    ),
}


if sys.version_info < (3, 11):
    # tomllib, which reads it, came with Python 3.11.
    del READERS["toml"]


def run_in(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> tuple[Any, Interpreter]:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    monkeypatch.chdir(folder)
    run = Interpreter([str(folder)], strict=True)
    run.trace.path = str(folder / "train.py")
    module = Module("__main__", Source(run.trace.path, text), lazy=False)
    run.run_module(module)
    return module.variables.get("result"), run


@pytest.mark.parametrize(("program", "expected"), READERS.values(), ids=READERS)
def test_a_file_of_the_project_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, expected: Any
) -> None:
    found, run = run_in(tmp_path, monkeypatch, program)
    assert run.failures == []
    assert plain(run, found) == expected


OUTSIDE = {
    "a file elsewhere": "result = open('/etc/hostname').read()",
    "a way out of the project": "result = open('../outside.txt').read()",
    "a file that is not there": "result = open('missing.yaml').read()",
    "a file that is written": ("f = open('notes.txt', 'w')\nresult = f.read()"),
    "a folder": "result = open('conf').read()",
    "a tag that would run code": ("import yaml\nresult = yaml.unsafe_load('!!python/object/apply:os.getcwd []')"),
}


@pytest.mark.parametrize("program", OUTSIDE.values(), ids=OUTSIDE)
def test_nothing_else_is_read_written_or_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    (tmp_path / "outside.txt").write_text("secret")
    folder = tmp_path / "project"
    folder.mkdir()
    found, _ = run_in(folder, monkeypatch, program)
    assert isinstance(found, Unknown)
    assert (folder / "notes.txt").read_text() == FILES["notes.txt"]


def test_a_text_that_names_another_many_times_over_ends_within_the_budget() -> None:
    rows = ["a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    rows += [f"{chr(98 + at)}: &{chr(98 + at)} [{', '.join(['*' + chr(97 + at)] * 9)}]" for at in range(9)]
    found = interpreted("import yaml\ntext = '''" + "\n".join(rows) + "'''\nresult = yaml.safe_load(text)")
    assert isinstance(found, Unknown)
