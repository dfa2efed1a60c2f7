"""Write down the signatures of torch's layers, functions, methods and optimizers that we know.

Run by hand with PyTorch installed:

    python tests/oracle/check_torch_stubs.py

writes fixtures/truth/torch_signatures.json, against which tests/frameworks/torch/test_signatures.py holds our
stubs. Functions of Python are asked for their signature; those of C++ are read from the overloads in torch's own
type stubs (torch/_C/*.pyi).
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
import warnings
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "torch_signatures.json"

Parameters = list[list[str]]


def parameters(function: Any) -> Parameters:
    """[name] or [name, default as text] for each parameter, `self` and catch-alls left out."""
    found = []
    for word, parameter in inspect.signature(function).parameters.items():
        if word == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = [] if parameter.default is parameter.empty else [shown(parameter.default)]
        found.append([word, *default])
    return found


def shown(default: Any) -> str:
    return default.__name__ if callable(default) else repr(default)


def overloads(path: Path, owner: str | None) -> dict[str, list[list[str]]]:
    """The names of the positional parameters of every overload, by function, from a type stub."""
    tree = ast.parse(path.read_text())
    body = tree.body
    if owner is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    found: dict[str, list[list[str]]] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            if node.args.vararg is not None:
                names.append("*" + node.args.vararg.arg)
            if owner is not None:
                names = ["input", *names[1:]]
            if (owner is None and "self" in names) or "out_dtype" in names:
                continue  # orders of arguments that are deprecated; products of quantised matrices
            if names not in found.setdefault(node.name, []):
                found[node.name].append(names)
    return found


def measure() -> dict[str, Any]:
    sys.path.insert(0, str(ROOT))
    import torch
    from torch import nn

    from flake8_cnnmem.frameworks.torch import optim, registry
    from flake8_cnnmem.frameworks.torch.nn import layer

    layers = {}
    for word in sorted(dir(nn)):
        member = getattr(nn, word)
        if inspect.isclass(member) and issubclass(member, nn.Module) and member is not nn.Module:
            layers[word] = parameters(member)
    functional = {}
    for word in sorted(set(registry.FUNCTIONAL) | {word for word in dir(torch.nn.functional) if word[0] != "_"}):
        member = getattr(torch.nn.functional, word, None)
        if inspect.isfunction(member) and "boolean_dispatch" not in member.__qualname__:
            if member.__module__ == "torch.nn.functional":
                functional[word] = parameters(member)
    stubs = Path(torch.__file__).parent / "_C"
    functions = overloads(stubs / "_VariableFunctions.pyi", None)
    methods = overloads(stubs / "__init__.pyi", "TensorBase")
    own = inspect.getmembers(torch.Tensor, inspect.isfunction)
    methods.update({word: [["input", *inspect.signature(f).parameters][:1] + list(inspect.signature(f).parameters)[1:]]
                    for word, f in own if not word.startswith("__")})  # fmt: skip
    return {
        "about": "Signatures of torch's own layers, functions, methods and optimizers; written by "
        "tests/oracle/check_torch_stubs.py.",
        "torch": torch.__version__,
        "layers": layers,
        "functional": functional,
        "optimizers": {word: parameters(getattr(torch.optim, word)) for word in sorted(optim.OPTIONS)},
        "functions": {word: functions[word] for word in sorted(registry.TORCH) if word in functions},
        "methods": {word: methods[word] for word in sorted(registry.METHODS) if word in methods},
        "unknown": {
            "layers": sorted(word for word in layer.LAYERS if word not in layers),
            "functions": sorted(word for word in registry.TORCH if not hasattr(torch, word)),
            "methods": sorted(word for word in registry.METHODS if not hasattr(torch.Tensor, word)),
            "functional": sorted(word for word in registry.FUNCTIONAL if not hasattr(torch.nn.functional, word)),
        },
        "missing": {
            "layers": sorted(word for word in layers if word not in layer.LAYERS),
            "functions": sorted(word for word in functions if word[0] != "_" and word not in registry.TORCH),
            "methods": sorted(word for word in methods if word[0] != "_" and word not in registry.METHODS),
            "functional": sorted(word for word in functional if word not in registry.FUNCTIONAL),
        },
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    TRUTH.write_text(json.dumps(measure(), indent=1, sort_keys=True) + "\n")
