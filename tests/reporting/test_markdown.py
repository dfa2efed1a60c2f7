"""The report as Markdown, as it is written and as it is rendered."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from flake8_cnnmem.finding import one_line
from flake8_cnnmem.reporting import markdown
from flake8_cnnmem.results import AlsoInMemory, Growth, ModelReport, Remedy
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.units import GIB, MIB
from flake8_cnnmem.unknown import Unknown
from tests.reporting.hostile import NAMES, report_named

Make = Callable[..., ModelReport]

TAGS = {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "details", "summary", "ul", "li"}

hostile = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)


@dataclass
class Rendered(HTMLParser):
    """A document as a browser sees it: its tags with their attributes, the text of each cell."""

    tags: list[tuple[str, list[tuple[str, str | None]]]] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    text: str = ""
    in_cell: bool = False

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        if tag == "tr":
            self.cells.append([])
        if tag in ("td", "th"):
            self.cells[-1].append("")
            self.in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.in_cell = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.in_cell:
            self.cells[-1][-1] += data


def rendered(text: str) -> Rendered:
    """Rendered as GitHub does, tables and HTML included."""
    page = Rendered()
    page.feed(MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(text))
    page.close()
    return page


def test_a_model_as_it_is_printed(make_report: Make) -> None:
    report = make_report(remedies=(Remedy("batch size 63", 12 * GIB, True), Remedy("mixed_float16", 13 * GIB, False)))
    expected = """\
        ### `VGG16`: 12.04 GiB at batch 64, does not fit

        `vgg.py:12`, torch 2.13, exact; limit 12.00 GiB: does not fit: 37 MiB over; fits up to batch 63

        | taken     | value     | from        |
        |:----------|:----------|:------------|
        | input     | 3x224x224 | directive   |
        | batch     | 64        | train.py:41 |
        | optimizer | adam      | option      |
        | dtype     | float32   | default     |

        Memory of a training step at batch 64, framework accounting, highest in the backward pass, at features.2:

        | term            |   memory |
        |:----------------|---------:|
        | parameters      |  512 MiB |
        | gradients       |  512 MiB |
        | optimizer state |  1.0 GiB |
        | activations     | 10.0 GiB |
        | input           |   37 MiB |
        | total           | 12.0 GiB |

        What would make it smaller:

        | change        |   memory |              |
        |:--------------|---------:|:-------------|
        | batch size 63 | 12.0 GiB | fits         |
        | mixed_float16 | 13.0 GiB | does not fit |

        <details>
        <summary>3 layers</summary>

        | layer        | type     |   line |     output |    values |   parameters |   written, MiB |
        |:-------------|:---------|-------:|-----------:|----------:|-------------:|---------------:|
        | input        |          |        |  3x224x224 |   150,528 |            0 |          37.00 |
        | `features.0` | `Conv2d` |     14 | 64x224x224 | 3,211,264 |        1,792 |         784.00 |
        | `features.1` | `ReLU`   |     14 | 64x224x224 |         0 |            0 |           0.00 |
        | `classifier` | `Linear` |     20 |       1000 |     1,000 |    4,097,000 |           0.24 |
        | sum          |          |        |            | 3,362,792 |  138,357,544 |         821.24 |

        </details>"""
    assert markdown.render([report], Settings()) == textwrap.dedent(expected)


def test_it_renders_as_tables(make_report: Make) -> None:
    page = rendered(markdown.render([make_report()], Settings()))
    assert ["total", "12.0 GiB"] in page.cells
    assert ["features.0", "Conv2d", "14", "64x224x224", "3,211,264", "1,792", "784.00"] in page.cells


def test_several_models_are_a_table_and_a_fold_each(make_report: Make) -> None:
    other = make_report(name="Other", fits=None, limit=None, largest_batch_size=None)
    page = rendered(markdown.render([make_report(), other], Settings()))
    row = ["VGG16", "vgg.py:12", "138,357,544", "64", "12.04 GiB", "12.0 GiB", "does not fit", "63"]
    assert row in page.cells
    assert [tag for tag, _ in page.tags].count("summary") == 4


def test_an_unresolved_model_shows_its_causes(make_report: Make) -> None:
    cause = Unknown("nobody gives __init__ its argument width", "vgg.py", 14)
    report = make_report(status="unresolved", causes=(cause,), estimate=None, rows=(), parameters=None, fits=None)
    page = rendered(markdown.render([report], Settings()))
    assert "VGG16: not estimated" in page.text
    assert "nobody gives __init__ its argument width (line 14)" in page.text


def test_no_model_is_said(make_report: Make) -> None:
    assert markdown.render([], Settings()) == "No model found."


@hostile
def test_names_are_data(name: str, make_report: Make) -> None:
    reports = [report_named(name, make_report), report_named(name, make_report)]
    for chosen in (reports[:1], reports):
        page = rendered(markdown.render(chosen, Settings()))
        tags = {tag for tag, _ in page.tags}
        assert tags <= TAGS
        attributes = {attribute for _, found in page.tags for attribute in found}
        assert attributes <= {("style", "text-align:left"), ("style", "text-align:right")}


@hostile
def test_names_stand_in_their_cells_as_they_are(name: str, make_report: Make) -> None:
    page = rendered(markdown.render([report_named(name, make_report)], Settings()))
    shown = one_line(f"{name}.features.0.{name}")
    [row] = [cells for cells in page.cells if cells[:1] == [shown]]
    assert row[1:] == [one_line(name), "14", "64x224x224", "3,211,264", "1,792", "784.00"]


def test_trainings_of_one_model_are_told_apart(make_report: Make) -> None:
    reports = [make_report(place=(at, 2), trainable=1000 * at) for at in (1, 2)]
    header, _, first, second = markdown.overview(reports).splitlines()
    assert [cell.strip() for cell in header.split("|")[1:5]] == ["model", "where", "training", "parameters"]
    assert [cell.strip() for cell in first.split("|")[3:5]] == ["1 of 2", "1,000 of 138,357,544"]
    assert [cell.strip() for cell in second.split("|")[3:5]] == ["2 of 2", "2,000 of 138,357,544"]


def test_what_is_beside_a_training_and_what_it_adds_is_said(make_report: Make) -> None:
    report = make_report(
        place=(1, 1),
        times=5,
        also_in_memory=(AlsoInMemory("teacher|x: weights", MIB, "vgg.py", 31),),
        growths=(Growth("out", 72 * MIB, "vgg.py", 24, 1, "vgg.py", 22, True, False, "training"),),
    )
    text = markdown.model(report, Settings())
    assert text.startswith("`vgg.py:12`, training, 5 times, torch 2.13, exact; ")
    assert "| teacher&#124;x: weights | `vgg.py:31` |  1.0 MiB |" in text
    assert "\n- out (vgg.py:24) keeps 72 MiB more with every turn of the loop at vgg.py:22\n" in text
