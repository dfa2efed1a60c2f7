"""Write down what objects of PyTorch's classes have: methods, properties, and attributes that their own code sets.

Run by hand, with PyTorch installed:

    python tests/oracle/measure_members.py

writes fixtures/truth/members.json, against which tests/frameworks/test_members.py holds what is followed, and the names
of the package (flake8_cnnmem/frameworks/torch/class_members.py). Modules and tensors have tables of their own.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import textwrap
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "fixtures" / "truth" / "members.json"
PACKAGE = ROOT / "flake8_cnnmem" / "frameworks" / "torch" / "class_members.py"

CLASSES = {
    "torch": ("Generator", "Size", "device", "dtype", "autocast", "finfo", "iinfo"),
    "torch.amp": ("GradScaler",),
    "torch.distributions.categorical": ("Categorical",),
    "torch.distributions.normal": ("Normal",),
    "torch.nn.utils.rnn": ("PackedSequence",),
    "torch.optim.lr_scheduler": (
        "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR",
        "ExponentialLR", "LRScheduler", "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR",
        "PolynomialLR", "ReduceLROnPlateau", "SequentialLR", "StepLR",
    ),
    "torch.optim.optimizer": ("Optimizer",),
    "torch.utils.data": (
        "BatchSampler", "ChainDataset", "ConcatDataset", "DataLoader", "Dataset", "DistributedSampler",
        "IterableDataset", "RandomSampler", "Sampler", "SequentialSampler", "StackDataset", "Subset",
        "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler",
    ),
}  # fmt: skip
"""By the modules in which the package's classes stand."""


def members(cls: type) -> list[str]:
    """What an instance has, without private names: what `dir` has of the class, and what its methods and those of its
    bases assign to `self`."""
    found = set(dir(cls))
    for base in cls.__mro__:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(base)))
        except (OSError, TypeError):
            # Built in, or a tuple.
            continue
        found |= {
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
        }
        found |= {node.target.id for node in ast.walk(tree)
                  if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}  # fmt: skip
    return sorted(name for name in found if not name.startswith("_"))


HEAD = '''"""What objects of torch's classes have, besides modules and tensors, as measured with {version}.

Written by tests/oracle/measure_members.py. What is here and not followed is a cause; what is not, is an
AttributeError.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.existing_names import ExistingNames

MEMBERS = ExistingNames(
    {{
'''


def main() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = {
            f"{module}.{name}": members(getattr(importlib.import_module(module), name))
            for module, names in CLASSES.items()
            for name in names
        }
    version = importlib.import_module("torch").__version__.partition("+")[0]
    about = "What objects of PyTorch's classes have; written by tests/oracle/measure_members.py."
    truth = {"about": about, "versions": {"torch": version}, "members": found}
    TRUTH.write_text(json.dumps(truth, indent=1, sort_keys=True) + "\n")
    text = HEAD.format(version=version)
    for dotted, words in sorted(found.items()):
        lines = textwrap.wrap(" ".join(words), 104, break_long_words=False, break_on_hyphens=False)
        text += f'        "{dotted}": """\n' + textwrap.indent("\n".join(lines), " " * 12) + '\n        """,\n'
    PACKAGE.write_text(text + "    }\n)\n")


if __name__ == "__main__":
    main()
