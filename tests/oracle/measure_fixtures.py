"""Measure the fixture models with the frameworks themselves. Run by hand, with the extra `oracle` installed:

    python tests/oracle/measure_fixtures.py [torch] [keras]

writes fixtures/truth/fixtures_torch.json and fixtures/truth/fixtures_keras.json. Each fixture is run as the module
that it is, then the target's expression is evaluated in it. PyTorch's models are measured on fake tensors
(torch_measure.py says what is counted), Keras' from their layers.
"""

from __future__ import annotations

import json
import os
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "fixtures" / "models"
TRUTH = ROOT / "fixtures" / "truth"
sys.path.insert(0, str(Path(__file__).parent))

ABOUT_TORCH = (
    "Measured from PyTorch itself on fake tensors by tests/oracle/measure_fixtures.py. saved_bytes: unique storages "
    "that autograd keeps after the forward pass, parameters and buffers left out, the input batch included. "
    "peak_bytes: the highest sum of live storages, each rounded up to 512 bytes, over the second of two training "
    "steps (zero_grad, forward in train mode, cross entropy over the second axis, backward, foreach Adam step); of "
    "several outputs the loss is on the first. layers: the leaf modules in call order with the output shape without "
    "the batch. variant: the file can build this model, but does not when it runs."
)
ABOUT_KERAS = (
    "Measured from Keras itself by tests/oracle/measure_fixtures.py: count_params() and, per layer, [name, class, "
    "output shape with None for the batch, parameters]; of a layer with several outputs a list of shapes. "
    "variant: the file can build this model, but does not when it runs."
)


@dataclass(frozen=True)
class Case:
    """`inputs`: shapes without the batch, several for several inputs, none where the Keras model knows its own."""

    file: str
    expression: str
    inputs: tuple[tuple[int, ...], ...] = ()
    tokens: int | None = None
    """The inputs are whole numbers below this."""
    lazy: bool = False
    """Its parameters are made by a first call, which fake tensors cannot do."""
    variant: bool = False
    """The file can build this model, but does not when it runs."""


TORCH = [
    Case("alexnet.py", "AlexNet()", ((3, 224, 224),)),
    Case("audio_m5.py", "model", ((1, 8000),)),
    Case("autoencoder.py", "VAE()", ((3, 32, 32),)),
    Case("c3d.py", "C3D(num_classes=101)", ((3, 16, 112, 112),)),
    Case("conv_lstm.py", "FramePredictor()", ((5, 1, 64, 64),)),
    Case("dcgan.py", "netG", ((100, 1, 1),)),
    Case("dcgan.py", "netD", ((3, 64, 64),)),
    Case("densenet.py", "model", ((3, 32, 32),)),
    Case("dict_config.py", "create_model()", ((3, 64, 64),)),
    Case("inception.py", "GoogLeNet()", ((3, 32, 32),)),
    Case("lazy_cnn.py", "LazyCNN()", ((3, 40, 40),), lazy=True),
    Case("lenet.py", "Net()", ((1, 32, 32),)),
    Case("mobilenet.py", "mobilenetv2(width_mult=0.75)", ((3, 160, 160),)),
    Case("mobilenet.py", "mobilenetv2()", ((3, 224, 224),)),
    Case("partial_norm.py", "net_gn()", ((3, 64, 64),)),
    Case("partial_norm.py", "net_bn()", ((3, 64, 64),)),
    Case("resnet.py", "ResNet18()", ((3, 32, 32),)),
    Case("resnet.py", "ResNet34()", ((3, 32, 32),)),
    Case("resnet.py", "ResNet(Bottleneck, [3, 4, 6, 3])", ((3, 32, 32),)),
    Case("senet.py", "SENet(SENetConfig(widths=[32, 64, 128, 256], reduction=8))", ((3, 48, 48),)),
    Case("seq2seq_gru.py", "build_model()", ((10,), (10,)), 2991),
    Case("siamese.py", "Siamese()", ((1, 105, 105), (1, 105, 105))),
    Case("small_cnn.py", "SmallCNN()", ((3, 50, 50),)),
    Case("spectrogram_cnn.py", "model", ((1, 16000),)),
    Case("super_resolution.py", "espcn()", ((1, 85, 85),)),
    Case("text_lstm.py", "model", ((200,),), 20000),
    Case("transformer.py", "model", ((35,),), 28782),
    Case("unet.py", "UNet(n_channels=3, n_classes=2, bilinear=True)", ((3, 572, 572),)),
    Case("unet.py", "UNet(3, 2)", ((3, 256, 256),), variant=True),
    Case("vgg16.py", "VGG16()", ((3, 224, 224),)),
    Case("vgg16.py", "VGG16_bn()", ((3, 224, 224),)),
    Case("vgg16.py", "VGG('VGG11', num_classes=10)", ((3, 224, 224),), variant=True),
    Case(
        "vit.py",
        "VisionTransformer(img_size=96, patch_size=8, embed_dim=192, depth=6, n_heads=3, n_classes=100, p=0.1)",
        ((3, 96, 96),),
    ),
]

