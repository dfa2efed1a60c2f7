"""What a line of PyTorch code leaves in the layer graph: calls, their weights, and the regions that they run in."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.dims import BATCH, Batch
from flake8_cnnmem.frameworks.torch import FRAMEWORK
from flake8_cnnmem.graph import Call, Tensor, Weight, calls_behind
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance
from tests.frameworks.torch.code import HEAD, Ran, shapes

IMAGE = "x = torch.randn(2, 8, 4, 4)\n"


def last(code: str) -> Call:
    return Ran(HEAD + IMAGE + code).log[-1]


def kinds(code: str) -> list[str]:
    return Ran(HEAD + IMAGE + code).kinds


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("y = F.relu(x) + 1", ["relu", "shift"]),
        ("y = x * 2 + x / 3 - x", ["scale", "scale", "add", "subtract"]),
        ("y = 1 / x", ["reciprocal", "scale"]),
        ("y = x * x", ["multiply"]),
        ("y = x.pow(2)", ["pow"]),
        ("y = x ** 2", ["pow"]),
        ("y = 2 ** x", ["exponential"]),
        ("y = x > 0", ["compare"]),
        ("y = x.view(2, -1)", ["view"]),
        ("y = x.view(torch.int32)", ["alias"]),
        ("y = x.view(torch.float32)", []),
        ("y = x[:, :4]", ["view"]),
        ("y = x[:, [0, 1]]", ["copy"]),
        ("y = x.permute(0, 2, 3, 1).contiguous()", ["view", "contiguous"]),
        ("y = x.contiguous()", []),
        ("y = x.permute(0, 2, 3, 1).reshape(2, -1)", ["view", "view"]),
        ("y = x.permute(0, 2, 3, 1).flatten(1)", ["view", "view"]),
        ("y = x.reshape(2, -1)", ["view"]),
        ("y = x.transpose(1, 2).relu().reshape(-1)", ["view", "relu", "view"]),
        ("y = x.flatten(2).transpose(1, 2).reshape(2, 4, 4, 8)", ["view", "view", "view"]),
        ("y = x[:, :, 1:3].reshape(2, 8, -1)", ["view", "view"]),
        ("y = x.float()", ["cast"]),
        ("y = x.float().float()", ["cast"]),
        ("y = x.to('cuda').cpu()", []),
        ("y = torch.cat([x, x], 1)", ["concatenate"]),
        ("y = nn.Identity()(x)", ["identity"]),
        ("y = F.relu(x, inplace=True)", ["relu"]),
        ("y = torch.arange(4) * 2 + torch.ones(4)", []),
        ("p = torch.arange(5000).view(50, 100)\ny = p[:, None] - p[None]", []),
        ("y = x + torch.arange(4)", ["add"]),
        ("y = F.interpolate(x, scale_factor=2, mode='bilinear')", ["upsample_bilinear"]),
        ("y = F.adaptive_avg_pool2d(x, 1)", ["adaptive_average_pool"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_code_makes_calls_of_these_kinds(code: str, expected: list[str]) -> None:
    assert kinds(code) == expected


@pytest.mark.parametrize(
    ("code", "in_place"),
    [("y = F.relu(x, inplace=True)", True), ("y = F.relu(x)", False), ("x += x", True), ("x.add_(1)", True),
     ("y = nn.ReLU(True)(x)", True), ("y = x.clamp_(0, 1)", True), ("x[:, 0] = 1", True), ("y = x + x", False),
     ("y = nn.Dropout(0.5, inplace=True)(x)", True), ("y = x.masked_fill_(x > 0, 0.)", True)],
)  # fmt: skip
def test_in_place_forms_write_into_their_input(code: str, in_place: bool) -> None:
    assert last(code).op.in_place is in_place


def test_the_name_holds_the_result_after_an_in_place_method() -> None:
    ran = Ran(HEAD + IMAGE + "x.mul_(2)\nx += 1\nx[0] = 0\ny = x.relu()")
    assert ran.kinds == ["scale", "shift", "view", "overwrite", "rebased", "relu"]
    assert [call.number for call in calls_behind([ran["y"]])] == [call.number for call in ran.log]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("m = nn.Conv2d(8, 4, 3)\ny = m(x)", ["weight", "bias"]),
        ("m = nn.Conv2d(8, 4, 3, bias=False)\ny = m(x)", ["weight"]),
        ("m = nn.Conv2d(8, 4, 3)\ny = F.conv2d(x, m.weight, m.bias)", ["weight", "bias"]),
        ("m = nn.BatchNorm2d(8)\ny = m(x)", ["weight", "bias", "running_mean", "running_var"]),
        ("m = nn.Linear(4, 2)\ny = F.linear(x, m.weight)", ["weight"]),
        ("m = nn.Linear(4, 4)\ny = x @ m.weight", ["weight"]),
        ("m = nn.Linear(4, 4)\ny = x + m.bias", ["bias"]),
        ("m = nn.Linear(4, 4)\ny = m.bias * x", ["bias"]),
        ("m = nn.Linear(4, 4)\ny = m.bias.view(1, 4, 1, 1)", ["bias"]),
        ("m = nn.Linear(4, 4)\ny = torch.cat([x[0, 0], m.weight])", ["weight"]),
        ("m = nn.PReLU()\ny = m(x)", ["weight"]),
        ("m = nn.LayerNorm(4)\ny = m(x)", ["weight", "bias"]),
        ("m = nn.Embedding(5, 3)\ny = m(torch.zeros(2).long())", ["weight"]),
        ("m = nn.LSTM(4, 3)\ny = m(x[0])[0]", ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_call_names_the_weights_that_it_reads(code: str, names: list[str]) -> None:
    assert [weight.name for weight in last(code).weights if isinstance(weight, Weight)] == names


def test_a_weight_that_is_computed_is_found_behind_the_call() -> None:
    code = "c = nn.Conv2d(8, 4, 3)\nw = c.weight - c.weight.mean()\ny = F.conv2d(x, w)"
    ran = Ran(HEAD + IMAGE + code)
    assert [call.op.kind for call in calls_behind([ran["y"]])] == ["mean", "subtract", "convolution"]


@pytest.mark.parametrize(
    ("norm", "computes"),
    [
        ("nn.utils.weight_norm", "weight_norm"),
        ("nn.utils.spectral_norm", "divide"),
        ("nn.utils.parametrizations.weight_norm", "weight_norm"),
        ("nn.utils.parametrizations.spectral_norm", "divide"),
    ],
)
def test_a_normed_weight_is_computed_in_each_call(norm: str, computes: str) -> None:
    ran = Ran(HEAD + IMAGE + f"m = {norm}(nn.Conv2d(8, 8, 1))\ny = m(m(x))")
    assert [kind for kind in ran.kinds if kind in ("convolution", computes)] == [computes, "convolution"] * 2
    assert all(any(each.layer is ran["m"] for each in call.ancestry()) for call in ran.log)


@pytest.mark.parametrize(
    ("code", "grad"),
    [
        ("y = x.relu()", True),
        ("with torch.no_grad():\n    y = x.relu()", False),
        ("with torch.no_grad():\n    pass\ny = x.relu()", True),
        ("with torch.no_grad():\n    with torch.enable_grad():\n        y = x.relu()", True),
        ("with torch.inference_mode():\n    y = x.relu()", False),
        ("with torch.inference_mode(False):\n    y = x.relu()", True),
        ("with torch.set_grad_enabled(False):\n    y = x.relu()", False),
        ("@torch.no_grad()\ndef f(x):\n    return x.relu()\nf(x)", False),
        ("@torch.no_grad()\ndef f(x):\n    return x\nf(x).relu()", True),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_regions_switch_gradients(code: str, grad: bool) -> None:
    assert last(code).grad is grad


@pytest.mark.parametrize(
    ("code", "autocast"),
    [
        ("y = x.relu()", None),
        ("with torch.autocast('cuda'):\n    y = x.relu()", "float16"),
        ("with torch.autocast(device_type='cuda', dtype=torch.bfloat16):\n    y = x.relu()", "bfloat16"),
        ("with torch.cuda.amp.autocast():\n    y = x.relu()", "float16"),
        ("with torch.cuda.amp.autocast(enabled=False):\n    y = x.relu()", None),
        ("from torch.amp import autocast\nwith autocast('cuda', enabled=True):\n    y = x.relu()", "float16"),
        ("with torch.autocast('cuda'):\n    with torch.autocast('cuda', enabled=False):\n        y = x.relu()", None),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_autocast_is_noted_on_the_call(code: str, autocast: str | None) -> None:
    assert last(code).autocast == autocast


def test_a_checkpoint_is_an_invocation_without_a_layer() -> None:
    call = last("from torch.utils.checkpoint import checkpoint\nm = nn.ReLU()\ny = checkpoint(m, x)")
    assert call.within is not None
    assert [each.checkpoint for each in call.within.ancestry()] == [False, True]


def test_a_layers_ops_run_within_its_invocation() -> None:
    ran = Ran(
        HEAD + IMAGE + "m = nn.Sequential(nn.Conv2d(8, 4, 3, padding=1, padding_mode='reflect'), nn.ReLU())\ny = m(x)"
    )
    names = [[each.layer.cls.name for each in call.within.ancestry()] for call in ran.log if call.within is not None]
    assert names == [["Conv2d", "Sequential"], ["Conv2d", "Sequential"], ["ReLU", "Sequential"]]


def on(code: str, shape: Any = (BATCH, 3, 32, 32)) -> tuple[Ran, Any]:
    """The module `m` of some code, called on an input of this shape."""
    ran = Ran(HEAD + code)
    return ran, FRAMEWORK.call_root(ran.run, ran["m"], [Tensor(shape)])


FORWARD = "class Net(nn.Module):\n    def forward(self, x):\n        {}\nm = Net()"


@pytest.mark.parametrize(
    ("code", "shape"),
    [
        ("return x.view(x.size(0), -1)", (BATCH, 3072)),
        ("return x.view(-1, 3072)", (BATCH, 3072)),
        ("return x.view(-1, 3, 1024)", (BATCH, 3, 1024)),
        ("return x.flatten(1)", (BATCH, 3072)),
        ("return torch.flatten(x, 1)", (BATCH, 3072)),
        ("return x.reshape(x.shape[0] * 4, -1)", (Batch(4), 768)),
        ("b, c, h, w = x.shape\n        return x.view(b, c, h * w).transpose(1, 2)", (BATCH, 1024, 3)),
        ("return x.permute(1, 0, 2, 3)", (3, BATCH, 32, 32)),
        ("return torch.zeros(x.size(0), 5)", (BATCH, 5)),
        ("return x[:, 0, ~torch.eye(32, dtype=torch.bool)]", (BATCH, 992)),
        ("return x.repeat(1, 1, 4, 4)[..., ~torch.eye(128).bool()]", (BATCH, 3, 16256)),
        ("return x[:, 0, torch.eye(32, dtype=torch.bool)]", (BATCH, 32)),
        ("return x[:, :, 0][..., torch.arange(32) < 5]", (BATCH, 3, 5)),
        ("return torch.cat(nn.Identity()([x, x]), 1)", (BATCH, 6, 32, 32)),
        ("return nn.Identity()(None) or x", (BATCH, 3, 32, 32)),
        ("return x.new_zeros(x.shape[0], 2, 2)", (BATCH, 2, 2)),
        ("return torch.cat([x, x])", (Batch(2), 3, 32, 32)),
        ("return x.repeat(2, 1, 1, 1)", (Batch(2), 3, 32, 32)),
        ("return torch.ones(1, 4).expand(x.size(0), -1)", (BATCH, 4)),
        ("return x.chunk(3, 1)[0]", (BATCH, 1, 32, 32)),
        ("return x.mean([2, 3])", (BATCH, 3)),
        ("return x[:, 0]", (BATCH, 32, 32)),
        ("return x[0]", (3, 32, 32)),
        ("return x.unfold(2, 8, 8).unfold(3, 8, 8)", (BATCH, 3, 4, 4, 8, 8)),
        ("return F.interpolate(x, size=x.shape[2:])", (BATCH, 3, 32, 32)),
        ("return F.avg_pool2d(x, x.size()[2:]).squeeze()", (BATCH, 3)),
        ("return F.avg_pool2d(x, x.size(2)).squeeze(-1).squeeze(-1)", (BATCH, 3)),
        ("return torch.einsum('bchw,bdhw->bcd', x, x)", (BATCH, 3, 3)),
        ("return x.flatten(2) @ x.flatten(2).transpose(1, 2)", (BATCH, 3, 3)),
        ("return x.reshape(-1, 32)", (Batch(96), 32)),
        ("return F.pixel_unshuffle(x, 4)", (BATCH, 48, 8, 8)),
        ("return torch.stack([x, x], 1).sum(1)", (BATCH, 3, 32, 32)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_sizes_keep_the_batch(code: str, shape: Any) -> None:
    ran, result = on(FORWARD.format(code))
    assert result.shape == shape
    assert ran.problems == []


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("m = nn.Conv2d(4, 8, 3)", "takes 4 channels, but is given 3"),
        ("m = nn.Conv2d(3, 64 / 2, 3)", "takes a whole number as its number of filters, but is given 32.0"),
        ("m = nn.Conv2d(3, 8, 3, groups=3)", "has 3 groups, which do not divide its 8 filters"),
        ("m = nn.Sequential(nn.Flatten(), nn.Linear(400, 10))", "takes 400 features, but is given 3072"),
        ("m = nn.Sequential(nn.Flatten(), nn.Linear(6144 / 2, 10))",
         "takes a whole number as its number of input features, but is given 3072.0"),
        ("m = nn.BatchNorm2d(4)", "takes 4 channels, but is given 3"),
        ("m = nn.BatchNorm1d(3)", "takes an input of 2 or 3 axes, but is given (N, 3, 32, 32)"),
        ("m = nn.GroupNorm(2, 3)", "has 2 groups, which do not divide its 3 channels"),
        ("m = nn.LayerNorm(16)", "takes 16 features, but is given 32"),
        ("m = nn.Conv2d(3, 8, 40)", "leaves nothing of its 32x32 map: its 40x40 window needs a side of at least 40"),
        ("m = nn.LSTM(16, 4, batch_first=True)\nm = nn.Sequential(nn.Flatten(1, 2), m)",
         "takes 16 features, but is given 32"),
        (FORWARD.format("return x + x[:, :2]"), "adds (N, 3, 32, 32) and (N, 2, 32, 32): 3 and 2 are not equal"),
        (FORWARD.format("return torch.cat([x, x[:, :, 1:]], 1)"),
         "joins (N, 3, 32, 32) and (N, 3, 31, 32): axis 2 is 32 and 31"),
        (FORWARD.format("return x.view(-1, 1000)"),
         "reshapes (N, 3, 32, 32) to (-1, 1000), but each sample has 3072 values, not 1000"),
    ],
    ids=lambda value: value.rpartition("\n")[2] if isinstance(value, str) else "",
)  # fmt: skip
def test_a_wrong_size_is_a_problem_of_the_call(code: str, what: str) -> None:
    ran, _ = on(code)
    assert ran.problems == [what]


@pytest.mark.parametrize(
    ("code", "result"),
    [
        ("m = nn.Conv2d(3, int(input()), 3)", [["float32", "N", "?", 30, 30]]),
        ("m = nn.Conv2d(3, 8, int(input()))", [["float32", "N", 8, "?", "?"]]),
        ("m = nn.Sequential(nn.Conv2d(3, int(input()), 3), nn.Conv2d(16, 4, 3))", [["float32", "N", 4, 28, 28]]),
        (FORWARD.format("return F.relu(x.view(int(input()), -1))"), [["float32", "?", "?"]]),
        (FORWARD.format("return nn.Conv2d(3, 8, 3)(x * torch.load('f'))"), [["float32", "?"]]),
        (FORWARD.format("return x.expand(*input())"), "unknown: "),
        ("m = nn.Linear(32, int(input()))", [["float32", "N", 3, 32, "?"]]),
    ],
    ids=lambda value: value.rpartition("\n")[2] if isinstance(value, str) else "",
)
def test_what_is_not_known_stays_unknown_and_layers_behind_it_are_kept(code: str, result: Any) -> None:
    ran, made = on(code)
    found = shapes(made)
    assert str(found).startswith(result) if isinstance(result, str) else found == result
    assert ran.problems == []
    assert ran.failures == []


def test_layers_behind_an_unknown_input_still_make_calls() -> None:
    ran = Ran(HEAD + "m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2))\ny = m(input())")
    assert ran.kinds == ["convolution", "relu", "view", "linear"]


def test_a_repeated_layer_shares_its_weights() -> None:
    ran, _ = on("c = nn.Conv2d(3, 3, 1)\nm = nn.Sequential(c, c)")
    assert ran.log[0].weights == ran.log[1].weights
    assert len(FRAMEWORK.weights(ran["m"])) == 2
    assert [name for name, _ in FRAMEWORK.children(ran["m"])] == ["0"]


def test_paths_and_weights_follow_torchs_own_order() -> None:
    code = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.b = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))\n"
        "        self.scale = nn.Parameter(torch.ones(2))\n"
        "m = Net()"
    )
    root = Ran(HEAD + code)["m"]
    assert isinstance(root, Instance)
    assert sorted(FRAMEWORK.paths(root).values()) == ["", "b", "b.0", "b.1"]
    assert [weight.name for weight in FRAMEWORK.weights(root)] == [
        "scale", "weight", "bias", "weight", "bias", "running_mean", "running_var", "num_batches_tracked",
    ]  # fmt: skip
    assert [weight.buffer for weight in FRAMEWORK.weights(root)] == [False] * 5 + [True] * 3


@pytest.mark.parametrize(
    ("code", "trainable"),
    [
        ("m.weight.requires_grad = False", [False, True]),
        ("for p in m.parameters():\n    p.requires_grad_(False)", [False, False]),
        ("m.requires_grad_(False)", [False, False]),
        ("m.requires_grad_(False)\nm.bias.requires_grad = True", [False, True]),
        ("m.weight = nn.Parameter(m.weight, requires_grad=False)", [False, True]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_frozen_parameters_are_marked(code: str, trainable: list[bool]) -> None:
    ran = Ran(HEAD + "m = nn.Linear(2, 2)\n" + code)
    assert [weight.trainable for weight in FRAMEWORK.weights(ran["m"])] == trainable


def test_writing_to_a_parameter_keeps_the_parameter() -> None:
    code = "m = nn.Linear(2, 2)\nw = m.weight\nw.data.mul_(2)\nm.weight.data[0] = 1\nnn.init.ones_(m.weight)\nw += 0\n"
    ran = Ran(HEAD + code)
    assert isinstance(ran["w"], Weight)
    assert FRAMEWORK.weights(ran["m"])[0] is ran["w"]
    assert ran.log == []


def test_an_unknown_submodule_stays_visible() -> None:
    ran = Ran(HEAD + "m = nn.Sequential(nn.ReLU(), input())\ny = m(torch.ones(3))")
    assert isinstance(ran["y"], Unknown)
    assert len(ran["m"].attributes["_modules"]) == 2


OLD_NUMBERS = {
    "m(x).sum().data[0]": None,
    "m(x).data.topk(1)[1].float().sum(0)[0].mul_(2)[0]": None,
    "m(x).data.argmax(1).eq(y).sum()[0]": None,
    "m(x).argmax(1).sum()[0]": "getitem",
    "m(x).sum()[0]": "getitem",
    "y.sum()[0]": "getitem",
}


@pytest.mark.parametrize("code", OLD_NUMBERS)
def test_a_number_of_detached_values_had_an_axis_once(code: str) -> None:
    ran = Ran(HEAD + f"m, x, y = nn.Linear(4, 3), torch.randn(8, 4), torch.zeros(8)\nn = {code}")
    wrong = [call.function for call in ran.log if call.problem is not None]
    assert wrong == ([] if OLD_NUMBERS[code] is None else [OLD_NUMBERS[code]])
