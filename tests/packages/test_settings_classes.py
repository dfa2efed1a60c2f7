"""Settings that are classes of the program's own: what a script run without arguments works with, by what tyro 0.9,
pyrallis 0.3, simple_parsing 0.1, transformers 5.23, pydantic 2, attrs 25 and optuna 4 do."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

HEAD = """
from dataclasses import dataclass, field
@dataclass
class Inner:
    w: int = 4
@dataclass
class Args:
    b: int = 8
    name: str = "x"
    inner: Inner = field(default_factory=Inner)
@dataclass
class Data:
    path: str
    n: int = 3
"""

PROGRAMS: dict[str, tuple[str, object]] = {
    "tyro: a dataclass": ("import tyro\nargs = tyro.cli(Args)\nresult = args.b, args.inner.w", (8, 4)),
    "tyro: a function": ("import tyro\nresult = tyro.cli(lambda b=8: b)", 8),
    "tyro: an object for defaults": ("import tyro\nresult = tyro.cli(Args, default=Args(b=2)).b", 2),
    "simple_parsing": (
        ("from simple_parsing import ArgumentParser\np = ArgumentParser()\np.add_arguments(Args, dest='o')\n"
"p.add_argument('--z', default=3)\nargs = p.parse_args()\nresult = args.o.b, args.z"), (8, 3),
    ),
    "pyrallis: no file": ("import pyrallis\nresult = pyrallis.parse(config_class=Args).b", 8),
    "draccus: classes by a name": (
        ("import abc, draccus\n@dataclass\nclass Base(draccus.ChoiceRegistry, abc.ABC):\n    width: int = 4\n"
        "    @property\n    def type(self):\n        return self.get_choice_name(self.__class__)\n"
        "@Base.register_subclass('small')\n@dataclass\nclass Small(Base):\n    depth: int = 2\n"
        "class Other(draccus.ChoiceRegistry):\n    pass\nOther.register_subclass('x', int)\n"
        "made = Base.get_choice_class('small')(width=6)\n"
        "result = made.width, made.depth, made.type, list(Base.get_known_choices()), list(Other.get_known_choices())"),
        (6, 2, "small", ["small"], ["x"]),
    ),
    "draccus: a file": ("import draccus\na = draccus.parse(Args, 'own.yaml')\nresult = a.b, a.inner.w", (24, 6)),
    "transformers: without arguments": (
        ("from transformers import HfArgumentParser\n(d,) = HfArgumentParser(Data).parse_args_into_dataclasses()\n"
        "result = d.n"), 3,
    ),
    "transformers: a dict over two classes": (
        ("from transformers import HfArgumentParser, TrainingArguments\n"
        "found = {'path': 'p', 'per_device_train_batch_size': 5, 'save_steps': 2}\n"
        "d, t = HfArgumentParser((Data, TrainingArguments)).parse_dict(found)\n"
        "result = d.path, d.n, t.train_batch_size, t.save_steps"), ("p", 3, 5, 2),
    ),
    "transformers: a file": (
        ("from transformers import HfArgumentParser\na = HfArgumentParser(Args).parse_yaml_file('flat.yaml')[0]\n"
        "result = a.b, a.name"), (24, "x"),
    ),
    "transformers: a dataclass of TrainingArguments": (
        ("from transformers import TrainingArguments\n@dataclass\nclass Own(TrainingArguments):\n    extra: int = 1\n"
        "    per_device_train_batch_size: int = 6\na = Own('out', extra=4, fp16=True)\n"
        "result = a.extra, a.output_dir, a.train_batch_size, a.fp16, a.bf16"), (4, "out", 6, True, False),
    ),
    "pydantic": (
        ("from pydantic import BaseModel, Field\nclass M(BaseModel):\n    w: int = 4\nclass A(BaseModel):\n    b: int\n"
        "    c: int = Field(5, ge=1)\n    m: M = M()\n    l: list = Field(default_factory=list)\n"
        "class B(A):\n    b: int = '2'\na = A(b=3, m={'w': 7})\n"
        "c = a.copy(update={'b': 9})\n"
        "result = a.b, a.c, a.m.w, a.l, a.model_dump()['c'], A.model_validate({'b': 1}).b, c.b"),
        (3, 5, 7, [], 5, 1, 9),
    ),
    "attrs": (
        ("import attr\nfrom attrs import define\n@attr.s\nclass A:\n    b = attr.ib(default=8)\n"
        "    c = attr.ib(factory=list)\n@define\nclass B:\n    b: int = 8\n"
        "result = A().b, A(3).b, A().c, B(b=2).b, attr.asdict(A(5))['b'], attr.evolve(A(), b=1).b"),
        (8, 3, [], 2, 5, 1),
    ),
    "attrs: which names are fields, and what is hashable": (
        ("import attr\nfrom attrs import define, field\n@attr.s(eq=False, repr=False)\nclass A:\n    plain: int = 4\n"
        "    b: int = attr.ib(default=8)\n    def __attrs_post_init__(self):\n        self.c = self.b + self.plain\n"
        "@attr.s\nclass E:\n    b = attr.ib(default=1)\n@define\nclass M:\n    a: int = 1\n    b = field(default=2)\n"
        "@define\nclass F:\n    a: int = 1\n    b: int = field(default=2)\n"
        "def is_hashable(x):\n    try:\n        return bool({x})\n    except TypeError:\n        return False\n"
        "result = A(5).b, A(5).c, is_hashable(A()), is_hashable(E()), M(7).b, F(7).a"),
        (5, 9, True, False, 7, 7),
    ),
    "dacite, cattrs: by the types of the fields": (
        ("import dacite, cattrs\nfrom typing import Dict, List, Optional\n@dataclass\nclass C:\n    inner: Inner\n"
        "    many: List[Inner]\n    by: Dict[str, Inner]\n    maybe: Optional[Inner] = None\n"
        "raw = {'inner': {'w': 1}, 'many': [{'w': 2}], 'by': {'a': {'w': 3}}, 'maybe': {'w': 5}}\n"
        "c = dacite.from_dict(data_class=C, data=raw, config=dacite.Config(strict=True))\n"
        "d, e = cattrs.structure(raw, C), cattrs.structure(raw, C).maybe\n"
        "result = c.inner.w, c.many[0].w, c.by['a'].w, c.maybe.w, d.many[0].w, e.w"), (1, 2, 3, 5, 2, 5),
    ),
    "dataclasses_json": (
        ("from dataclasses_json import DataClassJsonMixin, dataclass_json\n@dataclass_json\n@dataclass\nclass C:\n"
        "    inner: Inner\n@dataclass\nclass D(DataClassJsonMixin):\n    inner: Inner\n"
        "result = C.from_dict({'inner': {'w': 1}}).inner.w, D.from_json('{\"inner\": {\"w\": 2}}').inner.w, "
        "C(Inner(3)).to_dict()['inner']['w']"), (1, 2, 3),
    ),
    "pydantic: by annotations": (
        ("from pydantic import BaseModel\nfrom typing import List, Optional\nclass M(BaseModel):\n    w: int = 4\n"
        "class A(BaseModel):\n    m: M\n    l: List[M]\n    o: Optional[M] = None\n    t: tuple[int, int] = (1, 2)\n"
        "a = A(m={'w': 7}, l=[{'w': 8}, M(w=9)], o={'w': 1}, t=[3, 4])\n"
        "result = a.m.w, a.l[0].w, a.l[1].w, a.o.w, a.t, A.model_validate({'m': {}, 'l': []}).m.w"),
        (7, 8, 9, 1, (3, 4), 4),
    ),
    "tyro: a dataclass within that has no default": (
        "import tyro\n@dataclass\nclass C:\n    inner: Inner\nresult = tyro.cli(C).inner.w", 4,
    ),
    "optuna: where there is no choice": (
        ("import optuna\nresult = []\ndef objective(trial):\n    result.append(trial.suggest_int('n', 3, 3))\n"
        "    result.append(trial.suggest_categorical('k', [8]))\n"
"optuna.create_study().optimize(objective, n_trials=9)"), [3, 8],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_settings_that_are_classes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.yaml").write_text("b: 24\ninner:\n  w: 6\n")
    (tmp_path / "flat.yaml").write_text("b: 24\n")
    monkeypatch.chdir(tmp_path)
    program, expected = PROGRAMS[name]
    assert Ran(HEAD + program)["result"] == expected


NOT_KNOWN = {
    "a field that has to be given": "import tyro\nresult = tyro.cli(Data).path",
    "a file that is not there": "import pyrallis\nresult = pyrallis.parse(Args, 'none.yaml').b",
    "what a trial suggests": "import optuna\nresult = []\n"
    "optuna.create_study().optimize(lambda t: result.append(t.suggest_int('n', 1, 3)), 3)\nresult = result[0]",
    "what a validator makes of a field": "from pydantic import BaseModel, field_validator\nclass A(BaseModel):\n"
    "    b: int = 1\n    @field_validator('b')\n    def twice(cls, v):\n        return 2 * v\nresult = A(b=3).b",
    "what a decorator that is not found makes of an argument": "from gone import define\n@define\nclass A:\n"
    "    b: int = 8\nresult = A(b=3).b",
    "what a base that is not found makes of an argument": "from gone import Base\nclass A(Base):\n    b: int = 8\n"
    "result = A(b=3).b",
}


@pytest.mark.parametrize("name", NOT_KNOWN)
def test_nothing_of_settings_is_guessed(name: str) -> None:
    assert isinstance(Ran(HEAD + NOT_KNOWN[name])["result"], Unknown)
