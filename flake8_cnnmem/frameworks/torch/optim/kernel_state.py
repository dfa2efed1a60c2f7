"""Optimizers whose kernels have no Python source: what they keep for a parameter is data, from the source that is named
beside it. Their step writes in place and makes nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flake8_cnnmem.frameworks.torch.autograd.grad import gradient_of
from flake8_cnnmem.frameworks.torch.optim.base import OPTIMIZER, start
from flake8_cnnmem.frameworks.torch.optim.following import watching
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value

Options = Mapping[str, Value]
Keeps = Callable[[Weight, Options], Mapping[str, Tensor]]
"""The tensors that are kept for a parameter, by their name in the state."""

Shared = Callable[[Sequence[Weight], Options], Sequence[Tensor]]
"""The tensors that are kept for all parameters together."""


def declare(
    name: str,
    module: str,
    defaults: Mapping[str, Value],
    keeps: Keeps,
    shared: Shared = lambda weights, options: (),
    needs: Sequence[str] = (),
) -> Class:
    """A class of this name. `defaults` are its options after `params`, in their order; `shared` is what it keeps for
    all parameters together; `needs` are the options that what it keeps depends on."""
    order = tuple(defaults)

    def init(run: Runtime, self: Instance, params: Value, *args: Value, **kwargs: Value) -> Value:
        start(run, self, params, {**defaults, **dict(zip(order, args, strict=False)), **kwargs})
        return None

    def step(run: Runtime, self: Instance, closure: Value = None, **options: Value) -> Value:
        loss = None if closure is None else run.call(closure)
        groups = self.attributes.get("param_groups")
        held = self.attributes["state"].payload
        run.changed(held)
        if not isinstance(groups, list):
            raise run.error("TypeError", "the parameters of an optimizer are not known")
        trained = []
        for group in groups:
            for weight in group["params"]:
                if not isinstance(weight, Weight) or gradient_of(run, weight) is None:
                    continue
                trained.append(weight)
                cause = next((group[word] for word in needs if isinstance(group.get(word), Unknown)), None)
                held.setdefault(weight, {"kept": cause} if cause is not None else dict(keeps(weight, group)))
        if "shared" not in held:
            held["shared"] = list(shared(trained, groups[0] if groups else {}))
        return loss

    namespace: dict[str, Value] = {
        "__init__": Native("__init__", init, propagate_unknown=False),
        "step": Native("step", watching(Native("step", step, propagate_unknown=False)), propagate_unknown=False),
    }
    return Class(name, (OPTIMIZER,), namespace, module=module)


def like(weight: Weight, dtype: str = "") -> Tensor:
    """A tensor of a weight's shape, of its dtype unless one is said."""
    return Tensor(weight.shape, dtype or weight.dtype)
