"""torch.nn.functional's losses, their classes in torch.nn, and the distances. Signatures are data: one row a loss."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.applying import apply, common_dtype, tensor_of
from flake8_cnnmem.frameworks.torch.dtypes import is_floating
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.functions.constants import constant, flat
from flake8_cnnmem.frameworks.torch.functions.elementwise import unary
from flake8_cnnmem.frameworks.torch.functions.number_ranges import refuse_numbers
from flake8_cnnmem.frameworks.torch.functions.reductions import reduce
from flake8_cnnmem.frameworks.torch.nn.functional.composed_losses import composed, distance
from flake8_cnnmem.frameworks.torch.nn.layer import LAYERS, STUBS, base_class
from flake8_cnnmem.frameworks.torch.nn.modules.module import init as init_module
from flake8_cnnmem.frameworks.torch.nn.modules.module import put, stored
from flake8_cnnmem.frameworks.torch.nn.parameter import make_buffer
from flake8_cnnmem.frameworks.torch.registry import DEFINED, FUNCTIONAL
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Common, Loss
from flake8_cnnmem.ops.merge import broadcast
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

PAIR = ("input", "target")
SUMS: dict[str, Any] = {"size_average": None, "reduce": None, "reduction": "mean"}
"""The arguments of most losses; the first two are older names for `reduction`."""

FUNCTIONS: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {
    "cross_entropy": ("cross_entropy", PAIR, {
        "weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean",
        "label_smoothing": 0.0}),
    "nll_loss": ("nll", PAIR, {
        "weight": None, "size_average": None, "ignore_index": -100, "reduce": None, "reduction": "mean"}),
    "binary_cross_entropy": ("bce", PAIR, {"weight": None, **SUMS}),
    "binary_cross_entropy_with_logits": ("bce_with_logits", PAIR, {"weight": None, **SUMS, "pos_weight": None}),
    "mse_loss": ("mse", PAIR, {**SUMS, "weight": None}),
    "l1_loss": ("l1", PAIR, {**SUMS, "weight": None}),
    "smooth_l1_loss": ("smooth_l1", PAIR, {**SUMS, "beta": 1.0}),
    "huber_loss": ("huber", PAIR, {"reduction": "mean", "delta": 1.0, "weight": None}),
    "kl_div": ("kl_div", PAIR, {**SUMS, "log_target": False}),
    "poisson_nll_loss": ("poisson_nll", PAIR, {
        "log_input": True, "full": False, "size_average": None, "eps": 1e-8, "reduce": None, "reduction": "mean"}),
    "gaussian_nll_loss": ("gaussian_nll", ("input", "target", "var"), {
        "full": False, "eps": 1e-6, "reduction": "mean"}),
    "hinge_embedding_loss": ("hinge_embedding", PAIR, {"margin": 1.0, **SUMS}),
    "margin_ranking_loss": ("margin_ranking", ("input1", "input2", "target"), {"margin": 0, **SUMS}),
    "cosine_embedding_loss": ("cosine_embedding", ("input1", "input2", "target"), {"margin": 0, **SUMS}),
    "triplet_margin_loss": ("triplet_margin", ("anchor", "positive", "negative"), {
        "margin": 1.0, "p": 2, "eps": 1e-6, "swap": False, **SUMS}),
    "triplet_margin_with_distance_loss": ("triplet_margin", ("anchor", "positive", "negative"), {
        "*distance_function": None, "margin": 1.0, "swap": False, "reduction": "mean"}),
    "multi_margin_loss": ("multi_margin", PAIR, {"p": 1, "margin": 1.0, "weight": None, **SUMS}),
    "multilabel_margin_loss": ("multilabel_margin", PAIR, SUMS),
    "multilabel_soft_margin_loss": ("multilabel_soft_margin", PAIR, {"weight": None, **SUMS}),
    "soft_margin_loss": ("soft_margin", PAIR, SUMS),
    "ctc_loss": ("ctc", ("log_probs", "targets", "input_lengths", "target_lengths"), {
        "blank": 0, "reduction": "mean", "zero_infinity": False}),
}  # fmt: skip
"""By function: the op's kind, its inputs, its options in order; those from a starred one on are keywords only."""

CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "CrossEntropyLoss": ("cross_entropy", FUNCTIONS["cross_entropy"][2]),
    "NLLLoss": ("nll_loss", FUNCTIONS["nll_loss"][2]),
    "NLLLoss2d": ("nll_loss", FUNCTIONS["nll_loss"][2]),
    "BCELoss": ("binary_cross_entropy", FUNCTIONS["binary_cross_entropy"][2]),
    "BCEWithLogitsLoss": ("binary_cross_entropy_with_logits", FUNCTIONS["binary_cross_entropy_with_logits"][2]),
    "MSELoss": ("mse_loss", SUMS),
    "L1Loss": ("l1_loss", SUMS),
    "SmoothL1Loss": ("smooth_l1_loss", {**SUMS, "beta": 1.0}),
    "HuberLoss": ("huber_loss", {"reduction": "mean", "delta": 1.0}),
    "KLDivLoss": ("kl_div", FUNCTIONS["kl_div"][2]),
    "PoissonNLLLoss": ("poisson_nll_loss", FUNCTIONS["poisson_nll_loss"][2]),
    "GaussianNLLLoss": ("gaussian_nll_loss", {"*full": False, "eps": 1e-6, "reduction": "mean"}),
    "HingeEmbeddingLoss": ("hinge_embedding_loss", FUNCTIONS["hinge_embedding_loss"][2]),
    "MarginRankingLoss": ("margin_ranking_loss", {"margin": 0.0, **SUMS}),
    "CosineEmbeddingLoss": ("cosine_embedding_loss", {"margin": 0.0, **SUMS}),
    "TripletMarginLoss": ("triplet_margin_loss", {"margin": 1.0, "p": 2.0, "eps": 1e-6, "swap": False, **SUMS}),
    "TripletMarginWithDistanceLoss": (
        "triplet_margin_with_distance_loss", FUNCTIONS["triplet_margin_with_distance_loss"][2]),
    "MultiMarginLoss": ("multi_margin_loss", FUNCTIONS["multi_margin_loss"][2]),
    "MultiLabelMarginLoss": ("multilabel_margin_loss", SUMS),
    "MultiLabelSoftMarginLoss": ("multilabel_soft_margin_loss", {"weight": None, **SUMS}),
    "SoftMarginLoss": ("soft_margin_loss", SUMS),
    "CTCLoss": ("ctc_loss", FUNCTIONS["ctc_loss"][2]),
}  # fmt: skip

_Loss = base_class("_Loss", "loss")
_WeightedLoss = base_class("_WeightedLoss", "loss", _Loss)
BASES = {"_Loss": _Loss, "_WeightedLoss": _WeightedLoss}
BASE_OPTIONS: dict[str, dict[str, Any]] = {"_Loss": SUMS, "_WeightedLoss": {"weight": None, **SUMS}}
"""What the constructors of the bases take, which a loss of one's own calls."""


def signature_of(inputs: tuple[str, ...], options: dict[str, Any]) -> inspect.Signature:
    """The signature of a loss: its inputs, then its options with their defaults."""
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, positional) for name in inputs]
    kind: Any = positional
    for name, default in options.items():
        if name.startswith("*"):
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name.lstrip("*"), kind, default=default))
    return inspect.Signature(parameters)


def reduction_of(options: dict[str, Value]) -> str:
    """The reduction that the present and the older arguments ask for together (torch.nn._reduction)."""
    average, reduced = options.get("size_average"), options.get("reduce")
    if average is not None or reduced is not None:
        if reduced is False:
            return "none"
        return "sum" if average is False else "mean"
    reduction = options.get("reduction", "mean")
    return reduction if isinstance(reduction, (str, Unknown)) else "mean"  # type: ignore[return-value]


