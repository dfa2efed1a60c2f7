"""jaxtyping: functions that check their arguments are the functions."""

from __future__ import annotations

from flake8_cnnmem.packages._type_checkers import decorator

MODULES = {"jaxtyping": {"jaxtyped": decorator("jaxtyped")}}
