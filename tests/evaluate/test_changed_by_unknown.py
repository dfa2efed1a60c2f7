"""What code that cannot be followed may have done leaves the rest of a program as it is."""

from __future__ import annotations

from pathlib import Path

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

HEAD = """\
import torch
from torch import nn
import somewhere

"""

STEP = """\
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    optimizer.zero_grad()
    net(torch.randn(16, 10)).sum().backward()
    optimizer.step()
"""


def report(text: str, folder: Path, **beside: str) -> ModelReport:
    """The report of the only training of a file, with others beside it."""
    for name, content in beside.items():
        (folder / f"{name}.py").write_text(content, encoding="utf-8")
    path = folder / "case.py"
    path.write_text(text, encoding="utf-8")
    source = load(str(path))
    assert source is not None
    (found,) = (each for each in analyse(source, Settings()).reports if each.kind == "training")
    return found


def test_hooks_that_may_be_there_are_no_error_of_ours(tmp_path: Path) -> None:
    """A hook may replace what a layer gives, so that nothing behind the layer is known."""
    for kind in ("register_full_backward_hook", "register_forward_hook", "register_forward_pre_hook"):
        hook = f"net[0].{kind}(lambda *args: None)\n"
        text = HEAD + f"net = nn.Sequential(nn.Linear(10, 4))\nif somewhere.watched(net):\n    {hook}" + STEP
        found = report(text, tmp_path)
        assert (found.status, found.parameters) == ("lower-bound", 44), kind


def test_what_is_handed_to_unknown_functions_need_not_be_iterable(tmp_path: Path) -> None:
    text = HEAD + "somewhere.register(print)\nsomewhere.log(nn.Linear)\nsomewhere.log(7.5)\n"
    assert report(text + "net = nn.Sequential(nn.Linear(10, 4))\n" + STEP, tmp_path).status == "exact"


MODULE_COPIES = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(10, 4)

    def forward(self, x):
        return self.inner(x)


first = Net()
net = {made}
net.__dict__ = first.__dict__.copy()
net._parameters = first._parameters.copy()
net._modules = first._modules.copy()
net.inner = nn.Linear(10, 6)
"""


def test_new_is_a_static_method_of_every_object(tmp_path: Path) -> None:
    """A module that is made without its constructor, as meta-learning libraries copy models."""
    for made in ("first.__new__(type(first))", "Net.__new__(Net)", "object.__new__(Net)"):
        text = HEAD.replace("import somewhere\n", "") + MODULE_COPIES.format(made=made) + "del first\n" + STEP
        found = report(text, tmp_path)
        assert (found.status, found.parameters) == ("exact", 66), made


FLAGS = """\
_entered = False
_inside = False


class Region:
    def __init__(self):
        self.outer = []

    def __enter__(self):
        global _entered, _inside
        _entered = True
        self.outer.append(_inside)
        _inside = True

    def __exit__(self, *error):
        global _inside
        _inside = self.outer.pop()


def width():
    return 6 if _inside else 4
"""


def test_names_of_an_imported_module_stay_when_the_branch_is_undone(tmp_path: Path) -> None:
    """Imported modules are read as far as their names are asked for: what is read on a branch that may not be taken is
    there on the other one too."""
    text = HEAD + (
        "from regions import Region, width\n\n\ndef asked():\n    with Region():\n        return width()\n\n\n"
        "if somewhere.flag:\n    asked()\n"
        "net = nn.Sequential(nn.Linear(10, asked()), nn.ReLU(), nn.Linear(6, width()))\n"
    )
    found = report(text + STEP, tmp_path, regions=FLAGS)
    assert (found.status, found.parameters) == ("exact", 66 + 28)


def test_a_library_class_that_is_described_in_part_raises_no_attribute_error(tmp_path: Path) -> None:
    text = HEAD.replace("somewhere", "albumentations as A") + (
        "image = A.Compose([A.Resize(8, 8)])\nwidth = image.some_new_attribute\nnet = nn.Sequential(nn.Linear(10, 4))\n"
    )
    assert report(text + STEP, tmp_path).status == "exact"


PER_SAMPLE = """\
def hook(module, into, out):
    module.weight.grad_sample = out[0]


