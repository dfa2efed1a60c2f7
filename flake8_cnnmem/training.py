"""The facts of training: batch size, input shape, optimizer, dtype, each with the evidence it rests on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """A value and where it was found: "directive", "train.py:41", "the model's Linear layers", "option", "default".

    `passed_over` is other evidence that was found and not taken: (the value as text, where it was found).
    """

    value: T
    source: str
    passed_over: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Optimizer:
    """An optimizer by its lower-case name ("sgd", "momentum", "adam", "adamw", "rmsprop", ...) and the options
    that change its state or its step: {"amsgrad": True}, {"centered": True}, {"momentum": 0.9}, {"foreach": False}."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    own: Any = field(default=None, compare=False)
    """A `frameworks.updates.Update` where its code was followed; None where a table of optimizers knows it by name."""
    known: bool = True
    """False where all that is known is that there is one."""

    def __str__(self) -> str:
        """`adam`, `adam with amsgrad`: the name, and those options that add to its state."""
        more = [name for name, value in self.options if name in ("amsgrad", "centered", "momentum") and value]
        more = [name for name in more if name != self.name]
        return f"{self.name} with {' and '.join(more)}" if more else self.name


@dataclass(frozen=True, slots=True)
class Training:
    """One training step. `input_shape` is without the batch, in the framework's own order; None where unknown."""

    batch_size: Fact[int]
    dtype: Fact[str]
    optimizer: Fact[Optimizer]
    input_shape: Fact[tuple[int | None, ...]] | None = None
    loss: Fact[str] = field(default_factory=lambda: Fact("cross_entropy", "default"))

    def at_batch(self, batch: int) -> Training:
        """The same step on a batch of another size."""
        return replace(self, batch_size=Fact(batch, self.batch_size.source))