def longest_of(run: Runtime, lengths: Value) -> Size:
    """The largest of the lengths of targets, where their values are known."""
    values = flat(lengths) if isinstance(lengths, Tensor) and lengths.data is not None else None
    known = [value for value in values or () if isinstance(value, int)]
    return max(known) if known else run.unknown("how long the longest target is, its values alone say")


def as_lengths(value: Value) -> Value:
    """Lengths that are told as numbers, not as a tensor."""
    if isinstance(value, (list, tuple)) and all(type(each) is int for each in value):
        return constant((len(value),), value, "int64")
    return value


def measure(run: Runtime, kind: str, inputs: list[Value], options: dict[str, Value], function: str) -> Value:
    """A loss of its inputs: (), or with reduction "none" the losses of the samples."""
    if kind == "smooth_l1" and options.get("beta", 1.0) == 0:
        kind = "l1"
    tensors = [tensor_of(as_lengths(value) if kind == "ctc" else value) for value in inputs]
    weight = options.get("weight")
    weights = [weight] if isinstance(weight, Tensor) else []
    if kind in WEIGHTED_VALUES:
        tensors += [each for each in (weight, options.get("pos_weight")) if isinstance(each, Tensor)]
        weights = []
    if kind == "nll" and isinstance(tensors[0], Tensor) and is_folded(tensors[0]):
        tensors[0] = tensor_of(unary(run, "contiguous", tensors[0]))
    if kind in ("cross_entropy", "nll"):
        refuse_floats(run, *tensors[:2])
        tensors[1:2] = [tensor_of(of_classes(run, tensors[0], each, options, function)) for each in tensors[1:2]]
    if kind in SPREAD:
        tensors[:2] = spread_to_each_other(run, tensors[:2], function)
    dtype = common_dtype(tensors[:1])
    compared = COMPARED.get(kind, 0) if options.get("distance_function") is None else 0
    numbered = len(tensors) > 1 and isinstance(tensors[1], Tensor) and tensors[1].dtype in ("int64", "int32", "uint8")
    op = Loss(
        kind,
        reduction_of(options),
        tuple(changing(kind, options)),
        classes_of(kind, weight),
        compared,
        numbered,
        longest_of(run, tensors[-1]) if kind == "ctc" else 0,
    )
    steps = composed(kind, options)
    if steps is None or not fits(op, tensors):
        return apply(run, op, *tensors, weights=weights, function=function, dtype=dtype)
    # The function holds what it is given; its name of a variance it gives to a copy.
    given = tensors[:2] if kind == "gaussian_nll" else tensors
    losses = steps(run, tensors, options)
    if op.reduction != "none":
        losses = reduce(run, "mean" if op.reduction == "mean" else "sum", losses)
    run.let_go(*given)
    return losses


SPREAD = ("mse", "l1", "smooth_l1", "huber")
"""Kinds whose functions spread input and target to one shape before anything else (torch/nn/functional.py)."""


def spread_to_each_other(run: Runtime, tensors: list[Any], function: str) -> list[Any]:
    """Input and target as `torch.broadcast_tensors` gives them: of outputs (N, 1) and targets (N) both (N, N)."""
    shapes = [each.shape for each in tensors if isinstance(each, Tensor) and isinstance(each.shape, tuple)]
    if len(shapes) < len(tensors) or len(set(shapes)) == 1:
        return tensors
    try:
        common = broadcast(tuple(shapes), "combines")
    except Mismatch:
        return tensors
    op = Common(common)
    return [each if each.shape == common else apply(run, op, each, function=function) for each in tensors]


def refuse_floats(run: Runtime, input: Value, target: Value) -> None:
    """RuntimeError for class numbers that are floats (`nll_loss_forward` takes long ones), where their values are known
    and so is their dtype."""
    shapes = [each.shape for each in (input, target) if isinstance(each, Tensor) and isinstance(each.shape, tuple)]
    numbers = len(shapes) == 2 and len(shapes[1]) == len(shapes[0]) - 1
    if not numbers or not isinstance(target, Tensor) or not is_floating(target.dtype):
        return
    if target.data is not None:
        raise run.error("RuntimeError", "expected scalar type Long but found Float")
    # Of what a loader gives the dtype may be nobody's word.
    if target.dtype != "float" or (target.call is None and target.site is not None):
        note_cause(run, None, "class numbers", "a loss of class numbers that are fractions is refused")


