"""Stubs that a project writes for modules without Python source, and kernels that fill tensors unseen.

fixtures/truth/kernels.json is measured by tests/oracle/measure_programs.py, where the extensions that the stubs
describe are functions of tests/oracle/extensions which ask for the memory that such kernels ask for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.cli import main
from flake8_cnnmem.results import FileReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.stubs import saves
from flake8_cnnmem.stubs.reading import BadStub, read_stub
from flake8_cnnmem.stubs.shapes import BadShape, Pattern

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
EXTENSIONS = Path(__file__).resolve().parent / "oracle" / "extensions"
PROGRAMS = {
    each["program"]: each["phases"]
    for each in json.loads((FIXTURES / "truth" / "kernels.json").read_text())["programs"]
}

CLOSE = 0.001
"""What a figure may be off, as a fraction: blocks are rounded up to 512 bytes here, and are not in the truth."""

NUMBERS = 1024
"""The same in bytes for the single numbers that a way back begins with, and that the weights of classes add up to."""


def trained(program: str, **settings: Any) -> list[tuple[str, int]]:
    """The state and the bytes of each training of a program."""
    path = FIXTURES / program
    report = analyse(Source(str(path), path.read_text()), Settings(**settings))
    return [(each.status, each.estimate.total) for each in report.reports if each.estimate is not None]


def wanted(program: str) -> list[int]:
    return [phase["requested_peak"] - phase["workspaces"] for phase in PROGRAMS[program]]


@pytest.mark.parametrize("program", [name for name in PROGRAMS if name.startswith("kernels/")])
def test_a_program_asks_for_what_pytorch_was_asked_for(program: str) -> None:
    agree(trained(program), wanted(program))


def test_what_a_stub_describes_takes_what_the_extension_takes() -> None:
    agree(trained("stubs/train.py", stubs=str(FIXTURES / "stubs" / "stubs")), wanted("stubs/train.py"))


def test_so_does_the_extension_where_its_source_is_python() -> None:
    """Functions that make their results with torch.empty, as code does whose kernels are loaded from elsewhere."""
    agree(trained("stubs/train.py", search_path=(str(EXTENSIONS),)), wanted("stubs/train.py"))


def agree(found: list[tuple[str, int]], truth: list[int]) -> None:
    assert [status for status, _ in found] == ["exact"] * len(truth)
    for (_, total), figure in zip(found, truth, strict=True):
        assert abs(total - figure) < CLOSE * figure + NUMBERS


HEAD = """
from typing import Literal, overload
from jaxtyping import Bool, Float, Float32, Int
from torch import Tensor
from torch.nn import Module, Parameter
from flake8_cnnmem.stubs import saves
"""

STUB = (
    HEAD
    + """
@saves("x", "result")
def pool(x: Float[Tensor, "n c h w"], size: int = 2) -> Float[Tensor, "n c h//{size} w//{size}"]: ...
@saves()
def split(x: Float[Tensor, "n 2*c"]) -> tuple[Float[Tensor, "n {half}"], Bool[Tensor, "n"]]: ...
def unsaid(x: Float[Tensor, "n c"], weight: Float[Tensor, "d c"]) -> Float[Tensor, "n d"]: ...
@saves()
def rows(
    x: Float[Tensor, "*batch c"], other: Float[Tensor, "*batch d"] | None = None
) -> Float[Tensor, "*batch c+1"]: ...
@overload
@saves()
def either(x: Float[Tensor, "n c"], both: Literal[True]) -> tuple[Float[Tensor, "n c"], Int[Tensor, "n"]]: ...
@overload
@saves()
def either(x: Float[Tensor, "n c"], both: Literal[False] = False) -> Float[Tensor, "n c"]: ...
def count(x: Tensor) -> int: ...
@saves("ids")
def lookup(ids: Int[Tensor, "n"], table: Float[Tensor, "v d"]) -> Float[Tensor, "n d"]: ...
class Scale(Module):
    weight: Float[Parameter, "{width}"]
    bias: Float[Parameter, "{width}"] | None
    def __init__(self, width: int, bias: bool = True) -> None: ...
    @saves("x")
    def forward(self, x: Float[Tensor, "... {width}"]) -> Float[Tensor, "n"]: ...
