"""The loss at the end of a model: it is in no graph, so it is added to it here, with its targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Shape
from flake8_cnnmem.graph import Call, Model, Tensor
from flake8_cnnmem.memory.dtypes import is_floating
from flake8_cnnmem.ops import Loss
from flake8_cnnmem.unknown import Unknown

CLASSES, LIKE, ONE_HOT = "classes", "like", "one hot"
"""Targets: a class number for each place, or a number for each value of the output."""

DEFAULT = "cross_entropy"

KINDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "crossentropy": ("cross_entropy", CLASSES),
        "nll": ("nll", CLASSES),
        "bce": ("bce", LIKE),
        "binarycrossentropy": ("bce", LIKE),
        "bcewithlogits": ("bce_with_logits", LIKE),
        "binarycrossentropywithlogits": ("bce_with_logits", LIKE),
        "mse": ("mse", LIKE),
        "meansquarederror": ("mse", LIKE),
        "l1": ("l1", LIKE),
        "mae": ("l1", LIKE),
        "meanabsoluteerror": ("l1", LIKE),
        "smoothl1": ("smooth_l1", LIKE),
        "huber": ("huber", LIKE),
        "kldiv": ("kl_div", LIKE),
        "kldivergence": ("kl_div", LIKE),
        "kullbackleiblerdivergence": ("kl_div", LIKE),
        "hinge": ("hinge_embedding", LIKE),
        "hingeembedding": ("hinge_embedding", LIKE),
        "multimargin": ("multi_margin", CLASSES),
        "multilabelmargin": ("multilabel_margin", LIKE),
        "multilabelsoftmargin": ("multilabel_soft_margin", LIKE),
        "softmargin": ("soft_margin", LIKE),
        "poissonnll": ("poisson_nll", LIKE),
        "poisson": ("poisson_nll", LIKE),
        "gaussiannll": ("gaussian_nll", LIKE),
        "categoricalcrossentropy": ("categorical_crossentropy", ONE_HOT),
        "sparsecategoricalcrossentropy": ("sparse_categorical_crossentropy", CLASSES),
    }
)
"""By the framework's own name, in lower case, without underscores and "loss"."""


def plain(name: str) -> str:
    """A loss's name as `KINDS` spells it."""
    short = name.lower().replace("_", "").replace("-", "")
    return short.removesuffix("loss")


def add_losses(model: Model, name: str, certain: bool, each: Sequence[str] = ()) -> list[tuple[Call, Tensor]]:
    """The calls of the losses that a step goes back from, each with its targets; none if no output can have one.

    `each` names the losses that a trainer takes of the outputs, "" for none; a single one is taken of every output.
    Without it there is one, `name`, of the first output that can have one. Where that loss is not `certain`, a single
    value for each sample is taken for a logit of two classes.
    """
    outputs = model.outputs
    names = [each[0]] * len(outputs) if len(each) == 1 else each
    if len(outputs) > 1 and len(names) == len(outputs):
        taken = [(out, one, True) for out, one in zip(outputs, names, strict=True) if one and is_floating(out.dtype)]
    else:
        taken = [(out, name, certain) for out in outputs if is_floating(out.dtype)][:1]
    number = 1 + max((call.number for call in model.calls), default=0)
    return [loss_of(model, number + at, *one) for at, one in enumerate(taken)]


def loss_of(model: Model, number: int, output: Tensor, name: str, certain: bool) -> tuple[Call, Tensor]:
    """A loss of one output as a call of this number, and its targets."""
    kind, form = KINDS.get(plain(name), ("cross_entropy", CLASSES))
    shape = output.shape
    if kind == "cross_entropy" and not certain and not isinstance(shape, Unknown):
        if len(shape) < 2 or shape[1] == 1:
            kind, form = "bce_with_logits", LIKE
    target = Tensor(_target(shape, form, model.framework), "int64" if form == CLASSES else "float32")
    call = Call(Loss(kind), (output, target), (), number, function="loss")
    call.outputs = (Tensor((), "float", call),)
    return call, target


def _target(shape: Shape | Unknown, form: str, framework: str) -> Shape | Unknown:
    if isinstance(shape, Unknown) or form != CLASSES:
        return shape
    return frameworks.named(framework).class_targets(shape)
