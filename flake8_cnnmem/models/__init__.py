"""Which models a file defines, and their graphs: each root is fed with symbolic inputs."""

from flake8_cnnmem.models.arrangements import arranged
from flake8_cnnmem.models.build import Built, Wanted, build_model
from flake8_cnnmem.models.input_of_step import stated_by_step
from flake8_cnnmem.models.joint_training import Evaluated, Whole, as_the_outermost, joined
from flake8_cnnmem.models.root import Root
from flake8_cnnmem.models.runs import evaluate_file
from flake8_cnnmem.models.targets import TargetError, evaluate_target
from flake8_cnnmem.models.unknown_models import only_fed
from flake8_cnnmem.models.uses import defined_at, made_of

__all__ = [
    "Built",
    "Evaluated",
    "Root",
    "TargetError",
    "Wanted",
    "Whole",
    "arranged",
    "as_the_outermost",
    "build_model",
    "defined_at",
    "evaluate_file",
    "evaluate_target",
    "joined",
    "made_of",
    "only_fed",
    "stated_by_step",
]
