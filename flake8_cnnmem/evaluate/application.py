"""Where ops meet tensors: each application makes a Call, the graph's record of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.evaluate.budget import CALL_STEPS
from flake8_cnnmem.evaluate.noting import end_where_refused
from flake8_cnnmem.graph import Call, Invocation, Mismatch, Op, Tensor, Weight
from flake8_cnnmem.ops.expected import UNSTATED
from flake8_cnnmem.parameter_values import owner
from flake8_cnnmem.running.stopping import go_on
from flake8_cnnmem.unknown import Leaving, Unknown
from flake8_cnnmem.values import Instance, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


OPTIMIZER_STEP = "optimizer step"
"""Scratch of the run: what is noted of the optimizer's step that is being followed."""


class Halted(Leaving):
    """The first size that cannot be right, where somebody asked to stop at it."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call


def apply_op(
    run: Interpreter,
    op: Op,
    inputs: tuple[Value, ...],
    weights: Sequence[Value],
    function: str,
    dtypes: Sequence[str] | None,
    framework: str,
) -> Value:
    """One call of an op: its tensors, noted in the graph in the order in which the code runs. A size that does not fit
    is the call's problem, and what it gives is what the op recovers. Several outputs come as a tuple."""
    go_on()
    run.spend(CALL_STEPS)
    tensors = tuple([owner(value) if isinstance(value, Tensor) else as_tensor(value, framework) for value in inputs])
    call = Call(
        op,
        tensors,
        tuple([weight for weight in weights if isinstance(weight, Tensor)]),
        run.next_number(),
        within=run.invocation,
        site=run.site,
        grad=run.grad_enabled,
        autocast=run.autocast,
        cast_region=run.cast_region,
        caches_casts=run.caches_casts,
        offloaded=run.offloading,
        guarded=bool(run.guards),
        function=function,
        frozen=frozenset([id(one) for one in (*tensors, *weights) if isinstance(one, Weight) and not one.trainable]),
    )
    dtype = tensors[0].dtype if tensors else "float"
    given: list[dims.Shape] = []
    unranked: Unknown | None = None
    for tensor in tensors:
        shape = tensor.shape
        if not isinstance(shape, Unknown):
            given.append(shape)
        elif unranked is None:
            unranked = shape
    shapes: Sequence[dims.Shape | Unknown]
    if unranked is not None:
        shapes = [unranked] * max(len(dtypes) if dtypes else 1, 1)
    else:
        try:
            shapes = op.outputs(*given)
        except Mismatch as mismatch:
            call.problem = mismatch.problem
            call.called_from = caller_of(run)
            run.refuse(call, frameworks.named(framework).shape_error)
            if run.stop_at_problem:
                raise Halted(call) from None
            if call.site is not None and run.trace.recording and not run.trace.on_trial:
                end_where_refused(call.site.path, call.site.line)
            cause = run.unknown(mismatch.problem.what)
            shapes = carried_on(op, mismatch.recovered, cause) if mismatch.recovered is not None else (cause,)
        shapes = [told_here(run, shape) for shape in shapes]
    outputs = tuple(
        [
            Tensor(shape, dtypes[at] if dtypes and at < len(dtypes) else dtype, call, at, None, framework)
            for at, shape in enumerate(shapes)
        ]
    )
    call.outputs = outputs
    if run.log is not None:
        run.log.append(call)
    if call.grad or not run.data(OPTIMIZER_STEP):
        # What an optimizer's own step computes is its own affair; a closure that it calls is the program's.
        run.trace.ran(call)
    return outputs[0] if len(outputs) == 1 else outputs


def caller_of(run: Interpreter) -> tuple[str, int] | None:
    """The file and line from which the function that is running was called; None outside of any."""
    frame = run.frame
    while frame is not None and frame.caller is not None:
        frame = frame.caller
    caller = frame.called_from if frame is not None else None
    return (caller.module.path, caller.line) if caller is not None else None


def told_here(run: Interpreter, shape: dims.Shape | Unknown) -> dims.Shape | Unknown:
    """A shape whose unknown sizes name the line that is being run, where an op gave a cause that names none."""
    if isinstance(shape, Unknown):
        return at_line_of(run, shape)
    for size in shape:
        if type(size) is Unknown and not size.path:
            return tuple([at_line_of(run, size) if isinstance(size, Unknown) else size for size in shape])
    return shape


def at_line_of(run: Interpreter, cause: Unknown) -> Unknown:
    """A cause at the line that is being run, unless it has one; that nobody states the model's input is no line's."""
    if cause.path or cause == UNSTATED:
        return cause
    here = run.unknown(cause.reason)
    return replace(cause, path=here.path, line=here.line)


def carried_on(op: Op, shapes: Sequence[dims.Shape | Unknown], cause: Unknown) -> Sequence[dims.Shape | Unknown]:
    """The shapes with which the code behind a wrong size goes on. What a layer declares is taken at its word; what a
    reshape was meant to give is anybody's guess, and must not give a second finding."""
    if op.declares:
        return shapes
    return [shape if isinstance(shape, Unknown) else (*shape[:1], *(cause for _ in shape[1:])) for shape in shapes]


def as_tensor(value: Value, framework: str) -> Tensor:
    """A tensor, or one of a shape that is not known."""
    if isinstance(value, Tensor):
        return value
    return Tensor(value if isinstance(value, Unknown) else Unknown("not a tensor"), framework=framework)


class InvocationContext:
    """`with run.enter(layer):` what is applied inside happens within that layer's invocation."""

    __slots__ = ("checkpoint", "layer", "outer", "reentrant", "run")

    def __init__(
        self, run: Interpreter, layer: Instance | None, checkpoint: bool, reentrant: Sequence[Value] | None = None
    ) -> None:
        self.run = run
        self.layer = layer
        self.checkpoint = checkpoint
        self.reentrant = reentrant
        self.outer: Invocation | None = None

    def __enter__(self) -> Invocation:
        run = self.run
        self.outer = run.invocation
        run.invocation = Invocation(self.layer, self.outer, run.next_number(), run.site, self.checkpoint)
        if self.reentrant is not None:
            run.invocation.reentrant = True
            run.invocation.arguments = tuple([each for each in self.reentrant if isinstance(each, Tensor)])
        return run.invocation

    def __exit__(self, *exception: object) -> None:
        self.run.invocation = self.outer
