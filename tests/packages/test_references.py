"""Settings that stand for other settings, a row for a rule: what OmegaConf 2.3 gives. A setting that changes later
changes what stands for it."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.packages._config_objects import plain
from tests.frameworks.torch.code import Ran

HEAD = "from omegaconf import OmegaConf\nimport copy\n"


def made(tree: str) -> str:
    return f"c = OmegaConf.create({tree})\n"


TREE = made("{'w': 8, 'm': {'w': '${w}', 'n': '${m.w}', 'p': '${.w}x${w}'}}")
UPDATED = "OmegaConf.update(c, 'w', 9)\nOmegaConf.update(c, 'm.q', 2)\n"
MUL = "OmegaConf.register_new_resolver('mul', lambda a, b: a * b)\n"
NEXT = "OmegaConf.register_new_resolver('next', lambda a: a + 1)\n"
EVAL = "OmegaConf.register_new_resolver('eval', eval)\n"

FOUND: dict[str, tuple[str, Any]] = {
    "a later assignment": (TREE + "c.w = 16\nr = [c.m.w, c.m.n, c.m.p]", [16, 16, "16x16"]),
    "what was put in its place stays": (TREE + "c.m['w'] = 1\nc.w = 2\nr = [c.m.w, c.m.n]", [1, 1]),
    "merged over": (TREE + "d = OmegaConf.merge(c, {'w': 3})\nr = [d.m.n, c.m.n]", [3, 8]),
    "merged in place": (TREE + "c.merge_with(OmegaConf.from_dotlist(['w=5']))\nr = c.m.n", 5),
    "updated by a path": (TREE + UPDATED + "r = [c.m.n, c.m.q]", [9, 2]),
    "a copy has its own": (TREE + "d = copy.deepcopy(c)\nd.w = 11\nr = [c.m.n, d.m.n]", [8, 11]),
    "a copy of a part": (TREE + "r = copy.deepcopy(c.m).w", 8),
    "handed over as arguments": (TREE + "c.w = 9\nr = (lambda w, n, p: w * n)(**c.m)", 81),
    "a whole node": (made("{'b': {'l': [1, 2]}, 'm': '${b}', 'x': '${m.l[1]}'}") + "r = [c.m.l, c.x]", [[1, 2], 2]),
    "a name that is chosen": (made("{'k': 'a', 'of': {'a': 3, 'b': 4}, 'x': '${of.${k}}'}") + "c.k = 'b'\nr = c.x", 4),
    "in a list": (made("{'w': 4, 'l': ['${w}', {'z': '${w}'}]}") + "c.w = 6\nr = [c.l[0], c.l[1].z]", [6, 6]),
    "a resolver": (MUL + made("{'w': 8, 'x': '${mul:${w},3}'}") + "c.w = 2\nr = c.x", 6),
    "a resolver that comes later": (made("{'w': 8, 'x': '${next:${w}}'}") + NEXT + "r = c.x", 9),
    "arithmetic": (EVAL + made("{'w': 8, 'x': '${eval:\"${w} * 4 + 1\"}'}") + "r = c.x", 33),
    "a default": (made("{'x': '${oc.select:absent,7}'}") + "r = c.x", 7),
}


@pytest.mark.parametrize(("code", "wanted"), FOUND.values(), ids=FOUND)
def test_what_settings_stand_for(code: str, wanted: Any) -> None:
    assert plain(Ran(HEAD + code + "\n")["r"]) == wanted