""".replace('def split(x: Float[Tensor, "n 2*c"])', 'def split(x: Float[Tensor, "n c"], half: int = 3)').replace(
        'def forward(self, x: Float[Tensor, "... {width}"]) -> Float[Tensor, "n"]',
        'def forward(self, x: Float[Tensor, "*n {width}"]) -> Float[Tensor, "*n {width}"]',
    )
)


def reported(tmp_path: Path, body: str, shape: str = "8, 6", stub: str = STUB) -> FileReport:
    (tmp_path / "stubs").mkdir(exist_ok=True)
    (tmp_path / "stubs" / "fast.pyi").write_text(stub)
    code = f"""
import torch, fast
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
        self.scale = fast.Scale(6, bias=False)
    def forward(self, x):
        x = self.first(x)
        {body}
Net()(torch.zeros({shape}))
"""
    path = tmp_path / "net.py"
    path.write_text(code)
    return analyse(Source(str(path), code), Settings(stubs=str(tmp_path / "stubs")))


@pytest.mark.parametrize(
    ("body", "shape", "given"),
    [
        ("return fast.pool(x[:, :, None, None].expand(-1, -1, 8, 10))", "8, 6", "(N, 6, 4, 5)"),
        ("return fast.pool(x[:, :, None, None].expand(-1, -1, 8, 10), size=4)", "8, 6", "(N, 6, 2, 2)"),
        ("return fast.split(x)[0]", "8, 6", "(N, 3)"),
        ("return fast.split(x, half=2)[0]", "8, 6", "(N, 2)"),
        ("return fast.rows(x)", "8, 4, 6", "(N, 4, 7)"),
        ("return fast.rows(x, x)", "8, 6", "(N, 7)"),
        ("return fast.either(x)", "8, 6", "(N, 6)"),
        ("return fast.either(x, True)[1]", "8, 6", "(N,)"),
        ("return self.scale(x)", "8, 6", "(N, 6)"),
    ],
)  # fmt: skip
def test_a_result_has_the_shape_that_its_stub_says(tmp_path: Path, body: str, shape: str, given: str) -> None:
    (report,) = reported(tmp_path, body, shape).reports
    assert report.status == "exact"
    assert report.model is not None
    assert report.model.calls[-1].outputs[-1 if "[1]" in body else 0].__repr__() == f"<Tensor {given}>"


def test_a_layer_of_a_stub_has_its_weights(tmp_path: Path) -> None:
    (report,) = reported(tmp_path, "return self.scale(x)").reports
    assert report.parameters == 6 * 6 + 6 + 6


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return fast.pool(x)", "takes x of (n c h w), but is given (N, 6)"),
        ("return fast.rows(x, x[:, None])", "takes other of (*batch d) with batch = (N,), but is given (N, 1, 6)"),
        ("return self.scale(x[:, :4])", "takes x of (*n {width}) with {width} = 6, but is given (N, 4)"),
        ("return fast.unsaid(x, torch.zeros(3, 5))", "takes weight of (d c) with c = 6, but is given (3, 5)"),
    ],
)  # fmt: skip
def test_a_size_that_cannot_be_right_is_a_finding(tmp_path: Path, body: str, message: str) -> None:
    (report,) = reported(tmp_path, body).reports
    assert [call.problem.what for call in report.problems if call.problem] == [message]


def test_without_saves_the_figure_is_a_lower_bound_that_names_it(tmp_path: Path) -> None:
    (report,) = reported(tmp_path, "return fast.unsaid(x, torch.zeros(3, 6))").reports
    assert report.status == "lower-bound"
    assert any("unsaid" in cause.reason for cause in report.causes)


def test_a_floating_result_behind_indices_is_floating(tmp_path: Path) -> None:
    body = "return fast.lookup(torch.zeros(x.shape[0], dtype=torch.int64), x)"
    (report,) = reported(tmp_path, body).reports
    assert report.model is not None
    assert report.model.calls[-1].outputs[0].dtype == report.model.calls[0].outputs[0].dtype


UNSIZED = """
import torch, extension
from torch import nn
class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        result, sums = torch.empty_like(x), torch.empty(extension.rows(x))
        extension.run(x, result, sums)
        ctx.save_for_backward(x, sums)
        return result
    @staticmethod
    def backward(ctx, gradient):
        return torch.empty_like(gradient)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(6, 6)
    def forward(self, x):
        return Scaled.apply(self.first(x))
