"""What depends on the order of a set of texts is not known, and what does not depend on it is exact.

Each program was run by Python with the hash seeds 0 to 5, and PyTorch asked for the parameters and the shapes of the
model: those of `SAME` were the same with all of them, those of `CHANGES` were not.
"""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse, in_one_order
from flake8_cnnmem.evaluate.unordered import sets_in_order
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source
from flake8_cnnmem.text.files import DISK
from flake8_cnnmem.training import Fact

HEAD = """\
import torch
from torch import nn

WIDTHS = {"narrow": 4, "middle": 6, "wide": 10}
NAMES = set(WIDTHS)


def stack(widths):
    sizes = [10, *widths]
    return nn.Sequential(*(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])))


"""

SAME = {
    "its length": "model = nn.Linear(10, len(NAMES))",
    "whether something is in it": "model = nn.Linear(10, 5 if 'wide' in NAMES and 'tiny' not in NAMES else 7)",
    "sorted": "model = stack(WIDTHS[name] for name in sorted(NAMES))",
    "sorted by a key": "model = stack(sorted((WIDTHS[name] for name in NAMES), reverse=True))",
    "a sum": "model = nn.Linear(10, sum(WIDTHS[name] for name in NAMES))",
    "the largest": "model = nn.Linear(10, max(WIDTHS[name] for name in NAMES))",
    "the least text": "model = nn.Linear(10, WIDTHS[min(NAMES)])",
    "whether all are": "model = nn.Linear(10, 3 if all(WIDTHS[name] > 3 for name in NAMES) else 4)",
    "another set of it": "model = nn.Linear(10, len({name[0] for name in NAMES} | {'x', 'w'}))",
    "a dict that is asked by name": """
found = {name: WIDTHS[name] for name in NAMES}
model = stack([found['wide'], found['narrow']])""",
    "layers that are asked by name": """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict()
        for name in NAMES:
            self.heads[name] = nn.Linear(10, WIDTHS[name])

    def forward(self, x):
        return self.heads["wide"](x) + self.heads["narrow"](x).sum()


model = Net()""",
    "layers of one size in any order": "model = nn.Sequential(*(nn.Linear(10, 10) for name in NAMES))",
    "the only one": "model = nn.Linear(10, WIDTHS[next(iter({'wide'}))])",
    "a set of numbers": "model = stack(list({4, 6, 8}))",
    "a test that each of them meets": """
model = nn.Sequential(nn.Linear(10, 4), nn.Linear(4, 4))
for name, parameter in model.named_parameters():
    if any(word in name for word in {"bias", "norm"}):
        parameter.requires_grad = False""",
    "what nobody reads": "print(list(NAMES))\nmodel = nn.Linear(10, 3)",
}

CHANGES = {
    "the first": "model = nn.Linear(10, WIDTHS[list(NAMES)[0]])",
    "the one in the middle": "model = nn.Linear(10, WIDTHS[list(NAMES)[1]])",
    "the first of an iterator": "model = nn.Linear(10, WIDTHS[next(iter(NAMES))])",
    "the last of a loop": "for name in NAMES:\n    last = name\nmodel = nn.Linear(10, WIDTHS[last])",
    "the first that is found": "model = nn.Linear(10, next(WIDTHS[name] for name in NAMES if 'e' not in name[:1]))",
    "unpacked": "first, *_ = NAMES\nmodel = nn.Linear(10, WIDTHS[first])",
    "layers one behind the other": "model = stack(WIDTHS[name] for name in NAMES)",
    "its text": 'model = nn.Linear(10, WIDTHS[str(NAMES).split("\'")[1]])',
    "joined": "model = nn.Linear(10, len(','.join(NAMES).split('wide')[0]) + 1)",
    "of two": "pair = {'narrow', 'wide'}\nmodel = nn.Linear(10, WIDTHS[list(pair)[0]])",
    "a dict in its order": "model = stack({name: WIDTHS[name] for name in NAMES}.values())",
    "names by their places": """
order = {name: at for at, name in enumerate(NAMES)}
model = nn.Linear(10, 1 + order['wide'])""",
    "frozen as it comes": """
model = stack([10, 10, 10])
for at, name in enumerate(NAMES):
    model[at].requires_grad_(name == "wide")
model[1] = nn.Linear(10, 4) if model[0].weight.requires_grad else nn.Linear(10, 10)""",
    "difference of sets": "model = nn.Linear(10, WIDTHS[list(NAMES - {'narrow'})[0]])",
    "keys in common": "model = nn.Linear(10, WIDTHS[list(WIDTHS.keys() & {'wide', 'narrow'})[0]])",
    "a slip in one order alone": "model = nn.Sequential(nn.Linear(10, 6), nn.Linear(WIDTHS[list(NAMES)[0]], 2))",
}


