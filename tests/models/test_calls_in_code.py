"""What a model is fed with where the code itself calls it: by position, by name, with numbers and words beside."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from tests.conftest import not_followed

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(16, 8)
        self.other = nn.Linear(4, 8)
        self.cell = nn.GRU(8, 8)

    def forward(self, x, mask=None, other=None, state=None, scale=1, *, twice=False):
        x = self.own(x)
        if mask is not None:
            x = x.masked_fill(~mask, 0.0)
        if other is not None:
            x = x + self.other(other).mean(0)
        if state is not None:
            x = self.cell(x.transpose(0, 1), state)[0]
        return self.own(x.repeat(1, 1, 2)) if twice else x * scale

net = Net()
"""

CALLS = {
    "a tensor by name, not at the next place": "net(torch.randn(2, 6, 16), other=torch.randn(5, 4))",
    "all by name": "net(x=torch.randn(2, 6, 16), other=torch.randn(5, 4))",
    "a number by name": "net(torch.randn(2, 6, 16), scale=2)",
    "what only a name reaches": "net(torch.randn(2, 6, 16), twice=True)",
    "tensors in a dict": "net(**{'x': torch.randn(2, 6, 16), 'other': torch.randn(5, 4)})",
    "a state whose second axis is the batch": "net(torch.randn(2, 6, 16), state=torch.randn(1, 2, 8))",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_call(call: str) -> None:
    (report,) = analyse(Source("net.py", f"{NET}{call}\n"), Settings()).reports
    assert (not_followed(report), report.problems) == ([], ())
    assert report.training.input_shape is not None
    assert report.training.input_shape.value == (6, 16)
    names = {row.name.split(".")[0] for row in report.rows}
    assert ("other" in names, "cell" in names) == ("other" in call, "state=" in call)
    assert ("repeat" in names) == ("twice=" in call)


TAGGER = """
import torch
from torch import nn

class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 8)
        self.lstm = nn.LSTM(8, 16, 2, batch_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x, states):
        tokens = x["tokens"] if isinstance(x, dict) else x
        y, states = self.lstm(self.embed(tokens), states)
        return self.head(y), states

state = torch.zeros(2, 4, 16)
tokens = torch.zeros(4, 12, dtype=torch.long)
"""

NESTED = {
    "a tuple of states": "Tagger()(tokens, (state, state))",
    "a dict of tensors": "Tagger()({'tokens': tokens}, (state, state))",
}


@pytest.mark.parametrize("call", NESTED.values(), ids=NESTED)
def test_call_with_nested_tensors(call: str) -> None:
    (report,) = analyse(Source("net.py", f"{TAGGER}{call}\n"), Settings()).reports
    assert (not_followed(report), report.problems) == ([], ())
    assert [row.output_shape for row in report.rows if row.name == "head"] == [(12, 5)]


PAIRED = """
import numpy as np
from keras import Input, Model, layers

first, second = Input((None, 7)), Input((None, 9))
_, *state = layers.LSTM(16, return_state=True)(first)
out = layers.LSTM(16, return_sequences=True)(second, initial_state=state)
model = Model([first, second], layers.Dense(9)(out))
model.compile("adam", "mse")
model.fit([np.zeros((500, 12, 7)), np.zeros((500, 20, 9))], np.zeros((500, 20, 9)), batch_size=64)
"""


def test_several_inputs_are_as_long_as_the_data_that_fit_is_given() -> None:
    (report,) = analyse(Source("net.py", PAIRED), Settings()).reports
    assert (not_followed(report), report.problems) == ([], ())
    assert [row.output_shape for row in report.rows if row.type == "Dense"] == [(20, 9)]


SKIPPED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(16, 16)

    def forward(self, x):
        {branch}
        return x

Net()(torch.randn(2, 16))
"""

BRANCHES = {
    "a layer that chance leaves out": ("if torch.rand([]) < 0.5: x = self.layer(x)", "upper-bound"),
    "a layer that the input's values leave out": ("x = self.layer(x) if x.sum() > 0 else x", "lower-bound"),
}


@pytest.mark.parametrize(("branch", "status"), BRANCHES.values(), ids=BRANCHES)
def test_what_may_not_run_is_no_exact_figure(branch: str, status: str) -> None:
    (report,) = analyse(Source("net.py", SKIPPED.format(branch=branch)), Settings()).reports
    assert report.status == status


LISTED = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.own = nn.Linear(8, 3)

    def forward(self, rows, more, mask=None):
        return self.own(rows["x"] + sum(more))

net = Net()
"""

BESIDE = {
    "a list of one": ("[torch.randn(4, 8)]", (8,)),
    "as many samples as beside it": ("[torch.randn(4, 8), torch.randn(4, 8)], mask=torch.ones(4)", (8,)),
    "it may be the samples, one by one": ("[torch.randn(4, 8)] * 4", None),
    "other samples than beside it": ("[torch.randn(1, 8), torch.randn(1, 8)]", None),
}


@pytest.mark.parametrize(("more", "size"), BESIDE.values(), ids=BESIDE)
def test_a_list_of_tensors_is_inputs_where_others_are_as_long(more: str, size: tuple[int, ...] | None) -> None:
    code = f"{LISTED}net({{'x': torch.randn(4, 8)}}, {more})\n"
    (report,) = analyse(Source("net.py", code), Settings()).reports
    shape = report.training.input_shape
    assert (shape.value if shape is not None else None) == size
    assert (report.status == "exact") == (size is not None)
