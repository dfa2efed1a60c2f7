"""Where a size is written, and what stays as it is around it."""

from __future__ import annotations

import ast

import pytest

from flake8_cnnmem.fixes import Edit, applied, fixes_of, mended
from flake8_cnnmem.fixes.literals import written
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

NET = """\
import torch
from torch import nn
{above}

class Net(nn.Module):
    def __init__(self{parameters}):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5)
        self.fc = {layer}

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv(x), 2)
        return self.fc(x.flatten(1))


Net({given})(torch.zeros(1, 1, 28, 28))
"""


def net(layer: str, above: str = "", parameters: str = "", given: str = "") -> str:
    return NET.format(layer=layer, above=above, parameters=parameters, given=given)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(net("nn.Linear(400, 10)"), net("nn.Linear(2304, 10)"), id="a literal"),
        pytest.param(net("nn.Linear(16 * 5 * 5, 10)"), net("nn.Linear(16 * 12 * 12, 10)"), id="a product of the sides"),
        pytest.param(net("nn.Linear(20 * 20, 10)"), net("nn.Linear(2304, 10)"), id="a product of something else"),
        pytest.param(
            net("nn.Linear( out_features = 10 ,in_features=400)  # größe"),
            net("nn.Linear( out_features = 10 ,in_features=2304)  # größe"),
            id="by name, and formatted as it pleases",
        ),
        pytest.param(net("nn.Linear(400, 400)"), net("nn.Linear(2304, 400)"), id="the right one of two"),
        pytest.param(
            net("nn.Linear(WIDTH, 10)", "WIDTH = 400"), net("nn.Linear(WIDTH, 10)", "WIDTH = 2304"), id="a constant"
        ),
        pytest.param(
            net("nn.Linear(width, 10)", parameters=", width=400"),
            net("nn.Linear(width, 10)", parameters=", width=2304"),
            id="a default",
        ),
        pytest.param(
            net("nn.Linear(width, 10)", parameters=", width", given="400"),
            net("nn.Linear(width, 10)", parameters=", width", given="2304"),
            id="what the construction hands over",
        ),
        pytest.param(
            net("nn.Linear(width, 10)", parameters=", *, width=9", given="width=400"),
            net("nn.Linear(width, 10)", parameters=", *, width=9", given="width=2304"),
            id="what the construction hands over by name",
        ),
        pytest.param(
            net('nn.Linear(C["width"], 10)', 'C = {"width": 400}'),
            net('nn.Linear(C["width"], 10)', 'C = {"width": 2304}'),
            id="an entry of a table",
        ),
    ],
)  # fmt: skip
def test_the_size_is_written_where_it_stands(before: str, after: str) -> None:
    assert mended(Source("net.py", before), Settings()).text == after


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(net("nn.Linear(WIDTH, 10)", "WIDTH = 400\nOTHER = WIDTH"), id="a constant that is used twice"),
        pytest.param(net("nn.Linear(WIDTH, 10)", "WIDTH = 400\nWIDTH += 0"), id="a constant that is set twice"),
        pytest.param(net("nn.Linear(WIDTH, 10)", 'WIDTH = 400\n__all__ = ["WIDTH"]'), id="a constant for others"),
        pytest.param(net("nn.Linear(WIDTH, 10)", "WIDTH = int(400)"), id="no number"),
        pytest.param(net("nn.Linear(A * B, 10)", "A = B = 20"), id="computed of names"),
        pytest.param(net("nn.Linear(400, 10)") + "Net()(torch.zeros(1, 1, 14, 14))\n", id="right for another input"),
    ],
)
def test_what_is_not_certain_is_left_alone(text: str) -> None:
    result = mended(Source("net.py", text), Settings())
    assert (result.text, result.fixes) == (text, ())
    assert [finding.code for finding in result.left] == ["CNM201"]


def test_wrong_sizes_that_hide_each_other_are_mended_in_turn() -> None:
    text = net("nn.Sequential(nn.Linear(400, 10), nn.Linear(9, 9))")
    result = mended(Source("net.py", text), Settings())
    assert result.text == net("nn.Sequential(nn.Linear(2304, 10), nn.Linear(10, 9))")
    assert [fix.title for fix in result.fixes] == ["write 2304 instead of 400", "write 10 instead of 9"]


def test_an_editor_asks_for_one_line_and_gets_a_fix_of_the_text_as_it_is() -> None:
    source = Source("net.py", net("nn.Linear(400, 10)"))
    [fix] = fixes_of(source, Settings(), wanted=lambda finding: finding.line == 9)
    assert (fix.line, fix.column, fix.code, fix.title) == (9, 19, "CNM201", "write 2304 instead of 400")
    assert fix.edits == (Edit(9, 29, 9, 32, "2304"),)
    assert fixes_of(source, Settings(), wanted=lambda finding: finding.line == 8) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("nn.MaxPool2d(2)", "nn.MaxPool2d(2, ceil_mode=True)"),
        ("nn.MaxPool2d(2, ceil_mode=False)", "nn.MaxPool2d(2, ceil_mode=True)"),
        ("nn.MaxPool2d(2,)", "nn.MaxPool2d(2, ceil_mode=True,)"),
        ("nn.Conv2d(8, 8, 3, 2)", "nn.Conv2d(8, 8, 3, 2)"),
    ],
)
def test_a_pool_rounds_up_on_request(before: str, after: str) -> None:
    text = "import torch\nfrom torch import nn\nnn.Sequential(nn.Conv2d(1, 8, 3), {})(torch.zeros(2, 1, 27, 28))\n"
    assert mended(Source("net.py", text.format(before)), Settings()).text == text.format(before)
    assert mended(Source("net.py", text.format(before)), Settings(), ("CNM203",)).text == text.format(after)


def test_edits_are_by_characters_and_keep_line_ends() -> None:
    text = 'ä = "größe"; b = 1\r\nc = 2\rd = 3\n'
    edits = [Edit(1, 18, 1, 19, "11"), Edit(3, 5, 3, 6, "33")]
    assert applied(text, edits) == 'ä = "größe"; b = 11\r\nc = 2\rd = 33\n'


@pytest.mark.parametrize(
    ("expression", "size", "shapes", "result"),
    [
        ("16 * 5 * 5", 256, [(16, 4, 4)], "16 * 4 * 4"),
        ("16 * 5 * 5", 256, [(256,), (16, 4, 4)], "16 * 4 * 4"),
        ("16 * 25", 256, [(16, 4, 4)], "256"),
        ("400", 256, [(256,)], "256"),
        ("16 + 5", 20, [(16, 4)], "20"),
    ],
)
def test_a_size_is_written_as_the_one_before(
    expression: str, size: int, shapes: list[tuple[int, ...]], result: str
) -> None:
    assert written(ast.parse(expression, mode="eval").body, size, shapes) == result
