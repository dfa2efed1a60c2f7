"""Arguments in files beside the program: what each text gives was read off the parser of ConfigArgParse 1.7."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

PROGRAM = """
import configargparse
from torch import nn

parser = configargparse.ArgParser(default_config_files=["base.conf", "~/.of-nobody.conf"])
parser.add("-c", "--config", is_config_file=True{chosen})
parser.add_argument("--width", type=int, default=8)
parser.add_argument("--layers", type=int, nargs="+", default=[1])
parser.add_argument("--bias", action="store_true")
group = parser.add_argument_group("head")
group.add_argument("--out", type=int, default=3, env_var="OUT")
args = parser.parse_args({words})
model = nn.Sequential(
    nn.Linear(10, args.width, bias=args.bias),
    *[nn.Linear(args.width, args.width) for _ in args.layers],
    nn.Linear(args.width, args.out),
)
"""


def parameters(width: int = 8, layers: int = 1, bias: bool = False, out: int = 3) -> int:
    return width * (10 + bias) + layers * width * (width + 1) + out * (width + 1)


CASES = {
    "no file": ("", {}, "", parameters()),
    "all forms of a line": (
        "",
        {"base.conf": "# base\nwidth = 32\nlayers: [2, 3] # two\nbias = true\n\n[head]\nout 7\nother = 1\n"},
        "",
        parameters(32, 2, True, 7),
    ),
    "the command line goes over it": ('["--width", "4"]', {"base.conf": "width=16\nbias=false\n"}, "", parameters(4)),
    "the default of a file's argument": (
        "",
        {"base.conf": "width = 16", "lego.txt": "width = 64\nbias = True"},
        ', default="lego.txt"',
        parameters(64, bias=True),
    ),
}


@pytest.mark.parametrize(("words", "files", "chosen", "expected"), CASES.values(), ids=CASES)
def test_what_files_say_stands_for_what_is_not_given(
    words: str, files: dict[str, str], chosen: str, expected: int, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    path = tmp_path / "train.py"
    path.write_text(PROGRAM.format(words=words, chosen=chosen))
    (report,) = analyse(load(str(path)), Settings()).reports
    assert report.parameters == expected
    assert not [cause for cause in report.causes if "input" not in cause.reason]


def test_a_file_of_another_syntax_is_a_cause(tmp_path: Path) -> None:
    (tmp_path / "base.conf").write_text("layers:\n  - 2\n  - 3\n")
    path = tmp_path / "train.py"
    text = PROGRAM.format(words="", chosen="").replace("*[nn.Linear(args.width, args.width) for _ in args.layers],", "")
    syntax = '"~/.of-nobody.conf"], config_file_parser_class=configargparse.YAMLConfigFileParser)'
    path.write_text(text.replace('"~/.of-nobody.conf"])', syntax))
    (report,) = analyse(load(str(path)), Settings()).reports
    assert report.status != "exact"
    assert any("another syntax" in cause.reason for cause in report.causes)
