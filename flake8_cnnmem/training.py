"""The facts of training: batch size, input shape, optimizer, dtype, each with the evidence it rests on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Generic, TypeVar

from flake8_cnnmem.lazy_dataclass import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact(Generic[T]):
    """A value and where it was found: "directive", "train.py:41", "the model's Linear layers", "option", "default".

    `passed_over` is other evidence that was found and not taken: (the value as text, where it was found).
    """

    value: T
    source: str
    passed_over: tuple[tuple[str, str], ...] = ()
    find: Callable[[], str] | None = field(default=None, repr=False, compare=False)
    """Looks for where the value is written."""

    @property
    def in_code(self) -> bool:
        """Whether a line of the code states it."""
        return self.source.rpartition(":")[2].isdigit()

    @property
    def written(self) -> str:
        """Where the value is written that the code uses at `source`: "configs/default.yaml:4"; empty where it is there,
        and where that is not known."""
        return self.find() if self.find is not None else ""

    @property
    def place(self) -> str:
        """Where somebody would change it."""
        return self.written or self.source


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
    """One training step of one device. `input_shape` is without the batch, in the framework's own order; None where
    unknown. `batch_size` is what the device gets of the batch that the program draws, which `devices` share."""

    batch_size: Fact[int]
    dtype: Fact[str]
    optimizer: Fact[Optimizer]
    input_shape: Fact[tuple[int | None, ...]] | None = None
    loss: Fact[str] = field(default_factory=lambda: Fact("cross_entropy", "default"))
    losses: tuple[str, ...] = ()
    """What a framework's own trainer takes of the outputs: the loss of each, "" for none, or one for all of them;
    nothing where the step is the code's own."""
    devices: int = 1
    whole: Fact[int] | None = None
    """The batch that the program draws, where several devices share it."""

    @property
    def drawn(self) -> Fact[int]:
        """The batch that the program draws."""
        return self.batch_size if self.whole is None else self.whole

    @property
    def batch_words(self) -> str:
        """`128`, `128 over 4 devices`."""
        return f"{self.drawn.value} over {self.devices} devices" if self.whole is not None else f"{self.drawn.value}"

    def over(self, devices: int) -> Training:
        """The same where so many devices share each batch: what is estimated is one of them, that gets most."""
        if devices < 2:
            return self
        drawn = self.batch_size
        share = Fact(-(-drawn.value // devices), drawn.source)
        return replace(self, batch_size=share, devices=devices, whole=drawn)

    def found_by(
        self,
        batch: Callable[[], str] | None,
        shape: Callable[[], str] | None,
        optimizer: Callable[[], str] | None,
        dtype: Callable[[], str] | None,
    ) -> Training:
        """The same, with what looks for where its facts are written; of the batch that of the program's own."""
        whole, share, given = self.whole, self.batch_size, self.input_shape
        if whole is not None:
            whole = replace(whole, find=batch)
        else:
            share = replace(share, find=batch)
        return replace(
            self,
            whole=whole,
            batch_size=share,
            input_shape=None if given is None else replace(given, find=shape),
            optimizer=replace(self.optimizer, find=optimizer),
            dtype=replace(self.dtype, find=dtype),
        )

    def at_batch(self, batch: int) -> Training:
        """The same step on a batch of another size."""
        return replace(self, batch_size=Fact(batch, self.batch_size.source))

    def as_part(self, before: Training, now: Training) -> Training:
        """Of one of several models that are trained together: the same where the whole training, `before`, is changed
        to `now`. Real and made samples joined are twice the batch, however large that is."""
        batch = self.batch_size
        if now.batch_size.value != before.batch_size.value:
            batch = Fact(max(1, batch.value * now.batch_size.value // before.batch_size.value), now.batch_size.source)
        return replace(self, batch_size=batch, dtype=now.dtype)
