"""Measures whole training steps of the models in fixtures/memory/torch, on fake tensors: fixtures/truth/steps.json.

As torch_measure.py does for whole zoos, but for other optimizers, batch sizes, losses, and ways to train. Two
rows a case: `cpu` as this build computes it, and, where dropout is in the model, `cuda`, with torch's own
native_dropout in its place, which is what CUDA runs. Run by hand: `python tests/oracle/torch_steps.py`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import json
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

sys.path.insert(0, str(Path(__file__).parent))
from measure_misleading import Kept
from torch_measure import LiveStorages, first_tensor

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "fixtures" / "memory" / "torch"
TARGET = ROOT / "fixtures" / "truth" / "steps.json"

CNN, FROZEN, CHECKPOINTED = "small_cnn.py::SmallCNN()", "resnet_frozen.py", "resnet_checkpointed.py"

CASES: list[dict[str, Any]] = [
    *({"target": CNN, "input_shape": [3, 32, 32], "batch_size": n, "optimizer": "adam"} for n in (1, 8, 128)),
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "sgd"},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "sgd", "options": {"momentum": 0.9}},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "rmsprop"},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "adamw", "options": {"weight_decay": 0.01}},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "adam", "options": {"weight_decay": 0.01}},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "adadelta", "batch_size": 2},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "adagrad", "batch_size": 2},
    {"target": CNN, "input_shape": [3, 32, 32], "optimizer": "sgd", "batch_size": 1},
    *(
        {"target": CNN, "input_shape": [3, 32, 32], "optimizer": name, "options": options, "batch_size": 1}
        for name, options in (
            ("adam", {"amsgrad": True}),
            ("adam", {"foreach": False}),
            ("adamw", {"foreach": False}),
            ("adamw", {"amsgrad": True}),
            ("sgd", {"foreach": False, "momentum": 0.9}),
            ("sgd", {"momentum": 0.9, "weight_decay": 1e-4, "nesterov": True}),
            ("rmsprop", {"centered": True}),
            ("rmsprop", {"centered": True, "momentum": 0.9}),
            ("rmsprop", {"foreach": False}),
            ("adadelta", {}),
            ("adadelta", {"foreach": False}),
            ("adagrad", {}),
            ("adamax", {}),
            ("nadam", {}),
            ("radam", {}),
            ("rprop", {}),
        )
    ),
    *(
        {"target": CNN, "input_shape": [3, 32, 32], "loss": loss, "batch_size": 8}
        for loss in ("nll", "mse", "l1", "smooth_l1", "huber", "kl_div", "bce_with_logits")
    ),
    *(
        {"target": "unet.py::UNet(classes=1)", "input_shape": [3, 64, 64], "batch_size": 4, "loss": loss}
        for loss in ("mse", "l1", "smooth_l1", "huber", "kl_div")
    ),
    *(
        {"target": f"{FROZEN}::{name}", "input_shape": [3, 224, 224], "batch_size": n}
        for name in ("ResNet()", "head_only()", "last_stage()", "Frozen()", "Detached()")
        for n in (1, 32)
    ),
    *(
        {"target": f"{CHECKPOINTED}::CheckpointedResNet({arg})", "input_shape": [3, 64, 64], "batch_size": n}
        for arg in ("", "False")
        for n in (8, 128)
    ),
    *(
        {"target": f"unet.py::UNet({arg})", "input_shape": [3, 128, 128], "batch_size": n}
        for arg in ("", "bilinear=True")
        for n in (1, 8)
    ),
    {"target": "unet.py::UNet(classes=1)", "input_shape": [3, 128, 128], "batch_size": 4, "loss": "bce_with_logits"},
    *({"target": "text.py::LSTMClassifier()", "input_shape": [100, 40], "batch_size": n} for n in (8, 128)),
    *({"target": "text.py::Encoder()", "input_shape": [64, 192], "batch_size": n} for n in (1, 32)),
    *({"target": "text.py::VisionTransformer()", "input_shape": [3, 64, 64], "batch_size": n} for n in (8, 64)),
    *({"target": "autocast.py::MixedCNN()", "input_shape": [3, 32, 32], "batch_size": n} for n in (1, 64)),
    {"target": "autocast.py::MixedCNN(torch.float16)", "input_shape": [3, 32, 32], "batch_size": 8},
    *({"target": "autocast.py::MixedTransformer()", "input_shape": [64, 48], "batch_size": n} for n in (1, 64)),
    {"target": "gan.py::Generator()", "input_shape": [100, 1, 1], "batch_size": 64, "loss": "mse"},
    {"target": "gan.py::Discriminator()", "input_shape": [3, 64, 64], "batch_size": 64, "loss": "bce_with_logits"},
    *({"target": "own_backward.py::Net()", "input_shape": [3, 64, 64], "batch_size": n} for n in (1, 32)),
    *({"target": "held.py::Remembering()", "input_shape": [48, 64], "batch_size": n} for n in (1, 32)),
    *({"target": "unread.py::DeepSupervision()", "input_shape": [3, 64, 64], "batch_size": n} for n in (1, 32)),
    {"target": "mixture.py::Mixture()", "input_shape": [3, 112, 112], "batch_size": 16},
]
DEFAULTS = {"batch_size": 32, "optimizer": "adam", "options": {}, "loss": "cross_entropy"}

OPTIMIZERS = {
    "sgd": "SGD",
    "adam": "Adam",
    "adamw": "AdamW",
    "rmsprop": "RMSprop",
    "adadelta": "Adadelta",
    "adagrad": "Adagrad",
    "adamax": "Adamax",
    "nadam": "NAdam",
    "radam": "RAdam",
    "rprop": "Rprop",
}


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(Path(name).stem, MODELS / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def make(target: str) -> nn.Module:
    """The model of a target, on the CPU where its code names the GPU."""
    name, _, expression = target.partition("::")
    model = eval(expression, vars(load(name)))
    if hasattr(model, "device"):
        model.device = "cpu"
    assert isinstance(model, nn.Module)
    return model


def target_of(kind: str, output: torch.Tensor) -> torch.Tensor:
    if kind in ("cross_entropy", "nll"):
        return torch.zeros((output.shape[0], *output.shape[2:]), dtype=torch.int64)
    return torch.zeros(tuple(output.shape))


LOSSES = {
    "cross_entropy": F.cross_entropy,
    "nll": F.nll_loss,
    "mse": F.mse_loss,
    "l1": F.l1_loss,
    "smooth_l1": F.smooth_l1_loss,
    "huber": F.huber_loss,
    "kl_div": F.kl_div,
    "bce_with_logits": F.binary_cross_entropy_with_logits,
}


def faked(model: nn.Module, mode: FakeTensorMode) -> nn.Module:
    """The model with its parameters and buffers made fake; shared ones stay shared."""
    made: dict[int, nn.Parameter] = {}
    for module in model.modules():
        for name, parameter in list(module._parameters.items()):
            if parameter is not None:
                if id(parameter) not in made:
                    fake = mode.from_tensor(parameter.detach())
                    made[id(parameter)] = nn.Parameter(fake, requires_grad=parameter.requires_grad)
                module._parameters[name] = made[id(parameter)]
        for name, buffer in list(module._buffers.items()):
            if buffer is not None:
                module._buffers[name] = mode.from_tensor(buffer)
        if isinstance(module, nn.RNNBase):
            module._flat_weights = [getattr(module, name) for name in module._flat_weights_names]
    return model


def native_dropout(x: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    """What F.dropout runs on CUDA."""
    return torch.native_dropout(x, p, True)[0] if training and 0 < p < 1 else x


@contextlib.contextmanager
def as_on_cuda() -> Any:
    before = F.dropout
    F.dropout = native_dropout
    try:
        yield
    finally:
        F.dropout = before


def kept(model: nn.Module, shape: list[int], batch: int) -> int:
    """The bytes that one forward pass keeps, as long as its result is there."""
    own = {tensor.untyped_storage()._cdata for tensor in (*model.parameters(), *model.buffers())}
    held: weakref.WeakSet[Kept] = weakref.WeakSet()

    def pack(tensor: torch.Tensor) -> Kept:
        # With its own history a result would keep itself alive.
        kept = Kept(tensor.detach())
        held.add(kept)
        return kept

    x = torch.randn(batch, *shape)
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        result = model(x)
    gc.collect()
    storages = [kept.tensor.untyped_storage() for kept in held]
    del result
    saved = {storage._cdata: storage.nbytes() for storage in storages if storage._cdata not in own}
    saved[x.untyped_storage()._cdata] = x.untyped_storage().nbytes()
    return sum(saved.values())


def peak_of(model: nn.Module, shape: list[int], batch: int, make_optimizer: Callable[[Any], Any], loss: str) -> int:
    """The peak of the second of two steps."""
    with LiveStorages() as live:
        for tensor in (*model.parameters(), *model.buffers()):
            live.watch(tensor)
        # Some make their state here.
        stepper = make_optimizer([p for p in model.parameters() if p.requires_grad])
        with torch.no_grad():
            target = target_of(loss, first_tensor(model(torch.randn(batch, *shape))))
        for _ in range(2):
            live.peak = live.live
            x = torch.randn(batch, *shape)
            value = LOSSES[loss](first_tensor(model(x)), target)
            if value.requires_grad:
                value.backward()
            stepper.step()
            stepper.zero_grad(set_to_none=True)
            del x, value
            gc.collect()
        return live.peak


@contextlib.contextmanager
def autocast_as_on_cuda() -> Any:
    """CUDA's autocast runs softmax and layer norm in float32; the CPU's does not."""
    softmax, layer_norm = torch.softmax, F.layer_norm

    def full(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(x: torch.Tensor, *args: Any, **options: Any) -> Any:
            if not torch.is_autocast_enabled("cpu"):
                return function(x, *args, **options)
            x = x.float()
            with torch.autocast("cpu", enabled=False):
                return function(x, *args, **options)

        return call

    torch.softmax, F.layer_norm = full(softmax), full(layer_norm)
    try:
        yield
    finally:
        torch.softmax, F.layer_norm = softmax, layer_norm


def measure(case: dict[str, Any]) -> tuple[int, int]:
    """`(saved_bytes, peak_bytes)`. Each on a model of its own: hooks keep tensors that are never unpacked alive."""
    cls = getattr(torch.optim, OPTIMIZERS[case["optimizer"]])
    shape, batch = case["input_shape"], case["batch_size"]
    models = [make(case["target"]).train() for _ in range(2)]
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        saved = kept(faked(models[0], mode), shape, batch)
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:

        def optimizer(parameters: Any) -> Any:
            return cls(parameters, **{"foreach": True, **case["options"]})

        return saved, peak_of(faked(models[1], mode), shape, batch, optimizer, case["loss"])


def main() -> None:
    records = []
    for given in CASES:
        case = {**DEFAULTS, **given}
        model = make(case["target"])
        record = {**case, "parameters": sum(p.numel() for p in model.parameters())}
        with autocast_as_on_cuda():
            record["saved_bytes"], record["peak_bytes"] = measure(case)
        if any(isinstance(m, nn.Dropout) and m.p for m in model.modules()):
            with as_on_cuda():
                record["cuda_saved_bytes"], record["cuda_peak_bytes"] = measure(case)
        records.append(record)
        print(case["target"], case["optimizer"], case["batch_size"], file=sys.stderr)
    about = (
        "Measured from PyTorch itself on fake tensors, CPU build: saved_bytes, unique storages that autograd keeps"
        " after the forward pass, while its result is held, parameters and buffers left out, the input batch included;"
        " peak_bytes, the highest sum of live storages, each rounded up to 512 bytes, over the second of two steps with a foreach optimizer;"
        " the targets are there throughout, as the input batch is."
        " cuda_*: the same with native_dropout, as CUDA runs it. Gradients are never accumulated in place here,"
        " because a dispatch mode is on."
    )
    content = {"about": about, "torch": torch.__version__, "models": records}
    TARGET.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
