"""Losses that PyTorch writes in other ops, in these: what is kept of them, and what their gradients are made of, is
that of each.

After aten/src/ATen/native/Loss.cpp and LossNLL.cpp of PyTorch 2.12. What an expression of C++ makes on its way is there
until the expression ends, what a function names until that does. Autocast casts the operands of those losses that are
on its list, and is off inside. Cross entropy asks for a log_softmax in the logits' own dtype, which autocast leaves
alone, and casts it for the likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from flake8_cnnmem.graph import Call, Mismatch, Tensor
from flake8_cnnmem.memory.dtypes import HALVES
from flake8_cnnmem.memory.plain_attention import ComposedCalls
from flake8_cnnmem.ops import Broadcast, Elementwise, Loss, Reduce, Reshape
from flake8_cnnmem.unknown import Unknown

Written: TypeAlias = Callable[[Call, Loss, Sequence[str], str | None], tuple[Call, ...]]
"""The calls in the place of a loss."""

OfValues: TypeAlias = Callable[[ComposedCalls, Sequence[Tensor], Sequence[str]], Tensor]
"""The losses of the values, of a loss's inputs and by its options."""


def written_loss(call: Call, dtypes: Sequence[str], half: str | None) -> tuple[Call, ...]:
    """The calls in the place of a loss; none where a kernel computes it, a rule of its own says what it holds, or a
    size is not known. `dtypes` are those in which the operands lie, `half` that of autocast."""
    op = call.op
    shapes = [tensor.shape for tensor in call.inputs]
    if not isinstance(op, Loss) or call.problem is not None or any(isinstance(shape, Unknown) for shape in shapes):
        return ()
    if isinstance(op.reduction, Unknown) or isinstance(op.options, Unknown) or len(shapes) < 2:
        return ()
    try:
        written = WRITTEN.get(op.kind)
        return () if written is None else written(call, op, dtypes, half)
    except Mismatch:
        # Sizes that do not fit are told at the call, not here.
        return ()


def of_values(losses_of: OfValues) -> Written:
    """A loss whose values are computed one by one, in float32 under autocast, and then reduced."""

    def written(call: Call, op: Loss, dtypes: Sequence[str], half: str | None) -> tuple[Call, ...]:
        if call.weights:
            return ()
        steps = ComposedCalls(call)
        in_half = [half is not None and dtype in HALVES for dtype in dtypes]
        given = [steps.cast(each, "float32") if cast else each for each, cast in zip(call.inputs, in_half, strict=True)]
        losses = losses_of(steps, given, op.options)
        if op.reduction not in ("none", None):
            losses = steps.make(Reduce("mean" if op.reduction == "mean" else "sum"), losses)
        return steps.ending_in(losses)

    return written


def _cross_entropy(call: Call, op: Loss, dtypes: Sequence[str], half: str | None) -> tuple[Call, ...]:
    steps, variants = ComposedCalls(call), op.variants(call.inputs)  # type: ignore[arg-type]
    logits, target = call.inputs[:2]
    if variants and variants[0].startswith("soft"):
        return steps.ending_in(_of_probabilities(steps, op, logits, target, call.weights))
    in_half = half is not None and dtypes[0] in HALVES
    if op.options:
        # The sum of unweighted ones is autocast's to widen.
        if in_half and not call.weights:
            return ()
        return steps.ending_in(_of_smoothed_labels(steps, op, logits, target, call.weights, in_half))
    if variants or (not in_half and op.reduction not in ("none", None)):
        return ()
    found = steps.make(Elementwise("log_softmax"), logits, dtype="float", held=not in_half)
    found = steps.cast(found, "float32") if in_half else found
    return steps.ending_in(steps.make(Loss("nll", op.reduction), found, target))


def _of_smoothed_labels(
    steps: ComposedCalls, op: Loss, logits: Tensor, target: Tensor, weights: Sequence[Tensor], in_half: bool
) -> Tensor:
    """The likelihood of the labels, and the sum of -log_softmax(logits) over the classes
    (cross_entropy_loss_label_smoothing)."""
    found = steps.make(Elementwise("log_softmax"), logits, dtype="float", held=True)
    full = steps.cast(found, "float32") if in_half else found
    likelihood = steps.make(Loss("nll", op.reduction), full, target, dtype="float", held=True)
    losses = steps.make(Broadcast("multiply"), found, by_class(steps, found, weights)) if weights else found
    total = steps.make(Reduce("sum", (class_axis(steps, logits),)), losses)
    smooth = steps.make(Elementwise("neg"), total, held=True)
    steps.expression_ends(total, *([losses] if weights else []))
    ignored = steps.make(Elementwise("isfinite"), smooth, dtype="bool", held=True)
    smooth = steps.make(Broadcast("masked_fill", True), smooth, ignored, held=True)
    if op.reduction == "mean" and not weights:
        # The labels that are not ignored are counted in whole numbers.
        others = steps.make(Elementwise("bitwise_not"), ignored, held=True)
        steps.make(Elementwise("cast"), others, dtype="int64")
    if op.reduction not in ("none", None):
        smooth = steps.make(Reduce("sum"), smooth, held=True)
    if op.reduction == "mean":
        smooth = steps.make(Elementwise("scale"), smooth, held=True)
    one, other = steps.make(Elementwise("scale"), likelihood), steps.make(Elementwise("scale"), smooth)
    result = steps.make(Broadcast("add"), one, other)
    steps.expression_ends(one, other)
    return result