Net()(torch.zeros(8, 6))
"""


def test_a_kernel_that_keeps_what_has_no_known_size_is_not_exact() -> None:
    (report,) = analyse(Source("net.py", UNSIZED), Settings()).reports
    assert report.status != "exact"


def test_what_is_no_tensor_is_not_known(tmp_path: Path) -> None:
    (report,) = reported(tmp_path, "return x.view(fast.count(x), 3)").reports
    assert report.status != "exact"


@pytest.mark.parametrize(
    ("stub", "line", "reason"),
    [
        ("def f(", 1, "does not parse"),
        ("for x in y: pass", 1, "a stub has imports"),
        ('\ndef f(x: Float[Tensor, "a b"]) -> Float[Tensor, "a c"]: ...', 2, "the size c of (a c)"),
        ('def f(x: Float[Tensor, "a"]) -> Float[Tensor, "{n}"]: ...', 1, "counts with n, which is no argument"),
        ('def f(x: Float[Tensor, "a/2"]) -> None: ...', 1, "is no size"),
        ('def f(x: Float[Tensor, "*a *b"]) -> None: ...', 1, "more than one axis that stands for several"),
        ("def f(x: Float[Tensor]) -> None: ...", 1, 'a tensor is Float[Tensor, "batch channels ..."]'),
        ('@saves("y")\ndef f(x: Tensor) -> Tensor: ...', 1, "saves names 'y'"),
        ('@saves("result[1]")\ndef f(x: Tensor) -> Tensor: ...', 1, "saves names 'result[1]'"),
        ("@saves\ndef f(x: Tensor) -> Tensor: ...", 1, "saves is called"),
        ("@cached\ndef f(x: Tensor) -> Tensor: ...", 2, "not cached"),
        ("def f(x=g()) -> None: ...", 1, "a default is"),
        ('class L(Module):\n    w: Float[Parameter, "{n}"]\n', 1, "which __init__ does not take"),
        ('class L(Module):\n    w: Float[Parameter, "n"]\n', 1, "is not an argument"),
        ("class L(Module):\n    w: Parameter\n", 2, "the shape of w is not said"),
        ("class L(Module):\n    def f(): ...\n", 2, "takes no self"),
    ],
)  # fmt: skip
def test_a_stub_that_makes_no_sense_is_an_error_with_its_line(
    tmp_path: Path, stub: str, line: int, reason: str
) -> None:
    path = tmp_path / "fast.pyi"
    path.write_text(stub)
    with pytest.raises(BadStub) as caught:
        read_stub(str(path), "fast", False)
    assert caught.value.line == line
    assert reason in caught.value.reason


def test_the_command_names_the_file_and_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "fast.pyi").write_text("\n\nwhile True: ...\n")
    assert main(["report", str(FIXTURES / "stubs" / "train.py"), "--stubs", str(tmp_path)]) == 2
    assert "fast.pyi:3: a stub has imports" in capsys.readouterr().err


@pytest.mark.parametrize("make", [False, True])
def test_a_folder_without_stubs_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str], make: bool) -> None:
    folder = tmp_path / "none"
    if make:
        folder.mkdir()
    assert main(["report", str(FIXTURES / "stubs" / "train.py"), "--stubs", str(folder)]) == 2
    assert ("holds no stub" if make else "is no folder") in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "sizes"),
    [("a b", (2, 3)), ("a 2*b", (2, 6)), ("a*b//2", (3,)), ("{k[1]} a", (5, 2)), ("*s 1", (7, 8, 1)), ("{n}-1", (3,))],
)
def test_patterns_count(text: str, sizes: tuple[int, ...]) -> None:
    found = Pattern(text).shape({"a": 2, "b": 3, "s": (7, 8)}, {"k": (4, 5), "n": 4})
    assert found == sizes


@pytest.mark.parametrize("text", ["a.b", "f(a)", "'a'", "a b)", "1.5"])
def test_what_the_notation_does_not_have_is_refused(text: str) -> None:
    with pytest.raises(BadShape):
        Pattern(text).axes  # noqa: B018 - raises


def test_the_decorator_changes_nothing() -> None:
    def function() -> int:
        return 3

    assert saves("x")(function) is function
