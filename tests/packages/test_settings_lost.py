"""Settings that take over others which are not known are not known any more: none keeps its default in silence."""

from __future__ import annotations

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

HEAD = """
import argparse
import nowhere
from types import SimpleNamespace
from easydict import EasyDict
from mmengine.config import Config
from ml_collections import ConfigDict
from munch import Munch
from omegaconf import OmegaConf
from yacs.config import CfgNode

def tree():
    node = CfgNode()
    node.model = CfgNode()
    node.model.depth = 18
    return node

def parser():
    made = argparse.ArgumentParser()
    made.add_argument("--depth", default=18)
    return made
"""

LOST = {
    "yacs, another tree": "s = tree()\ns.merge_from_other_cfg(nowhere.x)\nfound = s.model.depth",
    "yacs, a file": "s = tree()\ns.merge_from_file(nowhere.x)\nfound = s.model.depth",
    "yacs, a node that was taken before": (
        "s = tree()\nnode = s.model\ns.merge_from_file('not_there.yaml')\nfound = node.depth"
    ),
    "OmegaConf": "found = OmegaConf.merge(OmegaConf.create({'depth': 18}), nowhere.x).depth",
    "mmengine": "s = Config({'depth': 18})\ns.merge_from_dict(nowhere.x)\nfound = s.depth",
    "EasyDict": "s = EasyDict(depth=18)\ns.update(nowhere.x)\nfound = s.depth",
    "Munch": "s = Munch(depth=18)\ns.update(nowhere.x)\nfound = s.depth",
    "ConfigDict": "s = ConfigDict({'depth': 18})\ns.update(nowhere.x)\nfound = s.depth",
    "a dict and keywords": "s = {'depth': 18}\ns.update(**nowhere.x)\nfound = s['depth']",
    "a namespace and keywords": "s = SimpleNamespace(depth=18)\ns.__dict__.update(**nowhere.x)\nfound = s.depth",
    "a statement that could not be followed to its end": (
        "def deep(n):\n    return deep(n + 1) if nowhere.x else n\n"
        "s = tree()\ns.merge_from_list(['model.depth', deep(0)])\nfound = s.model.depth"
    ),
    "defaults of a parser": "p = parser()\np.set_defaults(**nowhere.x)\nfound = p.parse_args([]).depth",
    "defaults of a parser's parent": (
        "p = parser()\np.set_defaults(**nowhere.x)\n"
        "found = argparse.ArgumentParser(parents=[p], add_help=False).parse_args([]).depth"
    ),
}


@pytest.mark.parametrize("code", LOST.values(), ids=LOST)
def test_what_is_not_known_takes_the_defaults_with_it(code: str) -> None:
    assert isinstance(Ran(HEAD + code + "\n")["found"], Unknown)


KNOWN = {
    "set after the merge": ("s = tree()\ns.merge_from_file(nowhere.x)\ns.model.depth = 50\nfound = s.model.depth", 50),
    "defaults that are known": ("p = parser()\np.set_defaults(**{'depth': 34})\nfound = p.parse_args([]).depth", 34),
    "tuples stay tuples": ("found = Config({'model': {'places': (0, 1), 'sizes': [2]}}).model.places", (0, 1)),
    "OmegaConf has lists alone": ("found = OmegaConf.to_container(OmegaConf.create({'a': (0, 1)}))['a']", [0, 1]),
}


@pytest.mark.parametrize(("code", "value"), KNOWN.values(), ids=KNOWN)
def test_what_is_known_stays(code: str, value: object) -> None:
    assert Ran(HEAD + code + "\n")["found"] == value
