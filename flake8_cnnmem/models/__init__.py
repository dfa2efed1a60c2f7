"""Which models a file defines, and their graphs: each root is fed with symbolic inputs."""

from flake8_cnnmem.models.arranged import arranged
from flake8_cnnmem.models.build import Built, Wanted, build_model, stated_by_step
from flake8_cnnmem.models.join import Evaluated, Whole, joined
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.roots import TargetError, evaluate_target
from flake8_cnnmem.models.runs import evaluate_file

__all__ = [
    "Built",
    "Evaluated",
    "Root",
    "TargetError",
    "Wanted",
    "Whole",
    "arranged",
    "build_model",
    "evaluate_file",
    "evaluate_target",
    "joined",
    "stated_by_step",
]
