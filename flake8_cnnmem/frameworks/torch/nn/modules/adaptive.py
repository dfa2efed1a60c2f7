"""torch.nn.AdaptiveLogSoftmaxWithLoss."""

from __future__ import annotations

from flake8_cnnmem.dims import Size, add, subtract
from flake8_cnnmem.frameworks.torch.arguments import size
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.layer import composite
from flake8_cnnmem.frameworks.torch.nn.modules.container import MODULE_LIST, SEQUENTIAL
from flake8_cnnmem.frameworks.torch.nn.modules.linear import Linear
from flake8_cnnmem.frameworks.torch.nn.modules.module import set_attribute
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


def forward(run: Runtime, self: Instance, input: Value, target: Value) -> Value:
    """(output, loss): the head over all samples; how many samples reach each tail depends on the data."""
    head = unary(run, "log_softmax", run.call(attribute(run, self, "head"), input))
    output = reduce(run, "max", head, 1)
    return output, reduce(run, "mean", output)


@composite("adaptive", forward=forward)
def AdaptiveLogSoftmaxWithLoss(
    run: Runtime, self: Instance, in_features: Value, n_classes: Value, cutoffs: Value, div_value: Value = 4.0,
    head_bias: Value = False, device: Value = None, dtype: Value = None,
) -> None:  # fmt: skip
    """A head over the frequent classes and the clusters, and two linear layers for each cluster."""
    edges = run.items(cutoffs)
    if isinstance(edges, Unknown):
        set_attribute(run, self, "head", edges)
        return
    width, edges = size(in_features), [*edges, n_classes]
    clusters = len(edges) - 1
    head = run.construct(Linear, width, add(size(edges[0]), clusters), bias=head_bias)
    tails = []
    for at in range(clusters):
        narrow: Size = run.unknown("a tail's width is not known")
        if isinstance(width, int) and isinstance(div_value, (int, float)):
            narrow = int(width // (div_value ** (at + 1)))
        first = run.construct(Linear, width, narrow, bias=False)
        second = run.construct(Linear, narrow, subtract(size(edges[at + 1]), size(edges[at])), bias=False)
        tails.append(run.construct(SEQUENTIAL, first, second))
    self.attributes.update(in_features=width, n_classes=n_classes, cutoffs=edges, n_clusters=clusters)
    set_attribute(run, self, "head", head)
    set_attribute(run, self, "tail", run.construct(MODULE_LIST, tails))
