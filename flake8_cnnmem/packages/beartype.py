"""beartype: functions that check their arguments are the functions."""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib import typing
from flake8_cnnmem.packages._type_checkers import decorator

MODULES = {
    "beartype": {"beartype": decorator("beartype")},
    "beartype.typing": typing.names,
    "beartype.door": {},
    "beartype.vale": {},
}
