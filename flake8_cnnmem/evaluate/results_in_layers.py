"""Results of ops that layers keep beyond their calls (`self.attention = weights`, a dict that a hook fills): what the
next turn of a loop finds in memory, until it puts others in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.evaluate.holders import tensors_held
from flake8_cnnmem.evaluate.loop_turns import Turn
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import FOREVER, Tensor
from flake8_cnnmem.values import Instance

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def mark_results(run: Interpreter, turn: Turn) -> None:
    """At the end of a turn in which a layer has put something somewhere: note of the results of the loop's ops that can
    be reached from its layers and from modules that they live on. Of what was found at the end of the turn before and
    is held no longer it has to be known when that was let go: whoever puts another value there notes it. What is still
    held is gathered."""
    loop = turn.loop
    if run.trace.stored < turn.first:
        return
    layers = {id(event.subject): event.subject for event in run.trace.events[turn.events[0] :] if event.kind == "call"}
    called = [layer for layer in layers.values() if isinstance(layer, Instance) and frameworks.is_layer(layer)]
    modules = [module.variables for module in run.importer.modules.values() if isinstance(module, Module)]
    found, whole = tensors_held([*called, *modules])
    now = {id(each): each for each in found if each.call is not None and each.call.number > loop.began}
    told = {id(kept.tensor) for kept in turn.kept}
    before: list[Tensor] = loop.in_layers[-1] if loop.in_layers else []
    for tensor in before:
        if id(tensor) in now:
            loop.lost_sight |= id(tensor) not in told
        elif tensor.held == FOREVER:
            loop.lost_sight, tensor.held = True, turn.first
    loop.lost_sight |= not whole
    for tensor in now.values():
        tensor.held = FOREVER
    loop.in_layers.append(list(now.values()))
