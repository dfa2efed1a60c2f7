"""What PyTorch's CUDA code allocates and reserves over the first three steps of a training: fixtures/truth/cuda.json.

Run by hand with a CUDA build of torch, and torchvision's sources on the path; kernels may do nothing, as only the
allocator is asked. Each case is a process of its own. Cases that the file has already are not measured again.

    python tests/oracle/cuda_steps.py fixtures/truth/cuda.json
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

FIXTURES = [
    ("alexnet.py::AlexNet()", (3, 224, 224), 64), ("densenet.py::model", (3, 32, 32), 64),
    ("inception.py::GoogLeNet()", (3, 32, 32), 64), ("lenet.py::Net()", (1, 32, 32), 256),
    ("mobilenet.py::mobilenetv2()", (3, 224, 224), 16), ("partial_norm.py::net_bn()", (3, 64, 64), 64),
    ("resnet.py::ResNet18()", (3, 32, 32), 128), ("resnet.py::ResNet(Bottleneck, [3, 4, 6, 3])", (3, 32, 32), 64),
    ("senet.py::SENet(SENetConfig(widths=[32, 64, 128, 256], reduction=8))", (3, 48, 48), 64),
    ("small_cnn.py::SmallCNN()", (3, 50, 50), 128), ("unet.py::UNet(3, 2)", (3, 256, 256), 4),
    ("unet.py::UNet(n_channels=3, n_classes=2, bilinear=True)", (3, 256, 256), 4),
    ("vgg16.py::VGG16_bn()", (3, 224, 224), 8),
]  # fmt: skip
ZOO = [
    "alexnet.py::alexnet()", "convnext.py::convnext_tiny()", "densenet.py::densenet121()",
    "efficientnet.py::efficientnet_b0()", "googlenet.py::googlenet(init_weights=False)",
    "inception.py::inception_v3(init_weights=False)", "maxvit.py::maxvit_t()", "mobilenetv2.py::mobilenet_v2()",
    "mobilenetv3.py::mobilenet_v3_large()", "regnet.py::regnet_y_1_6gf()", "resnet.py::resnet18()",
    "resnet.py::resnet50()", "shufflenetv2.py::shufflenet_v2_x1_0()", "squeezenet.py::squeezenet1_1()",
    "swin_transformer.py::swin_t()", "swin_transformer.py::swin_v2_t()", "vgg.py::vgg16()",
    "vision_transformer.py::vit_b_16()",
]  # fmt: skip
OPTIMIZERS = [
    ("sgd", {}), ("sgd", {"momentum": 0.9, "weight_decay": 1e-4}), ("adamw", {}), ("rmsprop", {}), ("adagrad", {}),
    ("adadelta", {}), ("nadam", {}), ("radam", {}), ("adamax", {}), ("adam", {"fused": True}),
    ("adam", {"amsgrad": True}),
]  # fmt: skip
CLASSES = {
    "sgd": "SGD", "adam": "Adam", "adamw": "AdamW", "rmsprop": "RMSprop", "adagrad": "Adagrad",
    "adadelta": "Adadelta", "nadam": "NAdam", "radam": "RAdam", "adamax": "Adamax",
}  # fmt: skip


def cases() -> list[dict[str, Any]]:
    base = {"optimizer": "adam", "options": {}, "dtype": "float32"}
    found = []
    for target, shape, batch in FIXTURES:
        for dtype in ("float32", "mixed_float16"):
            where = f"fixtures/models/torch/{target}"
            found.append({**base, "target": where, "input_shape": list(shape), "batch_size": batch, "dtype": dtype})
    where = "fixtures/models/torch/resnet.py::ResNet18()"
    for name, options in OPTIMIZERS:
        case = {**base, "target": where, "input_shape": [3, 32, 32], "batch_size": 128}
        found.append({**case, "optimizer": name, "options": options})
    for dtype in ("float32", "mixed_float16"):
        for entry in ZOO:
            size = 299 if "inception_v3" in entry else 224
            case = {**base, "target": f"torchvision/models/{entry}", "input_shape": [3, size, size], "batch_size": 32}
            found.append({**case, "dtype": dtype})
    return found


def built(target: str) -> Any:
    path, _, expression = target.partition("::")
    if path.startswith("fixtures/"):
        spec = importlib.util.spec_from_file_location("target", ROOT / path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["target"] = module
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(path.removesuffix(".py").replace("/", "."))
    return eval(expression, dict(vars(module)))


def measure(case: dict[str, Any]) -> dict[str, Any]:
    import torch

    def first(out: Any) -> Any:
        while not isinstance(out, torch.Tensor):
            out = out[0] if isinstance(out, (tuple, list)) else next(iter(out.values()))
        return out

    model = built(case["target"]).cuda().train()
    optimizer = getattr(torch.optim, CLASSES[case["optimizer"]])(model.parameters(), **{"lr": 0.1, **case["options"]})
    batch, mixed = case["batch_size"], case["dtype"] != "float32"

    def step() -> None:
        x = torch.empty(batch, *case["input_shape"], device="cuda")
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=mixed):
            out = first(model(x))
            y = torch.zeros(batch, *out.shape[2:], dtype=torch.long, device="cuda")
            loss = torch.nn.functional.cross_entropy(out, y)
        del out
        loss.backward()
        optimizer.step()

    for _ in range(3):
        step()
    return {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved()}


def main() -> None:
    if sys.argv[1] == "case":
        print(json.dumps(measure(json.loads(sys.argv[2]))))
        return
    import torch

    path = Path(sys.argv[1])
    content = json.loads(path.read_text()) if path.exists() else {"torch": torch.__version__, "steps": []}
    content["card"] = torch.cuda.get_device_name()
    known = {json.dumps(row["case"], sort_keys=True) for row in content["steps"]}
    for case in cases():
        if json.dumps(case, sort_keys=True) in known:
            continue
        run = [sys.executable, __file__, "case", json.dumps(case)]
        done = subprocess.run(run, capture_output=True, text=True)
        if done.returncode:
            print("failed:", case["target"], done.stderr.strip().splitlines()[-1:])
            continue
        row = {"case": case, **json.loads(done.stdout.splitlines()[-1])}
        content["steps"].append(row)
        rows = ",\n  ".join(json.dumps(each) for each in content["steps"])
        head = json.dumps({key: value for key, value in content.items() if key != "steps"})
        path.write_text(head[:-1] + ',\n "steps": [\n  ' + rows + "\n ]}\n")
        print(case["target"], case["dtype"], row["allocated"], row["reserved"], flush=True)


if __name__ == "__main__":
    main()