KERAS = [
    Case("alexnet.py", "AlexNet()"),
    Case("autoencoder.py", "autoencoder", ((28, 28, 1),)),
    Case("conv1d_audio.py", "model"),
    Case("conv3d_ct.py", "model"),
    Case("conv_lstm.py", "seq"),
    Case("data_format.py", "model"),
    Case("dcgan.py", "generator"),
    Case("dcgan.py", "discriminator"),
    Case("densenet.py", "densenet"),
    Case("dict_config.py", "Builder(CONFIG).build()"),
    Case("inception.py", "googlenet()"),
    Case("lenet.py", "LeNet5()"),
    Case("mobilenet.py", "MobileNet()", variant=True),
    Case("mobilenet.py", "MobileNet((160, 160, 3), alpha=0.5)"),
    Case("resnet50.py", "ResNet50()"),
    Case("resnet_cifar.py", "model"),
    Case("resnet_cifar.py", "resnet_v2(input_shape=input_shape, depth=29)", variant=True),
    Case("senet.py", "model"),
    Case("seq2seq_gru.py", "model"),
    Case("siamese.py", "siamese_net"),
    Case("small_cnn.py", "model"),
    Case("subclassed_build.py", "ResNet(num_classes=5)", ((96, 96, 3),)),
    Case("text_lstm.py", "get_model()"),
    Case("text_transformer.py", "model"),
    Case("time_distributed.py", "model"),
    Case("time_distributed.py", "action_model()", variant=True),
    Case("transfer.py", "model"),
    Case("transfer.py", "backbone()", variant=True),
    Case("unet.py", "unet()"),
    Case("unet_transposed.py", "build_unet()"),
    Case("vgg16.py", "vgg16()"),
    Case("vit.py", "create_vit_classifier()"),
]


def stand_in(name: str, **members: Any) -> None:
    """A module that a fixture imports for nothing that is measured."""
    module = types.ModuleType(name)
    vars(module).update(members)
    sys.modules.setdefault(name, module)


def run(path: Path) -> dict[str, Any]:
    """The names of a fixture that is run as a module."""
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules[path.stem] = module  # dataclasses look their module up
    try:
        exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), vars(module))
    finally:
        del sys.modules[path.stem]
    return vars(module)


def measure_torch() -> dict[str, Any]:
    import torch
    import torch_measure

    stand_in("torchinfo", summary=None)
    stand_in("torchsummary", summary=None)
    torch.nn.Module.to = lambda self, *args, **kwargs: self  # fake parameters cannot be moved
    models = []
    for case in TORCH:
        print(case.file, case.expression, flush=True)
        path = MODELS / "torch" / case.file

        def make(path: Path = path, case: Case = case) -> Any:
            return made_by_a_call(path, case) if case.lazy else eval(case.expression, run(path))

        record = torch_measure.measure(make, case.inputs, tokens=case.tokens)
        if case.variant:
            record["variant"] = True
        models.append({"target": f"fixtures/models/torch/{case.file}::{case.expression}", **record})
    return {
        "about": ABOUT_TORCH,
        "torch": torch.__version__.partition("+")[0],
        "models": models,
    }


