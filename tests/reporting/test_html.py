"""The page as a text; `tests/browser` opens it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest

from flake8_cnnmem.finding import one_line
from flake8_cnnmem.memory.estimate import Estimate, Live, Moment
from flake8_cnnmem.reporting import FORMATS, MissingExtra, html, html_data
from flake8_cnnmem.results import AlsoInMemory, Growth, ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.text.lines import CellLine
from flake8_cnnmem.units import GIB, MIB
from tests.reporting.hostile import NAMES, report_named

Make = Callable[..., ModelReport]


class Scripts(HTMLParser):
    """The elements of a page that hold scripts or data, by their id, and every address that it names."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.addresses: list[str] = []
        self.policy = ""
        self.at: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.addresses += [found[name] or "" for name in ("src", "href") if name in found]
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""
        if tag == "script":
            self.at = found.get("id") or f"script {len(self.texts)}"
            self.texts[self.at] = ""

    def handle_endtag(self, tag: str) -> None:
        self.at = None

    def handle_data(self, data: str) -> None:
        if self.at is not None:
            self.texts[self.at] += data


def read(text: str) -> Scripts:
    found = Scripts()
    found.feed(text)
    found.close()
    return found


def unpacked(text: str, name: str) -> str:
    return zlib.decompress(base64.b64decode(read(text).texts[name])).decode()


def data(text: str, name: str) -> Any:
    return json.loads(unpacked(text, name))


def test_the_page_has_the_reports_figures(make_report: Make) -> None:
    page = html.render([make_report()], Settings())
    assert data(page, "index") == [
        {
            "name": "VGG16",
            "place": "vgg.py:12",
            "training": "",
            "figure": "12.04 GiB",
            "fits": False,
            "bytes": 12 * GIB + 37 * MIB,
            "limit": 12 * GIB,
            "largest": 63,
            "state": "over its limit",
            "over": True,
            "part": False,
            "batch": "64",
            "input": "3x224x224",
        }
    ]
    assert (data(page, "model-0")["also"], data(page, "model-0")["more"]) == ([], [])
    model = data(page, "model-0")
    assert model["verdict"] == "Limit 12.00 GiB: does not fit: 37 MiB over; fits up to batch 63."
    assert model["limit"] == {"bytes": 12 * GIB, "text": "12.00 GiB"}
    assert model["layers"][0] == ["features.0", "Conv2d", "14", [64, 224, 224], 3211264, 1792, 784 * MIB, None]
    assert "<title>VGG16 – cnnmem</title>" in page


def test_nothing_is_fetched_and_nothing_but_the_pages_own_scripts_runs(make_report: Make) -> None:
    whole = html.render([make_report()], Settings())
    page = read(whole)
    assert page.addresses == ["#model"]
    assert "default-src 'none'" in page.policy
    [own] = [text for name, text in page.texts.items() if name.startswith("script ")]
    for text in (own, unpacked(whole, "library")):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in page.policy
    assert "unsafe-inline' " not in page.policy.partition("script-src")[2]


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_names_are_data(name: str, make_report: Make) -> None:
    report = report_named(name, make_report)
    text = html.island("model-0", html_data.model_data(report, Settings()))
    assert re.fullmatch(r'<script type="application/zlib" id="model-0">[A-Za-z0-9+/=]*</script>', text)
    assert data(text, "model-0")["layers"][0][0].endswith(one_line(name))


def test_lines_of_a_notebook_are_those_of_its_cells(make_report: Make) -> None:
    line = CellLine(40, 3, 12)
    rows = tuple(replace(row, line=line) for row in make_report().rows)
    model = html_data.model_data(make_report(path="net.ipynb", line=line, rows=rows), Settings())
    assert model["place"] == "net.ipynb:cell 3:12"
    assert {row[2] for row in model["layers"]} == {"cell 3:12"}


def test_a_title_is_data(make_report: Make) -> None:
    page = html.render([make_report(name="</title><script>alert(1)</script>")], Settings())
    assert "<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt; – cnnmem</title>" in page
    assert sorted(read(page).texts) == ["index", "library", "model-0", "script 3"]


def test_without_the_library_the_extra_is_named(make_report: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(MissingExtra) as error:
        FORMATS["html"]([make_report()], Settings())
    assert str(error.value) == "--format html needs plotly, which is not installed: pip install 'flake8-cnnmem[html]'"


def test_an_end_tag_in_a_script_does_not_end_it() -> None:
    assert html.inline("a = '</script>' + '</SCRIPT' + '<!--'") == "a = '<\\/script>' + '<\\/SCRIPT' + '<\\!--'"


def test_a_long_step_is_thinned_and_keeps_its_peak() -> None:
    phases = ["forward"] * 5000 + ["backward"] * 5000
    moments = [Moment(phase, f"op{number}", None, Live(kept=number % 977)) for number, phase in enumerate(phases)]
    moments[4321] = Moment("forward", "the peak", None, Live(kept=5000))
    kept = html_data.thinned(moments)
    assert len(kept) <= html_data.MOST + 2
    assert [moment.phase for moment in kept] == sorted((moment.phase for moment in kept), reverse=True)
    assert max(kept, key=lambda moment: moment.live.total).name == "the peak"
    assert html_data.thinned(moments[:100]) == moments[:100]


def test_columns_are_told_by_their_changes() -> None:
    assert html_data.changes([5, 5, 9, 2]) == [5, 0, 4, -7]
    assert html_data.changes([]) == []


def test_the_page_says_which_training_it_is_and_what_it_adds(make_report: Make) -> None:
    report = make_report(
        place=(2, 3),
        times=5,
        also_in_memory=(AlsoInMemory("teacher: weights", MIB, "vgg.py", 31),),
        growths=(Growth("out", 72 * MIB, "vgg.py", 24, 1, "vgg.py", 22, True, False, "training"),),
    )
    model = html_data.model_data(report, Settings())
    assert model["training"] == "training 2 of 3, 5 times"
    assert model["also"] == [{"what": "teacher: weights", "place": "vgg.py:31", "bytes": MIB}]
    assert model["more"] == ["out (vgg.py:24) keeps 72 MiB more with every turn of the loop at vgg.py:22"]


def test_what_needs_most_comes_first(make_report: Make, make_estimate: Callable[..., Estimate]) -> None:
    small = make_report(name="small", fits=True, estimate=make_estimate(total=GIB))
    large = make_report(name="large", fits=True, estimate=make_estimate(total=9 * GIB))
    page = html.render([small, large, make_report()], Settings())
    assert [entry["name"] for entry in data(page, "index")] == ["VGG16", "large", "small"]
    assert [data(page, f"model-{number}")["name"] for number in range(3)] == ["VGG16", "large", "small"]


def test_paths_are_those_of_the_project_or_the_package(make_report: Make) -> None:
    here = os.path.join(os.getcwd(), "parts", "net.py")
    package = "/usr/lib/python3/site-packages/zoo/blocks.py"
    elsewhere = "/somewhere/else/blocks.py"
    rows = tuple(
        replace(row, path=path) for row, path in zip(make_report().rows, (here, package, elsewhere), strict=True)
    )
    model = html_data.model_data(make_report(rows=rows, path=here), Settings())
    assert model["place"] == "parts/net.py:12"
    model = html_data.model_data(make_report(rows=rows), Settings())
    assert [row[2] for row in model["layers"]] == ["parts/net.py:14", "zoo/blocks.py:14", "blocks.py:20"]
