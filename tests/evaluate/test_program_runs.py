"""The ways through a program that its user chooses: one for each subcommand, one more with options that it needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.evaluate.program_runs import Ways
from flake8_cnnmem.source import Source
from flake8_cnnmem.unknown import Unknown

PARSER = """
import argparse
p = argparse.ArgumentParser()
p.add_argument("--data")
p.add_argument("--batch", type=int, default=8)
p.add_argument("--out", required=True)
p.add_argument("folder")
"""
SUBCOMMANDS = """
s = p.add_subparsers(dest="command")
a = s.add_parser("train"); a.add_argument("--lr", default=0.1)
b = s.add_parser("test"); b.add_argument("--split", default="val")
"""


def arguments(text: str, taken: dict[str, str] | None = None) -> tuple[dict[str, Any], Ways]:
    run = Interpreter([], strict=True)
    run.ways = Ways(taken or {})
    module = Module("__main__", Source("program.py", f"{text}\nargs = vars(p.parse_args())\n"), lazy=False)
    run.run_module(module)
    found = module.variables["args"]
    assert isinstance(found, dict)
    return found, run.ways


def test_what_nobody_gives_is_named_by_the_argument() -> None:
    args, _ = arguments(PARSER)
    assert isinstance(args["out"], Unknown)
    assert args["out"].reason == "the argument --out is not given"
    assert args["folder"].reason == "the argument folder is not given"
    assert (args["data"], args["batch"]) == (None, 8)


def test_each_subcommand_is_a_way_of_its_own() -> None:
    args, ways = arguments(PARSER + SUBCOMMANDS)
    assert (args["command"], args["lr"], "split" in args) == ("train", 0.1, False)
    found = [arguments(PARSER + SUBCOMMANDS, dict(taken))[0] for taken in ways.open]
    assert [(each["command"], each.get("split"), "lr" in each) for each in found] == [
        ("test", "val", False),
        (None, None, False),
    ]


def test_options_without_a_default_are_given_where_the_program_stops_without() -> None:
    _, ways = arguments(PARSER)
    (taken,) = ways.otherwise
    args, _ = arguments(PARSER, dict(taken))
    assert args["data"].reason == "the argument --data is not given"


@pytest.mark.parametrize(
    "stops", ["assert args.data", "if args.data is None: raise SystemExit", "open(args.data + '/x')"]
)
def test_a_program_that_stops_without_an_option_is_followed_with_it(stops: str, tmp_path: Path) -> None:
    from flake8_cnnmem.analysis import analyse
    from flake8_cnnmem.settings.options import Settings
    from flake8_cnnmem.source import load

    path = tmp_path / "train.py"
    path.write_text(f"""
import argparse, torch
p = argparse.ArgumentParser()
p.add_argument("--data")
p.add_argument("--batch", type=int, default=8)
def main():
    args = p.parse_args()
    {stops}
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3))
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(3):
        net(torch.zeros(args.batch, 3, 9, 9)).sum().backward()
        optimizer.step()
main()
""")
    (report,) = analyse(load(str(path)), Settings()).reports
    assert (report.status, report.training.batch_size.value) == ("exact", 8)