def made_by_a_call(path: Path, case: Case) -> Any:
    """The model after a real first call, its parameters then replaced by fake ones."""
    import torch
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    with unset_fake_temporarily():
        model = eval(case.expression, run(path))
        model(*[torch.zeros(2, *shape) for shape in case.inputs])
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            setattr(module, name, torch.nn.Parameter(torch.zeros(parameter.shape)))
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, torch.zeros(buffer.shape, dtype=buffer.dtype))
    return model


def measure_keras() -> dict[str, Any]:
    import keras
    import tensorflow as tf

    offline_datasets(keras)
    models = []
    for case in KERAS:
        print(case.file, case.expression, flush=True)
        keras.backend.clear_session()
        model = eval(case.expression, run(MODELS / "keras" / case.file))
        shapes = [list(shape) for shape in case.inputs]
        layers = keras_calls(model, case.inputs) if shapes else keras_layers(model)
        shapes = shapes or [list(tensor.shape[1:]) for tensor in model.inputs]
        record = {
            "target": f"fixtures/models/keras/{case.file}::{case.expression}",
            "input_shape": shapes[0],
            "parameters": model.count_params(),
            "trainable": sum(int(weight.shape.num_elements()) for weight in model.trainable_variables),
            "layers": layers,
        }
        if len(shapes) > 1:
            record["input_shapes"] = shapes
        if case.variant:
            record["variant"] = True
        models.append(record)
    return {
        "about": ABOUT_KERAS,
        "keras": keras.__version__,
        "tensorflow": tf.__version__,
        "models": models,
    }


def offline_datasets(keras: Any) -> None:
    """The data sets that fixtures load, with the shapes of the real ones and nothing in them."""
    import numpy

    def digits() -> Any:
        return tuple((numpy.zeros((n, 28, 28), "uint8"), numpy.zeros(n, "uint8")) for n in (60000, 10000))

    keras.datasets.mnist.load_data = digits


def shape_of(outputs: Any) -> list[Any]:
    import keras

    shapes = [list(tensor.shape) for tensor in keras.tree.flatten(outputs) if hasattr(tensor, "shape")]
    return shapes[0] if len(shapes) == 1 else shapes


def keras_layers(model: Any) -> list[list[Any]]:
    """The rows that summary() prints; a layer that is called several times has the shape of its first call."""
    rows = []
    for layer in model.layers:
        nodes = layer._inbound_nodes
        rows.append([layer.name, type(layer).__name__, shape_of(nodes[0].outputs), layer.count_params()])
    return rows


def keras_calls(model: Any, shapes: tuple[tuple[int, ...], ...]) -> list[list[Any]]:
    """For a subclassed model, whose layers know no outputs: its own layers' calls, in order."""
    import keras

    own = {id(layer) for layer in model.layers}
    plain = keras.layers.Layer.__call__
    rows: list[list[Any]] = []
    depth = 0

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal depth
        depth += 1
        try:
            outputs = plain(self, *args, **kwargs)
        finally:
            depth -= 1
        if depth == 1 and id(self) in own:
            rows.append([self.name, type(self).__name__, shape_of(outputs), self.count_params()])
        return outputs

    keras.layers.Layer.__call__ = watched
    try:
        model(*[keras.Input(shape) for shape in shapes])
    finally:
        keras.layers.Layer.__call__ = plain
    # Keras traces an unbuilt model once more to build it: the same rows again.
    half = len(rows) // 2
    return rows[:half] if rows[:half] == rows[half:] else rows


def write(name: str, found: dict[str, Any]) -> None:
    """One line a model: the differences of a new run can be read."""
    head = json.dumps({key: value for key, value in found.items() if key != "models"}, indent=1)[:-2]
    lines = ",\n".join(json.dumps(model, separators=(",", ":")) for model in found["models"])
    (TRUTH / name).write_text(f'{head},\n "models": [\n{lines}\n]}}\n')


def main(asked: list[str]) -> int:
    if "torch" in asked:
        write("fixtures_torch.json", measure_torch())
    if "keras" in asked:
        write("fixtures_keras.json", measure_keras())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["torch", "keras"]))