def of_classes(run: Runtime, input: Value, target: Value, options: dict[str, Value], function: str) -> Value:
    """The class numbers, which are refused where one is as large as there are classes, or larger."""
    if options.get("ignore_index", IGNORED) != IGNORED or not isinstance(input, Tensor):
        return target
    shape = input.shape
    if isinstance(shape, Unknown) or not isinstance(target, Tensor) or len(shape) < 2:
        return target
    if shape[:1] + shape[2:] != target.shape:
        return target
    return refuse_numbers(run, target, shape[1], "classes", function, input)


IGNORED = -100
"""The class number that counts nothing, unless another one is said."""


def is_folded(input: Tensor) -> bool:
    """Whether likelihoods are read as maps of a single row, for which they have to be contiguous (`nll_loss_nd`)."""
    return isinstance(input.shape, tuple) and len(input.shape) not in (1, 2, 4)


WEIGHTED_VALUES = frozenset({"bce", "bce_with_logits"})
"""Kinds whose weights are operands as the target is: autocast casts them, and the backward pass reads them."""


def fits(op: Loss, tensors: list[Any]) -> bool:
    """Whether the shapes of a loss's inputs are known and can be taken together."""
    shapes = [each.shape for each in tensors if isinstance(each, Tensor) and isinstance(each.shape, tuple)]
    try:
        return len(shapes) == len(tensors) and isinstance(op.reduction, str) and bool(op.outputs(*shapes))
    except Mismatch:
        return False


COMPARED = {"triplet_margin": 3, "margin_ranking": 3, "cosine_embedding": 2, "hinge_embedding": 2, "soft_margin": 2}
"""By kind, how many of its inputs are broadcast against each other (aten/src/ATen/native/Loss.cpp)."""


def classes_of(kind: str, weight: Value) -> Size | None:
    """How many classes weights are for; None where they are weights of something else, or nobody knows."""
    known = kind in ("cross_entropy", "nll", "multi_margin") and isinstance(weight, Tensor)
    shape = weight.shape if known and isinstance(weight, Tensor) else None
    return shape[0] if isinstance(shape, tuple) and len(shape) == 1 else None


def changing(kind: str, options: dict[str, Value]) -> Iterator[str]:
    """The options that change what is kept or made on the way, by the names of the rules' variants."""
    if kind == "cross_entropy" and options.get("label_smoothing", 0) != 0:
        yield "smoothed"
        if options.get("weight") is not None:
            yield "weighted"
    if kind == "bce_with_logits" and options.get("pos_weight") is not None:
        yield "positive"
    if kind in ("mse", "l1", "huber") and options.get("weight") is not None:
        yield "weighted"
    if kind == "poisson_nll":
        if options.get("log_input", True) is False:
            yield "of rates"
        if options.get("full", False) is not False:
            yield "in full"
    if kind == "ctc" and options.get("zero_infinity", False) is not False:
        yield "finite"


def constructor(options: dict[str, Any]) -> Native:
    """The constructor of a loss: its options are attributes, and those that are tensors buffers."""
    signature = signature_of((), options)

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        init_module(run, self)
        self.attributes.update(bound.arguments)
        self.attributes["reduction"] = reduction_of(bound.arguments)
        for word in ("weight", "pos_weight"):
            if word in options:
                given = self.attributes.pop(word)
                put(run, self, "_buffers", word, make_buffer(run, given) if isinstance(given, Tensor) else given)
        return None

    return Native("__init__", init, propagate_unknown=False)


