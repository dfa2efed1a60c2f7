"""enum: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "enum": """
from enum import Enum, IntEnum, Flag, auto, unique
class C(Enum):
    RED = 1
    GREEN = "g"
    ALSO = 1
    def describe(self): return self.name.lower()
    @classmethod
    def default(cls): return cls.GREEN
    @property
    def twice(self): return self.value * 2
class I(IntEnum):
    A = 1
    B = 2
class S(str, Enum):
    X = "x"
    Y = "y"
class U(Enum):
    A = auto()
    B = auto()
class P(Enum):
    E = (1, 2.5)
    F = (2, 3.5)
    def __init__(self, a, b): self.a = a; self.b = b
class N(Enum):
    def __new__(cls, v, label):
        o = object.__new__(cls); o._value_ = v; o.label = label; return o
    ONE = 1, "one"
class T(str, Enum):
    def __new__(cls, v, doc):
        o = str.__new__(cls, v); o._value_ = v; o.doc = doc; return o
    Q = "q", "docs"
class G(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    LEFT = auto()
result = (
    C.RED.value, C.RED.name, C("g").name, C["RED"] is C.RED, C(1) is C.RED, C.ALSO is C.RED,
    [c.name for c in C], len(C), C.RED.describe(), C.default().name, C.RED.twice, C.RED == C.RED, C.RED == 1,
    C.RED != C.GREEN, C.RED in C, I.A + 1, I.A < I.B, I.A == 1, [0, 5, 6][I.B], S.X == "x", S.X + "z",
    S("y") is S.Y, {S.X: 1}["x"], {"x": 2}[S.X], {C.RED: 3}[C.RED], U.B.value, P.F.a, P.E.b, N.ONE.label,
    N.ONE.value, N(1) is N.ONE, T.Q.doc, T.Q == "q", G.LEFT.value, isinstance(C.RED, C), isinstance(S.X, str),
    list(C.__members__), str(C.RED), repr(C.RED), f"{S.X.value}", type(C.RED) is C, C.__name__,
    hasattr(C, "BLUE"), bool(C.RED), sorted(I), max(I).name
)
""",
    "enum wrong": """
from enum import Enum
class C(Enum):
    A = 1
result = C(5)
""",
    "enum wrong name": """
from enum import Enum
class C(Enum):
    A = 1
result = C["Z"]
""",
    "enum functional": """
from enum import Enum
C = Enum("C", "RED GREEN"); D = Enum("D", {"a": 5}); result = C.GREEN.value, [c.name for c in C], D.a.value
""",
    "enum missing": """
from enum import Enum
class C(Enum):
    A = "a"
    @classmethod
    def _missing_(cls, value): return cls.A
result = C("zzz") is C.A
""",
    "flag": """
from enum import Flag, IntFlag, auto
class F(Flag):
    A = auto()
    B = auto()
    C = auto()
class G(IntFlag):
    X = 1
    Y = 4
ab = F.A | F.B
result = (
    F.C.value, ab.value, F.A in ab, F.C in ab, bool(ab & F.C), (~F.A).value, (G.X | G.Y).value, G.X | 4 == 5,
    bool(F.A & F.B), G.X + 1
)
""",
    "weights enum": """
from dataclasses import dataclass
from enum import Enum
from functools import partial
@dataclass
class Weights:
    url: str
    meta: dict
class WeightsEnum(Enum):
    @classmethod
    def verify(cls, obj):
        if isinstance(obj, str):
            obj = cls[obj.replace(cls.__name__ + ".", "")]
        return obj
    @property
    def url(self): return self.value.url
    @property
    def meta(self): return self.value.meta
class R(WeightsEnum):
    V1 = Weights(url="u1", meta={"n": 10})
    V2 = Weights(url="u2", meta={"n": 20})
    DEFAULT = V2
result = (
    R.V1.meta["n"], R.DEFAULT is R.V2, R.DEFAULT.url, R.verify("R.V1") is R.V1, R.verify(None),
    [m.name for m in R], R.V1.value.url
)
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
