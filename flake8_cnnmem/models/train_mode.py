"""The mode that a model is trained in: scripts leave it in another one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from flake8_cnnmem.evaluate.budget import FORWARD_STEPS, Budget, Exhausted
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.top_level import describe
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance


def set_to_train(run: Interpreter, framework: Framework, model: Instance, seen: bool) -> Unknown | None:
    """Scripts end with an evaluation: back to train mode, by the model's own `train` (it may freeze parts), with a
    budget of its own, as the file's may be used up. Who trains a model of which no training is `seen` begins so, too.
    The cause where it does not come to its end."""
    layers = [model] if seen else [model, *inside_of(framework, model)]
    evaluates = any(layer.attributes.get("training") is False for layer in layers)
    method = run.find(model, "train") if evaluates or (not seen and trains_itself(layers)) else MISSING
    if method is MISSING:
        return None
    saved, given = run.budget, min(FORWARD_STEPS, run.forward_steps)
    run.budget = Budget(given)
    try:
        run.attempt(method)
    except Exhausted as error:
        return Unknown(describe(error))
    finally:
        run.forward_steps -= given - max(run.budget.steps, 0)
        run.budget = saved
    return None


def inside_of(framework: Framework, model: Instance) -> Iterator[Instance]:
    """The layers inside of a model, each once."""
    seen, waiting = {id(model)}, [model]
    while waiting:
        for _, child in framework.children(waiting.pop()):
            if id(child) not in seen:
                seen.add(id(child))
                waiting.append(child)
                yield child


def trains_itself(layers: Sequence[Instance]) -> bool:
    """Whether one of the layers has a `train` of the code's own."""
    return any(isinstance(layer.cls.find("train"), Function) for layer in layers)