def by_class(steps: ComposedCalls, logits: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """The weights of classes, along their axis."""
    rank = len(steps.shape(logits))
    return steps.make(Reshape((1, -1, *[1] * (rank - 2)) if rank > 1 else (-1,)), weights[0])


def class_axis(steps: ComposedCalls, logits: Tensor) -> int:
    """That of the classes: the first without a batch."""
    return min(1, len(steps.shape(logits)) - 1)


def _of_probabilities(
    steps: ComposedCalls, op: Loss, logits: Tensor, target: Tensor, weights: Sequence[Tensor]
) -> Tensor:
    """The sum of -log_softmax(logits) * target over the classes (cross_entropy_loss_prob_target)."""
    found = steps.make(Elementwise("log_softmax"), logits, dtype="float", held=True)
    if "smoothed" in op.options:
        target = steps.make(Elementwise("shift"), steps.make(Elementwise("scale"), target), held=True)
    losses = steps.make(Broadcast("multiply"), found, target, held=True)
    if weights:
        losses = steps.make(Broadcast("multiply"), losses, by_class(steps, logits, weights), held=True)
    whole = op.reduction not in ("none", None)
    total = steps.make(Reduce("sum", None if whole else (class_axis(steps, logits),)), losses, held=True)
    result = steps.make(Elementwise("neg"), total, held=True)
    return steps.make(Elementwise("scale"), result) if op.reduction == "mean" else result


def _l1(steps: ComposedCalls, inputs: Sequence[Tensor], options: Sequence[str]) -> Tensor:
    """|input - target|"""
    difference = steps.make(Broadcast("subtract"), *inputs[:2], held=True)
    return steps.make(Elementwise("abs"), difference, held=True)


def _kl_div(steps: ComposedCalls, inputs: Sequence[Tensor], options: Sequence[str]) -> Tensor:
    """target * log(target) - target * input"""
    input, target = inputs[:2]
    product = steps.make(Broadcast("multiply"), target, input, held=True)
    entropy = steps.make(Broadcast("xlogy"), target, target, held=True)
    return steps.make(Broadcast("subtract"), entropy, product, held=True)


def _poisson_nll(steps: ComposedCalls, inputs: Sequence[Tensor], options: Sequence[str]) -> Tensor:
    """exp(input) - target * input, or input - target * log(input + eps); Stirling's term beside where all is asked
    for."""
    input, target = inputs[:2]
    if "of rates" in options:
        logarithm = steps.make(Elementwise("log"), steps.make(Elementwise("shift"), input, held=True), held=True)
        product = steps.make(Broadcast("multiply"), target, logarithm)
        result = steps.make(Broadcast("subtract"), input, product, held=True)
    else:
        product = steps.make(Broadcast("multiply"), target, input)
        power = steps.make(Elementwise("exp"), input)
        result = steps.make(Broadcast("subtract"), power, product, held=True)
    if "in full" not in options:
        return result
    steps.expression_ends(product)
    logarithm, scaled = steps.make(Elementwise("log"), target), steps.make(Elementwise("scale"), target)
    entropy, root = steps.make(Broadcast("multiply"), target, logarithm), steps.make(Elementwise("log"), scaled)
    less, half = steps.make(Broadcast("subtract"), entropy, target), steps.make(Elementwise("scale"), root)
    term = steps.make(Broadcast("add"), less, half, held=True)
    steps.expression_ends(logarithm, scaled, entropy, root, less, half)
    filled = steps.make(Broadcast("masked_fill"), term, steps.make(Elementwise("isfinite"), target, dtype="bool"))
    return steps.make(Broadcast("add", True), result, filled, held=True)


def _hinge_embedding(steps: ComposedCalls, inputs: Sequence[Tensor], options: Sequence[str]) -> Tensor:
    """The input where the target is 1, max(0, margin - input) where it is -1."""
    input, target = inputs[:2]
    zeros = replace(input, call=None, as_wide_as=input, data=None, held=steps.whole.number)
    less = steps.make(Elementwise("clamp_one", True), steps.make(Elementwise("shift"), input), held=True)
    masks = [steps.make(Elementwise("isfinite"), target, dtype="bool") for _ in range(2)]
    apart = steps.make(Broadcast("where"), masks[0], less, zeros, dtype=input.dtype, held=True)
    alike = steps.make(Broadcast("where"), masks[1], input, zeros, dtype=input.dtype, held=True)
    return steps.make(Broadcast("add"), apart, alike, held=True)


def _margin_ranking(steps: ComposedCalls, inputs: Sequence[Tensor], options: Sequence[str]) -> Tensor:
    """max(0, margin - target * (input1 - input2))"""
    input1, input2, target = inputs[:3]
    difference, less = steps.make(Broadcast("subtract"), input1, input2), steps.make(Elementwise("neg"), target)
    product = steps.make(Broadcast("multiply"), less, difference)
    moved = steps.make(Elementwise("shift"), product, held=True)
    steps.expression_ends(difference, less, product)
    return steps.make(Elementwise("clamp_one", True), moved, held=True)


WRITTEN: Mapping[str, Written] = {
    "cross_entropy": _cross_entropy,
    "l1": of_values(_l1),
    "kl_div": of_values(_kl_div),
    "poisson_nll": of_values(_poisson_nll),
    "hinge_embedding": of_values(_hinge_embedding),
    "margin_ranking": of_values(_margin_ranking),
}
