"""When attention and the layers of an encoder leave their own forward passes for one call of PyTorch's: in evaluation
(`MultiheadAttention.forward`, `TransformerEncoderLayer.forward` and `TransformerEncoder.forward` of PyTorch 2.12).
"""

from __future__ import annotations

from collections.abc import Iterable

from flake8_cnnmem.frameworks.torch.nn.functional.convolution import attribute
from flake8_cnnmem.frameworks.torch.nn.modules.hooks import AFTER, BEFORE, holds
from flake8_cnnmem.frameworks.torch.nn.modules.module import weights_of
from flake8_cnnmem.frameworks.torch.registry import FUNCTIONAL
from flake8_cnnmem.graph import Tensor, Weight, calls_behind
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value, native

SWITCH = "torch.backends.mha"
"""Scratch of the run: whether code has switched the fast path off."""
CAUSE = "a padding mask leaves as much of the sequences as its values say"


def set_enabled(run: Runtime, value: Value) -> Value:
    """`torch.backends.mha.set_fastpath_enabled(value)`: whether evaluations may take the fused kernel."""
    run.data(SWITCH)["enabled"] = value
    return None


def get_enabled(run: Runtime) -> Value:
    """`torch.backends.mha.get_fastpath_enabled`: True until code has switched it off."""
    return run.data(SWITCH).get("enabled", True)


BACKEND: dict[str, Value] = {
    "set_fastpath_enabled": native("set_fastpath_enabled", set_enabled),
    "get_fastpath_enabled": native("get_fastpath_enabled", get_enabled),
}
"""torch.backends.mha."""


def is_open(run: Runtime, x: Value, *modules: Value) -> bool:
    """Whether nothing of the run is in the way: no gradients, of what is read or of the modules' own parameters, no
    autocast, no hooks of the modules."""
    if run.autocast is not None or get_enabled(run) is not True or (run.grad_enabled and learns(x, modules)):
        return False
    return not any(holds(module.attributes, BEFORE, AFTER) for module in modules if isinstance(module, Instance))


def learns(x: Value, modules: Iterable[Value]) -> bool:
    """Whether a gradient flows into a tensor, or into a parameter of the modules."""
    own = [weight for module in modules if isinstance(module, Instance) for weight in weights_of(module)]
    if any(weight.trainable and not weight.buffer for weight in own) or not isinstance(x, Tensor):
        return True
    calls = calls_behind([x])
    read = [x, *(each for call in calls if call.grad for each in (*call.inputs, *call.weights))]
    return any(each.trainable and not each.buffer if isinstance(each, Weight) else each.requires_grad for each in read)


def rank_of(value: Value) -> int:
    """How many axes a tensor has; 0 where that is not known."""
    return len(value.shape) if isinstance(value, Tensor) and isinstance(value.shape, tuple) else 0


def of_attention(run: Runtime, attention: Instance) -> bool:
    """Whether a MultiheadAttention has the weights that the fast path takes."""
    own = attention.attributes
    heads = own.get("num_heads")
    return (
        own.get("training") is False
        and own.get("batch_first") is True
        and isinstance(heads, int)
        and heads % 2 == 0
        and own.get("_qkv_same_embed_dim") is True
        and own.get("add_zero_attn") is not True
        and isinstance(attribute(run, attention, "in_proj_bias"), Tensor)
        and attribute(run, attention, "bias_k") is None
    )


def attends_fast(run: Runtime, self: Instance, inputs: tuple[Value, Value, Value], masks: tuple[Value, Value]) -> bool:
    """Of MultiheadAttention: of one tensor over itself, with masks of truth values alone."""
    query, key, value = inputs
    if not (query is key and key is value and rank_of(query) == 3 and of_attention(run, self)):
        return False
    plain = all(mask is None or (isinstance(mask, Tensor) and mask.dtype == "bool") for mask in masks)
    return plain and is_open(run, query, self)


def encodes_fast(run: Runtime, self: Instance, src: Value, attention: Class) -> bool:
    """Of TransformerEncoderLayer, whose attention is of this class."""
    own = attribute(run, self, "self_attn")
    names = ("linear1", "dropout", "linear2", "norm1", "norm2", "dropout1", "dropout2")
    parts = [attribute(run, self, name) for name in names]
    if self.attributes.get("training") is not False or rank_of(src) != 3:
        return False
    if not isinstance(own, Instance) or own.cls is not attention or not of_attention(run, own):
        return False
    if not all(isinstance(part, Instance) and part.cls.site is None for part in parts):
        return False
    norms = [part.attributes.get("eps") for part in parts[3:5] if isinstance(part, Instance)]
    return (
        norms[0] == norms[1] and is_simple(attribute(run, self, "activation")) and is_open(run, src, self, own, *parts)
    )


def is_simple(activation: Value) -> bool:
    """A ReLU or a GELU, as a function or as a layer."""
    if isinstance(activation, Native):
        return activation in (FUNCTIONAL["relu"], FUNCTIONAL["gelu"])
    return isinstance(activation, Instance) and activation.cls.site is None and activation.cls.name in ("ReLU", "GELU")


def is_nested(
    run: Runtime, self: Instance, src: Value, layer: Value, padding: Value, attention: Class
) -> Unknown | None:
    """Why what a TransformerEncoder takes is not known: with a padding mask it reads its sequences as a nested tensor
    of what is not padding. None where it reads them as they are."""
    if padding is None or self.attributes.get("enable_nested_tensor") is not True or not isinstance(layer, Instance):
        return None
    own = attribute(run, layer, "self_attn")
    if layer.attributes.get("training") is not False or layer.attributes.get("norm_first") is True:
        return None
    if not isinstance(own, Instance) or own.cls is not attention or not of_attention(run, own):
        return None
    return run.unknown(CAUSE) if is_open(run, src, layer) else None
