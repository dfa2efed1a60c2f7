"""torch.nn.functional.gumbel_softmax, in the ops that PyTorch writes it in (torch/nn/functional.py)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.functions.creation import born, like
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.joining import Written
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Value


def gumbel_softmax(run: Runtime, logits: Value, hard: Value = False, dim: Value = -1) -> Value:
    """The softmax of the logits with noise added, divided by a temperature. The noise is a logarithm, which autocast
    takes in float32. `hard` puts ones in the place of the largest values: they are written into zeros, less the values,
    which are cut off, and the values again, so that the gradient is theirs. Where `hard` is not known, nor is what it
    keeps."""
    noise = unary(run, "neg", unary(run, "log", unary(run, "noise", logits, "exponential_")))
    scaled = unary(run, "scale", run.operate("+", logits, noise), "div")
    # The name of the noise is given to what it becomes.
    run.let_go(noise)
    values = unary(run, "softmax", scaled)
    if hard not in (True, False) or not isinstance(values, Tensor):
        return unary(run, "straight_through", values, "gumbel_softmax")
    if hard is False:
        run.let_go(scaled)
        return values
    found = reduce(run, "max", values, dim, True, results=2)
    if not isinstance(found, (tuple, list)):
        return found
    ones = apply(run, Written("scatter", True), born(run, like(logits, 0)), found[1], function="scatter_")
    result = binary(run, "+", binary(run, "-", ones, unary(run, "detach", values)), values)
    # Its variables hold them until it returns.
    run.let_go(scaled, found[1], ones)
    return result
