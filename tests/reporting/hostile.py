"""Names as nobody would choose them, except to see what a report makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flake8_cnnmem.results import ModelReport, Part, Remedy, Row
from flake8_cnnmem.training import Fact, Training
from flake8_cnnmem.unknown import Unknown

NAMES = {
    "a script tag": "</script><script>alert(1)</script>",
    "a comment": "<!--<script>",
    "a picture with a handler": '"><img src=x onerror=alert(1)>',
    "quotes": 'it\'s "so" `quoted`',
    "a table's bars": "a|b\\|c\\\\|d",
    "emphasis": "**bold** __init__ _x_ ~~gone~~",
    "a link": "[here](https://example.org) https://example.org www.example.org",
    "a mention": "@someone #1",
    "lines": "first\nsecond\r\n::error::third\n| x | y |\n",
    "percents and commas": "100%,a:b%0A::error::x",
    "entities": "&lt;b&gt; &#60;b&#62; &amp;",
    "placeholders": "{0} {1} ${x} {{y}}",
    "line separators": "a\u2028b\u2029c\u0085d",
    "surrogates": "a\udc80b",
    "right to left": "\u202egnp.exe",
    "nulls": "a\x00b\x1b[31mc",
    "a constructor": "__proto__",
}


def report_named(name: str, make_report: Callable[..., ModelReport]) -> ModelReport:
    """A report in which everything that somebody's code can name is named so."""
    report = make_report()
    training: Training = replace(
        report.training, batch_size=Fact(64, f"{name}.py:41", ((name, name),)), input_shape=Fact((3, 8, 8), name)
    )
    return replace(
        report,
        name=name,
        target=name,
        path=f"models/{name}.py",
        status="lower-bound",
        causes=(Unknown(f"nobody gives {name}", f"{name}.py", 3),),
        training=training,
        rows=tuple(Row(f"{name}.{row.name}.{name}", name, *_rest(row)) for row in report.rows),
        remedies=(Remedy(f"checkpointing {name}", 1024, True),),
        parts=(Part(name, f"{name}.py", 1, 1, 10, 10, (3, 8, 8)),),
    )


def _rest(row: Row) -> tuple[int, tuple[int | None, ...], int, int, int]:
    return row.line, row.output_shape, row.parameters, row.activations, row.bytes
