"""The report as a page: one file with everything in it, which opens without a network.

The page's own parts lie in `page/`; the chart of the step is drawn by plotly's library, which comes with the extra
`html`. What the page shows is data in it, in elements that no browser runs, and so is the library: both are packed, as
they are most of the page. Scripts are named by their hashes in the page's content security policy, which allows nothing
else to run and nothing to be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

import flake8_cnnmem
from flake8_cnnmem.finding import one_line
from flake8_cnnmem.reporting import MissingExtra
from flake8_cnnmem.reporting.html_data import index_entry, model_data
from flake8_cnnmem.reporting.summary import line_of, with_places
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings

SCRIPTS = ("figures.js", "step.js", "modules.js", "layers.js", "overview.js", "page.js")


def render(reports: Sequence[ModelReport], settings: Settings) -> str:
    """The page of these models, what needs most first. Raises MissingExtra where plotly is not installed."""
    library = charting_library().strip()
    script = inline("(() => {\n'use strict';\n" + "\n".join(map(part, SCRIPTS)) + "})();")
    shown = [(line, reports[number]) for number, line in with_places([line_of(report) for report in reports])]
    islands = [island("index", [index_entry(line, report) for line, report in shown])]
    islands += [island(f"model-{number}", model_data(report, settings)) for number, (_, report) in enumerate(shown)]
    pieces = {
        "title": html.escape(title(reports)),
        "version": html.escape(flake8_cnnmem.__version__),
        "style": part("page.css"),
        "hashes": " ".join(map(hash_of, (library, script))),
        "data": "\n".join(islands),
        "library": packed_library(),
        "script": script,
    }
    # In one pass: what is put in is not looked at again.
    return re.sub(r"\[\[(\w+)\]\]", lambda place: pieces[place[1]], part("page.html")).rstrip()


@cache
def packed_library() -> str:
    """The library as pages hold it: to pack its four megabytes takes longer than all of a small page."""
    return packed(f"\n{charting_library().strip()}\n")


def charting_library() -> str:
    """plotly.js, as plotly's own package carries it."""
    try:
        from plotly.offline import get_plotlyjs
    except ImportError:
        raise MissingExtra(
            "--format html needs plotly, which is not installed: pip install 'flake8-cnnmem[html]'"
        ) from None
    text: str = get_plotlyjs()
    return text


def title(reports: Sequence[ModelReport]) -> str:
    if len(reports) == 1:
        return f"{one_line(reports[0].name)} – cnnmem"
    return f"{len(reports)} models – cnnmem"


def part(name: str) -> str:
    """A file of the page's own."""
    return resources.files("flake8_cnnmem.reporting").joinpath("page").joinpath(name).read_text(encoding="utf-8")


def inline(script: str) -> str:
    """A script as it may stand in a page: an end tag inside one of its strings would end it. The line ends around it
    are the page's, and count for the hash."""
    script = re.sub(r"</(?=script)", r"<\\/", script.strip(), flags=re.IGNORECASE)
    return script.replace("<!--", "<\\!--").replace("\r\n", "\n")


def hash_of(script: str) -> str:
    """As a content security policy names the script of an element whose text stands on lines of its own."""
    digest = hashlib.sha256(f"\n{script}\n".encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def island(name: str, data: Any) -> str:
    """Data in an element that is no script to a browser."""
    return f'<script type="application/zlib" id="{name}">{packed(json.dumps(data, separators=(",", ":")))}</script>'


def packed(text: str) -> str:
    """A text as zlib (RFC 1950) packs it, in letters of which HTML reads nothing into any."""
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode()
