"""torch_geometric: message passing is read from its source.

Its layers write a module of Python from a template when they are made, which spells `propagate` out for TorchScript.
What it computes is what the method of the source computes, which is taken where no template can be filled in (the
`except` around it, torch_geometric/nn/conv/message_passing.py).
"""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Native, Value


def not_written(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    """`module_from_template`: nothing is written here."""
    raise run.error("OSError", "no module is written")


PLACED: dict[str, dict[str, Value]] = {
    module: {"module_from_template": Native("module_from_template", not_written, propagate_unknown=False)}
    for module in ("torch_geometric.nn.conv.message_passing", "torch_geometric.nn.sequential")
}
