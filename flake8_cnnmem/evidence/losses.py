"""The loss: what a backward pass starts from, or what `compile` is told."""

from __future__ import annotations

from flake8_cnnmem.evidence.statement import Statement
from flake8_cnnmem.graph import Site, Tensor, calls_behind
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.values import Instance, Value


def of_tensor(loss: Tensor) -> Statement[str] | None:
    """The last loss function before a backward pass."""
    calls = [call for call in calls_behind([loss]) if isinstance(call.op, Loss)]
    return Statement(calls[-1].op.kind, calls[-1].site) if calls else None


def of_compiled(loss: Value, site: Site | None) -> Statement[str] | None:
    """`loss="mse"`, a loss object, a function; of several outputs' losses the first."""
    if isinstance(loss, dict):
        loss = next(iter(loss.values()), None)
    if isinstance(loss, (list, tuple)):
        loss = loss[0] if loss else None
    if isinstance(loss, str):
        return Statement(loss, site)
    name = loss.cls.name if isinstance(loss, Instance) else getattr(loss, "name", None)
    return Statement(name, site) if isinstance(name, str) else None
