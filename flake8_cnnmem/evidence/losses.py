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
    name = next((name for name in each_of_compiled(loss) if name), None)
    return Statement(name, site) if name is not None else None


def each_of_compiled(loss: Value) -> tuple[str, ...]:
    """What `compile` is told to take of the outputs: the name of each one's loss, "" for none; a single one for all."""
    if isinstance(loss, dict):
        return tuple(map(name_of, loss.values()))
    if isinstance(loss, (list, tuple)):
        return tuple(map(name_of, loss))
    name = name_of(loss)
    return (name,) if name else ()


def name_of(loss: Value) -> str:
    """A loss by its name: a text, a loss object, a function; "" for none and for what has no name."""
    if isinstance(loss, str):
        return loss
    name = loss.cls.name if isinstance(loss, Instance) else getattr(loss, "name", None)
    return name if isinstance(name, str) else ""
