"""dataclasses: `result` must be what Python itself leaves in it."""

from __future__ import annotations

import pytest

from tests.evaluate.programs import interpreted, real

PROGRAMS = {
    "dataclass": """
from dataclasses import dataclass, field, fields, replace, asdict, astuple, is_dataclass, InitVar, KW_ONLY
from typing import ClassVar, List, Optional
@dataclass
class A:
    x: int
    y: List[int] = field(default_factory=list)
    z: ClassVar[int] = 5
    w: Optional[str] = None
@dataclass
class B(A):
    k: float = 1.5
    def __post_init__(self): self.total = self.x + self.k
@dataclass(frozen=True, order=True)
class F:
    a: int = 1
    b: int = 2
@dataclass
class I:
    n: int
    scale: InitVar[int] = 3
    v: int = field(init=False, default=0, repr=False)
    def __post_init__(self, scale): self.v = self.n * scale
@dataclass(kw_only=True)
class K:
    q: int
    r: int = 0
@dataclass
class O:
    a: int
    _: KW_ONLY
    b: int = 3
a = A(1); a2 = A(2); a.y.append(7); b = B(1, k=2.0)
result = (
    a, a2.y, b.total, b, A(1) == A(1), A(1) == A(2), replace(a, x=9), asdict(b), astuple(F()),
    [f.name for f in fields(B)], is_dataclass(A), is_dataclass(3), F(1) < F(2), I(2).v, I(2), K(q=1),
    O(1, b=2), A.z, A.w, F(a=5), repr(I(1)), fields(A)[0].name, [F(2), F(1)] == [F(2), F(1)],
    sorted([F(2), F(1)]), B.__dataclass_fields__["k"].default
)
""",
    "dataclass frozen": """
from dataclasses import dataclass
@dataclass(frozen=True)
class F:
    a: int = 1
try: F().a = 2
except AttributeError as e: result = str(e)
""",
    "dataclass missing": """
from dataclasses import dataclass
@dataclass
class F:
    a: int
result = F()
""",
    "dataclass too many": """
from dataclasses import dataclass
@dataclass
class F:
    a: int
result = F(1, 2)
""",
    "dataclass order of defaults": """
from dataclasses import dataclass
@dataclass
class F:
    a: int = 1
    b: int
result = F(1, 2)
""",
    "dataclass own init": """
from dataclasses import dataclass
@dataclass
class A:
    x: int = 1
    def double(self): return self.x * 2
    @property
    def prop(self): return self.x + 1
    @classmethod
    def make(cls, **k): return cls(**k)
class B(A):
    pass
result = A.make(x=4).double(), A().prop, B(3).double(), B(2), A.x
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_ends_as_in_python(program: str) -> None:
    assert repr(interpreted(program)) == repr(real(program))
