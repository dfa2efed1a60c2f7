"""What an op says of its nature in a word or two: flake8_cnnmem/ops/base.py has what each means, and most answers."""

from __future__ import annotations

from typing import Protocol


class OpTraits(Protocol):
    """`kind` is the row of a framework's table of what training holds; the rest is the same in all frameworks."""

    @property
    def kind(self) -> str: ...

    @property
    def view(self) -> bool: ...

    @property
    def in_place(self) -> bool: ...

    @property
    def idle(self) -> bool: ...

    @property
    def hands_on(self) -> bool: ...

    @property
    def random(self) -> bool: ...

    @property
    def batch_axis(self) -> int: ...

    @property
    def like_input(self) -> bool: ...

    @property
    def casts(self) -> bool: ...

    @property
    def keeps_dtype(self) -> bool: ...

    @property
    def layout_asked(self) -> str: ...

    @property
    def cuts_gradient(self) -> bool: ...

    @property
    def writes_part(self) -> bool: ...

    @property
    def rebases(self) -> bool: ...

    @property
    def looks_up(self) -> bool: ...

    @property
    def volume(self) -> str: ...

    @property
    def multiplies(self) -> bool: ...

    @property
    def multiplies_back(self) -> bool: ...

    @property
    def product(self) -> str: ...

    @property
    def convolves(self) -> bool: ...

    @property
    def pools_powers(self) -> bool: ...

    @property
    def complex_within(self) -> bool: ...

    @property
    def adds_bias(self) -> bool: ...

    @property
    def repeats(self) -> str: ...

    @property
    def declares(self) -> bool: ...
