"""Hostile projects of several files, the first of which is analysed: settings that grow when they are read, and paths."""

from __future__ import annotations

import json

HEAD = "import torch\nfrom torch import nn\n"

AFTER = """

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x)


net = Net()
net(torch.zeros(1, 8))
"""


def reads(module: str, call: str, name: str, text: str) -> dict[str, str]:
    """A program that reads its settings from a file before it builds a model."""
    return {
        "net.py": f"{HEAD}import {module}\nsettings = {call}\nfor key in settings:\n    print(key)\n{AFTER}",
        name: text,
    }


def yaml(text: str) -> dict[str, str]:
    return reads("yaml", "yaml.safe_load(open('config.yaml'))", "config.yaml", text)


def toml(text: str) -> dict[str, str]:
    return reads("tomllib", "tomllib.load(open('config.toml', 'rb'))", "config.toml", text)


def levels(first: str, each: str, count: int, times: int) -> str:
    """Anchors each of which names the one before several times over."""
    lines = [first]
    lines += [each.format(here=at, before=", ".join([f"*a{at - 1}"] * times)) for at in range(1, count)]
    return "\n".join(lines) + "\n"


PROJECTS: dict[str, dict[str, str]] = {
    "YAML of opening brackets": yaml("[" * 120_000),
    "YAML of opening braces": yaml("{a: " * 40_000),
    "YAML of indented lists": yaml("- " * 60_000 + "1"),
    "YAML of question marks": yaml("? " * 60_000 + "1"),
    "YAML indented line by line": yaml("".join(f"{' ' * n}a{n}:\n" for n in range(550))),
    "YAML of merge keys": yaml(
        levels("a0: &a0 {x: 1, y: 2, z: 3}", "a{here}: &a{here}\n  <<: [{before}]\n  k{here}: 1", 12, 8)
    ),
    "YAML of aliases": yaml(levels("a0: &a0 [1, 2, 3]", "a{here}: &a{here} [{before}]", 12, 9)),
    "YAML of aliases as keys": yaml(levels("? &a0 [1, 2]\n: 1", "? &a{here} [{before}]\n: 1", 10, 9)),
    "YAML that holds itself": yaml("a: &a [*a, *a]\nb: &b {c: *b}\n"),
    "YAML of many anchors": yaml("".join(f"- &a{n} {n}\n" for n in range(14_000))),
    "YAML of many keys": yaml("".join(f"k{n}: {n}\n" for n in range(14_000))),
    "YAML of many merges": yaml("a: &a {x: 1}\n" + "".join(f"b{n}:\n  <<: *a\n" for n in range(8_000))),
    "YAML of merges of one large mapping": yaml(
        "a: &a {" + ", ".join(f"x{n}: 1" for n in range(3000)) + "}\n" + "".join(f"b{n}: {{<<: *a}}\n" for n in range(6000))
    ),
    "YAML with a long number": yaml("a: " + "9" * 190_000 + "\nb: 0x" + "f" * 1000 + "\nc: 1:" + ":".join(["59"] * 300)),
    "YAML of colons": yaml("a: 1" + ":1" * 90_000),
    "YAML with an unending text": yaml("a: '" + "x" * 190_000),
    "JSON of brackets": reads("json", "json.load(open('config.json'))", "config.json", "[" * 190_000),
    "JSON that is just right": reads("json", "json.load(open('config.json'))", "config.json", "[" * 900 + "]" * 900),
    "JSON with a long number": reads("json", "json.load(open('c.json'))", "c.json", "[" + "9" * 190_000 + "]"),
    "TOML of dotted keys": toml("a." * 90_000 + "a = 1\n"),
    "TOML of many dotted keys": toml("".join(f"{'a.' * 60}k{n} = 1\n" for n in range(1500))),
    "TOML of dotted tables": toml("".join(f"[{'a.' * n}b]\n" for n in range(1, 400))),
    "TOML of a dotted table": toml(f"[{'a.' * 90_000}b]\nc = 1\n"),
    "TOML of brackets": toml("a = " + "[" * 190_000),
    "TOML of inline tables": toml("a = " + "{a = " * 30_000 + "1" + "}" * 30_000),
    "TOML of arrays of tables": toml("[[a]]\n" * 30_000),
    "TOML with a long number": toml(f"a = {'9' * 190_000}\nb = 0x{'f' * 90}\n"),
    "INI of many sections": reads(
        "configparser",
        "configparser.ConfigParser()\nsettings.read('config.ini')",
        "config.ini",
        "".join(f"[s{n}]\na = %(b)s\nb = %(a)s\n" for n in range(6000)),
    ),
    "INI of one long value": reads(
        "configparser",
        "configparser.ConfigParser()\nsettings.read('config.ini')",
        "config.ini",
        "[s]\na = 1\n" + " continued\n" * 15_000,
    ),
    "a configuration that includes itself": {
        "net.py": f"{HEAD}from omegaconf import OmegaConf\nc = OmegaConf.load('a.yaml')\nprint(c.x)\n{AFTER}",
        "a.yaml": "x: ${y}\ny: ${x}\n" + "".join(f"k{n}: ${{k{n + 1}}}${{k{n + 1}}}\n" for n in range(60)),
    },
    "settings of hydra that grow": {
        "net.py": f"{HEAD}import hydra\n@hydra.main(config_path='.', config_name='a')\ndef main(cfg):\n    print(cfg)\nmain()\n{AFTER}",
        "a.yaml": "defaults: [a, b, a]\n" + "[" * 3000,
        "b.yaml": "defaults: [a, b]\n",
    },
    "a folder of many files": {
        "net.py": f"{HEAD}import os, glob, pathlib\nfor n in range(10**6):\n    os.path.exists(f'part{{n}}.py')\n    glob.glob('*.py')\n"
        f"    list(pathlib.Path('.').rglob('*'))\n    os.listdir('.')\n{AFTER}",
        **{f"part{n}.py": "" for n in range(200)},
    },
    "a module read a million times": {
        "net.py": f"{HEAD}for n in range(10**6):\n    s = open('big.txt').read()\n    s.splitlines()\n{AFTER}",
        "big.txt": "line\n" * 30_000,
    },
    "a notebook of spaces": {
        "net.ipynb": '{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": "import torch\\n' + " " * 200_000
        + "x" + " ?" * 100_000 + '\\n%a\\n' + "a " * 100_000 + '\\n"}, {"cell_type": "code", "source": '
        + f'{json.dumps(HEAD + AFTER)}}}]}}',
        "net.py": "",
    },
    "a notebook of brackets": {
        "net.ipynb": '{"cells": ' + "[" * 100_000,
        "net.py": "",
    },
}  # fmt: skip
