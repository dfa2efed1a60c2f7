"""Every function of a framework's stubs can be called: what its decorator names is there and takes what it is given."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem.frameworks.keras.ops import operations
from flake8_cnnmem.frameworks.signatures import MARKS, Stub
from flake8_cnnmem.frameworks.torch.registry import STUBS as TORCH

STUBS: dict[str, Stub] = {f"torch.{name}": stub for name, stub in TORCH.items()}
STUBS |= {
    f"keras.{Path(each.stub.path).stem}": each.stub for each in (operations.OPS, operations.RANDOM, operations.IMAGE)
}
FUNCTIONS = [(where, name) for where, stub in STUBS.items() for name in stub]


def called(stub: Stub, name: str) -> tuple[Callable[..., Any], list[Any]]:
    """A function of a stub whose computation only looks at its arguments, and what such calls came to."""
    function = stub.compiled(name)
    computation = function.__globals__["_computation"]
    taken: list[Any] = []

    def computing(*args: Any, **kwargs: Any) -> None:
        inspect.signature(computation).bind(*args, **kwargs)
        taken.append(computation)

    function.__globals__.update(_computation=computing, _apply=lambda run, op, *inputs, function: taken.append(inputs))
    return function, taken


@pytest.mark.parametrize(("where", "name"), FUNCTIONS)
def test_a_function_gives_its_computation_what_that_takes(where: str, name: str) -> None:
    function, taken = called(STUBS[where], name)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    required = [
        1
        for each in parameters
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    function(None, *required)
    assert taken


@pytest.mark.parametrize("where", STUBS)
def test_a_stub_has_each_name_once(where: str) -> None:
    text = STUBS[where].text
    tree = ast.parse(text)
    named = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    named += [
        node.targets[0].id for node in tree.body if isinstance(node, ast.Assign) and hasattr(node.targets[0], "id")
    ]
    assert sorted(named) == sorted(STUBS[where])


@pytest.mark.parametrize("where", STUBS)
def test_a_function_has_one_record(where: str) -> None:
    """Beside marks, one decorator at most."""
    for node in ast.parse(STUBS[where].text).body:
        if isinstance(node, ast.FunctionDef):
            records = [each for each in node.decorator_list if ast.unparse(each) not in MARKS]
            assert len(records) <= 1, node.name


def test_a_name_that_a_stub_does_not_import_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "torch.pyi"
    path.write_text("from torch import Tensor\n\n@nobody\ndef f(input: Tensor) -> Tensor: ...\n")
    with pytest.raises(KeyError, match="nobody"):
        Stub(str(path), print).compiled("f")


def test_a_function_is_both_in_a_stub_and_defined_never() -> None:
    from flake8_cnnmem.frameworks.torch.registry import define

    with pytest.raises(TypeError, match="is defined, and has a stub"):
        define("torch.relu")(lambda run, input: input)


def test_an_attribute_of_a_tensor_is_no_method() -> None:
    from flake8_cnnmem.frameworks.torch import registry, tensors

    assert not set(tensors.ATTRIBUTES) & set(registry.METHODS)
