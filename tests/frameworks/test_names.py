"""Every public name of a framework's namespaces is followed, or known to exist and not followed; no other one is there.

Names as they were measured with the frameworks (fixtures/truth/names.json).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Namespace
from tests.frameworks.torch.code import Ran

TRUTH = json.loads((Path(__file__).parents[2] / "fixtures" / "truth" / "names.json").read_text())
NAMESPACES = sorted(TRUTH["names"])
ARRAYS = {"torch.Tensor": ("torch", "of a tensor"), "jax.Array": ("flax", "of an array")}
MODULES = [name for name in NAMESPACES if name not in ARRAYS]
LEAST = {
    "keras.layers": 160, "keras.ops": 200, "torch": 500, "torch.Tensor": 450, "torch.fft": 15, "torch.linalg": 19,
    "torch.nn": 160, "torch.optim": 17, "torch.nn.modules.activation": 33, "torch.nn.functional": 125,
    "torch.special": 14, "flax.linen": 82, "flax.nnx": 85, "jax": 25,
    "jax.Array": 35, "jax.lax": 57, "jax.nn": 32, "jax.nn.initializers": 19, "jax.numpy": 190, "jax.random": 25,
    "optax": 95,
}  # fmt: skip
"""So many names are followed at least."""


def found(dotted: str, name: str) -> Any:
    """What code gets that asks for a name."""
    run = Interpreter([], strict=True)
    if dotted in ARRAYS:
        framework = ARRAYS[dotted][0]
        return frameworks.named(framework).get(run, Tensor((2, 3), framework=framework), name)
    module = frameworks.find_module(dotted)
    assert isinstance(module, Namespace)
    return run.find(module, name)


@pytest.mark.parametrize("dotted", NAMESPACES)
def test_every_name_is_followed_or_a_cause_of_its_own(dotted: str) -> None:
    owner = ARRAYS[dotted][1] if dotted in ARRAYS else f"{dotted}."
    followed = 0
    for name in TRUTH["names"][dotted]:
        value = found(dotted, name)
        assert value is not MISSING, name
        not_followed = isinstance(value, Unknown) and value.reason.endswith(" is not followed")
        followed += not not_followed
        if not_followed:
            assert owner in value.reason
            assert name in value.reason
    assert followed >= LEAST[dotted], followed


@pytest.mark.parametrize("dotted", NAMESPACES)
@pytest.mark.parametrize("name", ["wavelet", "Wavelet2d", "relu_relu", "conv2D"])
def test_any_other_name_is_missing(dotted: str, name: str) -> None:
    assert found(dotted, name) is MISSING


@pytest.mark.parametrize(
    ("dotted", "elsewhere"),
    [
        ("torch.special", "relu"),
        ("torch.linalg", "matmul_"),
        ("torch", "sign_"),
        ("torch.nn", "DistributedDataParallel"),
        ("torch.Tensor", "atleast_1d"),
        ("keras.ops", "rgb_to_grayscale"),
        ("keras.layers", "Conv4D"),
    ],
)
def test_what_is_followed_elsewhere_is_not_lent_out(dotted: str, elsewhere: str) -> None:
    assert found(dotted, elsewhere) is MISSING


@pytest.mark.parametrize("dotted", MODULES)
def test_the_package_has_the_names_that_were_measured(dotted: str) -> None:
    module = frameworks.find_module(dotted)
    assert module is not None
    assert module.holds is not None
    assert all(module.holds(name) for name in TRUTH["names"][dotted])
    assert all(module.holds(name) for name in TRUTH["older"].get(dotted, ()))


CODE = """\
import torch
import torch.nn.functional as F

there = hasattr(torch, "igamma"), hasattr(F, "scaled_dot_product_attention")
absent = hasattr(torch, "igamma2d"), hasattr(torch.rand(2), "relu_relu")
try:
    F.wavelet(1)
except AttributeError as error:
    said = str(error)
try:
    from torch.nn import Wavelet2d
except ImportError:
    Wavelet2d = None
cause = torch.igamma(torch.rand(2), torch.rand(2))
"""


def test_code_that_asks_for_a_name_gets_the_frameworks_answer() -> None:
    ran = Ran(CODE)
    assert ran["there"] == (True, True)
    assert ran["absent"] == (False, False)
    assert ran["said"] == "module 'torch.nn.functional' has no attribute 'wavelet'"
    assert ran["Wavelet2d"] is None
    assert ran["cause"] == Unknown("torch.igamma is not followed", "code.py", 14)