def _declare_function(name: str) -> None:
    kind, inputs, options = FUNCTIONS[name]
    signature = signature_of(inputs, options)

    def loss(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        return measure(run, kind, [given.pop(word) for word in inputs], given, name)

    FUNCTIONAL[name] = Native(name, loss, propagate_unknown=False)
    DEFINED[f"functional.{name}"] = signature


def _declare_class(name: str) -> None:
    function, options = CLASSES[name]
    kind, inputs, _ = FUNCTIONS[function]
    signature = signature_of((), options)

    def forward(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        buffers = stored(self, "_buffers")
        options = {word: self.attributes[word] for word in signature.parameters if word in self.attributes}
        # Of the older words what they mean together.
        options |= {"reduction": self.attributes.get("reduction", "mean"), "size_average": None, "reduce": None}
        options |= {word: buffers.get(word) for word in ("weight", "pos_weight")}
        return measure(run, kind, [*args, *kwargs.values()][: len(inputs)], options, name)

    base = _WeightedLoss if "weight" in options else _Loss
    LAYERS[name] = Class(
        name,
        (base,),
        {
            "__init__": constructor(options),
            "forward": Native("forward", forward, propagate_unknown=False),
        },
        module="torch.nn.modules.loss",
    )
    STUBS[name] = lambda: signature


for _name in FUNCTIONS:
    _declare_function(_name)
for _name in CLASSES:
    _declare_class(_name)
for _name, _options in BASE_OPTIONS.items():
    BASES[_name].namespace["__init__"] = constructor(_options)


def cosine_similarity(run: Runtime, x1: Value, x2: Value, dim: Value = 1, eps: Value = 1e-8) -> Value:
    """The shape of both inputs without the axis `dim`: both are spread to it first, in float32 under autocast
    (aten/src/ATen/native/Distance.cpp)."""
    both = [each for each in map(tensor_of, (x1, x2)) if isinstance(each, Tensor)]
    shapes = [each.shape for each in both if not isinstance(each.shape, Unknown)]
    if len(shapes) == len(both) == 2:
        try:
            op = Common(broadcast(tuple(shapes), "combines"))
        except Mismatch:
            op = None
        if op is not None:
            x1, x2 = (apply(run, op, each, function="cosine_similarity") for each in both)
    first, second = (
        binary(run, "/", each, unary(run, "copy", reduce(run, "norm", each, dim, True))) for each in (x1, x2)
    )
    return reduce(run, "sum", binary(run, "*", first, second), dim)


def pairwise_distance(
    run: Runtime, x1: Value, x2: Value, p: Value = 2.0, eps: Value = 1e-6, keepdim: Value = False
) -> Value:
    """(..., features) of both to (...), with `keepdim` (..., 1): the norm of their difference and a small number
    (aten/src/ATen/native/Distance.cpp)."""
    result = distance(run, x1, x2, p, eps, keepdim)
    run.let_go(x1, x2)
    return result


def pdist(run: Runtime) -> Value:
    """The distances of all pairs of rows, of which nobody works out how many there are."""
    return run.unknown("how many pairs a batch has is not worked out")


def similarity_forward(run: Runtime, self: Instance, x1: Value, x2: Value) -> Value:
    """A call of nn.CosineSimilarity."""
    return cosine_similarity(run, x1, x2, self.attributes.get("dim", 1))


def distance_forward(run: Runtime, self: Instance, x1: Value, x2: Value) -> Value:
    """A call of nn.PairwiseDistance."""
    return pairwise_distance(run, x1, x2, keepdim=self.attributes.get("keepdim", False))


def _declare_distance(name: str, forward: Any, options: dict[str, Any]) -> None:
    signature = signature_of((), options)

    def init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        init_module(run, self)
        self.attributes.update(bound.arguments)
        return None

    cls = base_class(name, "distance")
    cls.namespace["__init__"] = Native("__init__", init, propagate_unknown=False)
    cls.namespace["forward"] = Native("forward", forward, propagate_unknown=False)
    LAYERS[name] = cls
    STUBS[name] = lambda: signature


_declare_distance("CosineSimilarity", similarity_forward, {"dim": 1, "eps": 1e-8})
_declare_distance("PairwiseDistance", distance_forward, {"p": 2.0, "eps": 1e-6, "keepdim": False})