PICK = """
def pick(name):
    known = ["none"] + list(NAMES)
    known[-1] = "and " + known[-1]
    if name not in known and name != "wide":
        raise ValueError("not one of " + ", ".join(known))
    return WIDTHS[name]


"""

UNREAD = {
    "whether all match": """
import re
names = re.compile("[a-z]+")
known = all(names.match(name) for name in NAMES)
model = nn.Linear(10, 3 if known else 4)""",
    "whether any ends so": """
model = nn.Linear(10, 4)
if any(name.split('d')[-1] == 'le' for name in NAMES):
    model = nn.Linear(10, 3)""",
    "those that are left, sorted": """
left = sorted(filter(lambda n: 'd' in n, NAMES))
model = stack(WIDTHS[name] for name in left)""",
    "what a message lists": f"{PICK}model = nn.Linear(10, pick('wide'))",
    "another set of the first letters": """
letters = {name[0] for name in NAMES} | {'x', 'w'}
model = nn.Linear(10, len(letters))""",
}
"""The same with all of them; and nobody reads an order, so that one evaluation is enough."""

READ = {
    "a message that is read": f"""{PICK}
try:
    pick('tiny')
except ValueError as error:
    text = str(error)
model = nn.Linear(10, 1 + len(text.split('wide')[0]))""",
    "an object that counts what it is asked": """
class Log:
    seen = []

    def match(self, name):
        self.seen.append(name)
        return True


log = Log()
known = all(log.match(name) for name in NAMES)
model = nn.Linear(10, WIDTHS[log.seen[0]])""",
    "a list that is used behind the test": """
def pick(name):
    known = list(NAMES)
    if name not in known:
        raise ValueError(', '.join(known))
    return WIDTHS[known[0]]


model = nn.Linear(10, pick('wide'))""",
    "formatted": """
def pick():
    text = '%s' % (NAMES,)
    return 1 + len(text.split('wide')[0])


model = nn.Linear(10, pick())""",
    "a function with a builtin's name": """
def any(names):
    for name in names:
        return WIDTHS[name]


first = any(NAMES)
model = nn.Linear(10, first)""",
    "keys in the order in which they are asked for": """
from collections import defaultdict
found = defaultdict(int)
known = {found[name] for name in NAMES}
model = nn.Linear(10, WIDTHS[list(found)[0]])""",
}
CHANGES |= READ


def report_of(code: str) -> ModelReport:
    settings = Settings(batch_size=Fact(2, "option"), input_shape=Fact((10,), "option"))
    [report] = analyse(Source("model.py", f"{HEAD}{code}\n"), settings, "model").reports
    return report


@pytest.mark.parametrize("code", SAME.values(), ids=SAME)
def test_what_is_the_same_in_any_order_is_exact(code: str) -> None:
    report = report_of(code)
    assert report.status == "exact", report.causes


@pytest.mark.parametrize("code", CHANGES.values(), ids=CHANGES)
def test_what_changes_with_the_order_is_not_known(code: str) -> None:
    report = report_of(code)
    assert report.status == "unresolved"
    assert report.causes[0].reason == "the order of a set changes from run to run of Python"
    assert not report.problems


@pytest.mark.parametrize("code", UNREAD.values(), ids=UNREAD)
def test_an_order_that_nobody_reads_takes_no_other_evaluation(code: str) -> None:
    with sets_in_order(0) as order:
        report = report_of(code)
        first = in_one_order(Source("model.py", f"{HEAD}{code}\n"), Settings(), "model", DISK)
    assert report.status == "exact", report.causes
    assert first.reports
    assert order.cause is None


OBJECTS = """\
import keras
from keras.layers import Dense


class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.all = set()
{added}

    def call(self, x):
        for layer in self.all:
            x = layer(x)
        return x


model = Net()
model.build((None, 6))
"""


def test_objects_in_a_set_come_in_one_order_in_every_run() -> None:
    """Python's own order goes by where they lie in memory. The model is that of every order."""
    first = OBJECTS[: OBJECTS.index("{added}")].count("\n") + 1
    added = "\n".join("        self.all.add(Dense(6))" for _ in range(24))
    (report,) = analyse(
        Source("net.py", OBJECTS.format(added=added)), Settings(input_shape=Fact((6,), "option")), "model"
    ).reports
    assert (report.status, report.parameters) == ("exact", 24 * 42)
    assert [row.line for row in report.rows if row.parameters] == list(range(first, first + 24))