net = nn.Sequential(nn.Linear(10, 4))
net[0].register_full_backward_hook(hook)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(9):
    optimizer.zero_grad()
    net(torch.randn(16, 10)).sum().backward()
    print(net[0].weight.grad_sample.norm())
    optimizer.step()
"""


def test_what_hooks_of_the_backward_pass_set_is_no_missing_attribute(tmp_path: Path) -> None:
    found = report(HEAD.replace("import somewhere\n", "") + PER_SAMPLE, tmp_path)
    assert found.status == "lower-bound"
    assert [cause.reason.partition(" holds")[0] for cause in found.causes] == ["what a backward hook of Linear"]


def test_distributions_have_what_torch_gives_them(tmp_path: Path) -> None:
    text = HEAD.replace("import somewhere\n", "") + (
        "normal = torch.distributions.Normal(torch.zeros(3), torch.ones(3))\n"
        "print(normal.variance + normal.mode, normal.batch_shape, normal.support)\n"
        "width = 6 if hasattr(normal, 'logits') else normal.variance.shape[0]\n"
        "net = nn.Sequential(nn.Linear(10, width))\n"
    )
    found = report(text + STEP, tmp_path)
    assert (found.status, found.parameters) == ("exact", 33)


BY_HAND = """\
w = torch.ones(4, requires_grad=True)
b = torch.randn(3, requires_grad=True)
for epoch in range(3):
    ((w * 3).sum() + (b * 2).sum()).backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b.sub_(0.1 * b.grad)
    w.grad.zero_()
    b.grad.zero_()
width = w.grad.shape[0]
net = nn.Sequential(nn.Linear(10, width))
"""


def test_a_leaf_that_is_written_in_place_keeps_its_gradient(tmp_path: Path) -> None:
    found = report(HEAD.replace("import somewhere\n", "") + BY_HAND + STEP, tmp_path)
    assert (found.status, found.parameters) == ("exact", 44)


def test_modules_that_nobody_knows_are_no_error_of_ours(tmp_path: Path) -> None:
    """A name that is not known may be that of the dict of modules itself."""
    text = HEAD + "net = nn.Sequential(nn.Linear(10, 4))\nsetattr(net, somewhere.name, 3)\n"
    assert report(text + STEP, tmp_path).status != "exact"


def test_names_of_a_library_are_listed_where_they_are_written_down(tmp_path: Path) -> None:
    text = HEAD.replace("import somewhere\n", "") + (
        "width = 4 * sum(name == 'relu' for name in dir(nn.functional))\n"
        "others = [name for name in dir(torch.jit)]\n"
        "net = nn.Sequential(nn.Linear(10, width))\n"
    )
    assert report(text + STEP, tmp_path).status == "exact"


def test_what_a_tensor_of_unknown_things_has_is_not_known(tmp_path: Path) -> None:
    """It may be no tensor: torch's functions take objects of others (`torch.cat([fx.Proxy(...)])` is a Proxy)."""
    made = "node = torch.cat([somewhere.proxy(), somewhere.proxy()]).node\nnet = nn.Sequential(nn.Linear(10, 6))\n"
    found = report(HEAD + made + STEP, tmp_path)
    assert (found.status, found.parameters) == ("exact", 66)


def test_a_module_whose_parts_are_not_known_is_no_error_of_ours(tmp_path: Path) -> None:
    made = "net = nn.Sequential(nn.Linear(10, 6))\nnet._modules = somewhere.copies(net)\n"
    found = report(HEAD + made + STEP, tmp_path)
    assert found.status != "exact"
    assert not any("internal error" in cause.reason for cause in found.causes)


def test_a_variable_of_text_is_no_call(tmp_path: Path) -> None:
    text = "import tensorflow as tf\n\n\nclass Net(tf.keras.Model):\n    def __init__(self):\n"
    text += "        super().__init__()\n        self.phase = tf.Variable('resolution')\n"
    text += "        self.inner = tf.keras.layers.Dense(3)\n\n"
    text += "    def call(self, x):\n        return self.inner(x)\n\n\n"
    text += "net = Net()\nnet.compile('sgd', 'mse')\nnet.fit(tf.zeros((64, 5)), tf.zeros((64, 3)), batch_size=8)\n"
    found = report(text, tmp_path)
    assert (found.parameters, found.causes) == (18, ())
