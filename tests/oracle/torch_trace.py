"""Makes a layer graph out of a real torch module, by watching what it calls: a second way to a `graph.Model`.

The replay of `flake8_cnnmem.memory` is held against measured truth on these graphs, so that its errors are its
own and not those of the evaluator. A TorchFunctionMode sees torch's C functions (the Python functions of
torch.nn.functional are made to step aside); the batch is a prime that no other size is a multiple of.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode, resolve_name

from flake8_cnnmem import ops
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Call, Invocation, Model, Tensor, Weight

PRIME = 10007

SAME = {
    "relu", "relu_", "silu", "silu_", "hardswish", "hardswish_", "hardsigmoid", "hardsigmoid_", "mish", "mish_",
    "leaky_relu", "leaky_relu_", "elu", "elu_", "celu", "celu_", "selu", "selu_", "gelu", "softplus", "sigmoid",
    "sigmoid_", "tanh", "tanh_", "softmax", "log_softmax", "exp", "log", "sqrt", "rsqrt", "abs", "neg", "clamp",
    "clamp_", "clamp_min", "hardtanh", "hardtanh_", "erf", "sin", "cos", "reciprocal", "pow", "square",
}  # fmt: skip
KINDS = {"clamp_min": "clamp", "square": "pow", "__pow__": "pow", "__neg__": "neg", "__rtruediv__": "reciprocal"}
ARITHMETIC = {
    "add": "add", "__add__": "add", "__radd__": "add", "add_": "add", "__iadd__": "add", "sub": "subtract",
    "__sub__": "subtract", "__rsub__": "subtract", "mul": "multiply", "__mul__": "multiply", "__rmul__": "multiply",
    "mul_": "multiply", "__imul__": "multiply", "div": "divide", "__truediv__": "divide", "div_": "divide",
    "__itruediv__": "divide", "maximum": "maximum", "minimum": "minimum", "__isub__": "subtract", "lerp": "lerp",
}  # fmt: skip
NUMBER = {"add": "shift", "subtract": "shift", "multiply": "scale", "divide": "scale"}
COMPARISONS = {"__gt__", "__lt__", "__ge__", "__le__", "__eq__", "__ne__", "eq", "ne", "gt", "lt", "ge", "le"}
SILENT = {
    "dim", "size", "stride", "is_floating_point", "numel", "__get__", "is_complex", "__len__", "__hash__", "data_ptr",
    "get_device", "is_contiguous", "requires_grad_", "__format__", "__repr__", "copy_", "fill_", "new_zeros",
    "__set__", "_is_view", "item", "tolist", "_has_compatible_shallow_copy_type", "is_nested", "is_autocast_enabled",
    "_has_torch_function", "is_tensor", "broadcast_shapes", "is_quantized",
}  # fmt: skip
SOURCES = {"zeros", "ones", "empty", "arange", "tensor", "linspace", "rand", "randn", "full", "new_empty", "as_tensor",
           "bernoulli_", "rand_like", "zeros_like", "ones_like", "new_tensor", "div_", "new_ones"}  # fmt: skip


class Trace(TorchFunctionMode):
    """Records calls on tensors that depend on the model's inputs or parameters."""

    def __init__(self, framework: str = "torch") -> None:
        super().__init__()
        self.known: dict[int, tuple[Any, Tensor]] = {}
        self.calls: list[Call] = []
        self.unmapped: set[str] = set()
        self.within: Invocation | None = None

    def sizes(self, tensor: torch.Tensor) -> tuple[Any, ...]:
        return tuple(
            Batch(size // PRIME) if size % PRIME == 0 and size else int(size) for size in map(int, tensor.shape)
        )

    def dtype(self, tensor: torch.Tensor) -> str:
        name = str(tensor.dtype).removeprefix("torch.")
        return "float" if tensor.dtype.is_floating_point else name

    def enter_tensor(self, tensor: torch.Tensor, known: Tensor | None = None) -> Tensor:
        made = known or Tensor(self.sizes(tensor), self.dtype(tensor))
        self.known[id(tensor)] = (tensor, made)
        return made

    def tensor(self, value: torch.Tensor) -> Tensor:
        found = self.known.get(id(value))
        return found[1] if found is not None else self.enter_tensor(value)

    def add(
        self,
        op: Any,
        inputs: list[torch.Tensor],
        outputs: Any,
        weights: list[Any] = (),
        name: str = "",  # type: ignore[assignment]
    ) -> None:
        given = tuple(self.tensor(x) for x in inputs)
        own = tuple(self.tensor(w) for w in weights if w is not None)
        half = str(torch.get_autocast_dtype("cpu")).removeprefix("torch.") if torch.is_autocast_enabled("cpu") else None
        call = Call(
            op,
            given,
            own,
            len(self.calls),
            within=self.within,
            grad=torch.is_grad_enabled(),
            autocast=half,
            function=name,
        )
        results = outputs if isinstance(outputs, (tuple, list)) else [outputs]
        tensors = []
        for at, result in enumerate(results):
            made = Tensor(self.sizes(result), self.dtype(result), call, at)
            self.known[id(result)] = (result, made)
            tensors.append(made)
        call.outputs = tuple(tensors)
        self.calls.append(call)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", str(func))
        result = func(*args, **kwargs)
        if name in SILENT or (name.startswith("_") and not name.startswith("__")):
            if name not in ("_native_multi_head_attention",):
                return result
        values = [x for x in list(args) + list(kwargs.values()) if isinstance(x, torch.Tensor)]
        if not values and not (args and isinstance(args[0], (list, tuple))):
            return result
        if not isinstance(result, (torch.Tensor, tuple, list)):
            return result
        try:
            handled = self.record(name, args, kwargs, result, values)
        except Exception as error:
            raise RuntimeError(f"{name}: {error}") from error
        if not handled:
            self.unmapped.add(resolve_name(func) or name)
        return result

    def record(self, name: str, args: Any, kwargs: Any, result: Any, values: list[torch.Tensor]) -> bool:
        x = args[0] if args else values[0]
        in_place = (name.endswith("_") and not name.startswith("__")) or (
            name.startswith("__i") and name != "__invert__"
        )
        plain = name.rstrip("_") if not name.startswith("__") else name
        if name in SOURCES and not any(id(v) in self.known and self.known[id(v)][1].call for v in values):
            return True
        if name in SAME or name in ("__pow__", "__neg__", "__rtruediv__"):
            self.add(ops.Elementwise(KINDS.get(name, plain), in_place), [x], result, name=name)
        elif name in ARITHMETIC:
            kind = ARITHMETIC[name]
            tensors = [v for v in args[:2] if isinstance(v, torch.Tensor)]
            if len(tensors) == 1 or name == "lerp":
                kind = NUMBER.get(kind, kind)
                self.add(ops.Elementwise(kind, in_place), tensors[:1], result, name=name)
            else:
                weights = [t for t in tensors if isinstance(t, nn.Parameter)]
                self.add(ops.Broadcast(kind, in_place), tensors, result, weights, name)
        elif name in COMPARISONS:
            self.add(ops.Broadcast("compare"), list(values), result, name=name)
        elif name.startswith("conv"):
            weight, bias = args[1], args[2] if len(args) > 2 else None
            op = ops.Convolution(weight.shape[0], tuple(weight.shape[2:]))
            if isinstance(args[4] if len(args) > 4 else 0, str) and args[4] == "same":
                kernel = weight.shape[2:]
                if any(k % 2 == 0 for k in kernel):
                    self.unmapped.add("even same padding")
            self.add(op, [x], result, [weight, bias], name)
        elif name == "linear":
            given = [*args[1:3], *(kwargs[key] for key in ("weight", "bias") if key in kwargs)]
            self.add(ops.Linear(result.shape[-1]), [x], result, given, name)
        elif name == "batch_norm":
            op = ops.BatchNorm(training=bool(args[5]))
            self.add(op, [x], result, [w for w in args[1:5] if w is not None], name)
        elif name == "layer_norm":
            self.add(ops.LayerNorm(tuple(args[1])), [x], result, [w for w in args[2:4] if w is not None], name)
        elif name == "group_norm":
            self.add(ops.GroupNorm(args[1]), [x], result, [w for w in args[2:4] if w is not None], name)
        elif name == "instance_norm":
            own = [w for w in args[1:5] if w is not None]
            self.add(ops.InstanceNorm(scale=args[1] is not None), [x], result, own, name)
        elif name in ("rms_norm",):
            self.add(ops.RMSNorm(tuple(args[1])), [x], result, [w for w in args[2:3] if w is not None], name)
        elif name in ("dropout", "dropout_", "feature_dropout", "feature_dropout_", "alpha_dropout"):
            p, training = args[1], args[2]
            self.add(ops.Dropout(p, plain, in_place, training), [x], result, name=name)
        elif "adaptive" in name or name.startswith(("max_pool", "avg_pool", "lp_pool")):
            mode = "max" if "max" in name else "average" if "avg" in name else "lp"
            first = result[0] if isinstance(result, tuple) else result
            rank = first.dim() - 2
            kernel = (1,) * rank
            if "adaptive" in name:
                self.add(ops.AdaptivePool(mode, tuple(first.shape[2:])), [x], first, name=name)
            else:
                self.add(ops.Pool(mode, kernel), [x], first, name=name)
        elif name in ("cat", "concat", "concatenate"):
            axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            tensors = list(args[0] if args else kwargs["tensors"])
            self.add(ops.Concatenate(axis), tensors, result, [t for t in tensors if isinstance(t, nn.Parameter)], name)
        elif name == "stack":
            axis = kwargs.get("dim", args[1] if len(args) > 1 else 0)
            self.add(ops.Stack(axis), list(args[0]), result, name=name)
        elif name in ("matmul", "bmm", "__matmul__", "mm"):
            self.add(ops.Matmul(), [args[0], args[1]], result, [t for t in args[:2] if isinstance(t, nn.Parameter)])
        elif name == "einsum":
            tensors = list(args[1:]) if not isinstance(args[1], (list, tuple)) else list(args[1])
            self.add(ops.Einsum(args[0]), tensors, result, name=name)
        elif name == "scaled_dot_product_attention":
            dropout = kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0)
            mask = kwargs.get("attn_mask", args[3] if len(args) > 3 else None)
            tensors = [args[0], args[1], args[2], *([mask] if mask is not None else [])]
            self.add(ops.ScaledDotProduct(dropout, fused=True), tensors, result, name=name)
        elif name == "embedding":
            weight, index = args[0], args[1]
            self.add(ops.Embedding(*weight.shape), [index], result, [weight], name)
        elif name in (
            "mean",
            "sum",
            "max",
            "min",
            "amax",
            "amin",
            "var",
            "std",
            "norm",
            "linalg_vector_norm",
            "argmax",
        ):
            kind = {"linalg_vector_norm": "norm"}.get(name, name)
            several = isinstance(result, (tuple, list))
            op = ops.Reduce(kind, None, False, 2 if several else 1)
            self.add(op, [x], list(result) if several else result, name=name)
        elif name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            hx = args[1]
            weights = list(args[2])
            cell = name.split("_")[0]
            hidden = hx[0].shape[-1] if isinstance(hx, (tuple, list)) else hx.shape[-1]
            op = ops.Recurrent(cell, hidden, layers=args[4], bidirectional=args[7])
            self.add(op, [x], list(result), weights, name)
        elif name == "glu":
            self.add(ops.GLU(kwargs.get("dim", args[1] if len(args) > 1 else -1)), [x], result, name=name)
        elif name == "prelu":
            self.add(ops.PRelu(args[1].numel()), [x], result, [args[1]], name)
        elif name == "where" and len(args) == 3:
            self.add(ops.Broadcast("where"), [v for v in args if isinstance(v, torch.Tensor)], result, name=name)
        else:
            return self.shape_op(name, args, kwargs, result, x)
        return True

    def shape_op(self, name: str, args: Any, kwargs: Any, result: Any, x: torch.Tensor) -> bool:
        weights = [x] if isinstance(x, nn.Parameter) else []
        if name in ("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as", "reshape_as"):
            op: Any = ops.Reshape(self.sizes(result))
        elif name == "permute":
            axes = args[1:] if not isinstance(args[1], (tuple, list)) else args[1]
            op = ops.Permute(tuple(int(axis) % x.dim() for axis in axes))
        elif name in ("transpose", "swapaxes", "t", "__get__"):
            op = ops.Transpose(*(args[1:3] if len(args) > 2 else (0, 1)))
        elif name in ("expand", "expand_as"):
            op = ops.Expand(self.sizes(result))
        elif name in ("chunk", "split", "tensor_split", "split_with_sizes", "unsafe_chunk"):
            axis = kwargs.get("dim", args[2] if len(args) > 2 else 0)
            op = ops.Split(tuple(int(part.shape[axis]) for part in result), axis)
            self.add(op, [x], list(result), weights, name)
            return True
        elif name == "unbind":
            op = ops.Unbind(kwargs.get("dim", args[1] if len(args) > 1 else 0))
            self.add(op, [x], list(result), weights, name)
            return True
        elif name == "__getitem__":
            items = args[1] if isinstance(args[1], tuple) else (args[1],)
            if any(isinstance(item, (torch.Tensor, list)) for item in items):
                op = SimpleNamespace(kind="copy", view=False, in_place=False)
                op = ops.Index(tuple(self.tensor(i) if isinstance(i, torch.Tensor) else i for i in items))
            else:
                op = ops.Index(items)
        elif name == "unfold" and isinstance(args[1], int):
            op = ops.resample.Windows(*args[1:4])
        elif name == "contiguous":
            op = ops.Elementwise("contiguous")
        elif name in ("clone",):
            op = ops.Elementwise("copy")
        elif name in ("detach",):
            op = ops.Elementwise("detach")
        elif name in ("to", "type_as", "float", "half", "type"):
            op = ops.Elementwise("cast")
        elif name == "roll":
            op = ops.Roll()
        elif name == "flip":
            op = ops.Flip()
        elif name in ("repeat", "tile"):
            op = ops.Repeat(())
        elif name == "pad" or name == "constant_pad_nd":
            op = ops.Pad(((0, 0),), args[2] if len(args) > 2 and isinstance(args[2], str) else "constant")
        elif name.startswith("upsample"):
            op = ops.Resize(mode="bilinear" if "bilinear" in name else "bicubic" if "bicubic" in name else "nearest")
        elif name in ("pixel_shuffle", "pixel_unshuffle"):
            op = ops.PixelShuffle(2)
        elif name == "masked_fill":
            op = ops.Elementwise("masked_fill")
        else:
            return False
        self.add(op, [x], result, weights, name)
        return True


def first_outputs(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, (tuple, list)):
        value = list(vars(value).values())
    return [tensor for item in value if item is not None for tensor in first_outputs(item)]


def trace(module: nn.Module, inputs: list[torch.Tensor]) -> tuple[Model, set[str]]:
    """The module's graph on these inputs (fake tensors, a batch of `PRIME`), and the functions it has no op for."""
    mode = Trace()
    weights = []
    for name, parameter in module.named_parameters():
        weight = Weight(tuple(parameter.shape), mode.dtype(parameter), name=name, trainable=parameter.requires_grad)
        mode.enter_tensor(parameter, weight)
        weights.append(weight)
    for name, buffer in module.named_buffers():
        weight = Weight(tuple(buffer.shape), mode.dtype(buffer), name=name, trainable=False, buffer=True)
        mode.enter_tensor(buffer, weight)
        weights.append(weight)
    given = tuple(mode.enter_tensor(x) for x in inputs)

    def checkpoint(function: Any, *args: Any, **options: Any) -> Any:
        """torch.utils.checkpoint.checkpoint, as a region of the graph."""
        before, mode.within = mode.within, Invocation(None, mode.within, len(mode.calls), checkpoint=True)
        result = function(*args)
        mode.within = before
        return result

    switches = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
    before = {name: getattr(F, name) for name in switches}
    own = vars(sys.modules[type(module).__module__]) if type(module).__module__ in sys.modules else {}
    real = own.get("checkpoint")
    try:
        for switch in switches:
            setattr(F, switch, lambda *_: False)
        if real is not None:
            own["checkpoint"] = checkpoint
        with mode:
            result = module(*inputs)
    finally:
        for switch, function in before.items():
            setattr(F, switch, function)
        if real is not None:
            own["checkpoint"] = real
    outputs = tuple(mode.tensor(tensor) for tensor in first_outputs(result))
    return Model(type(module).__name__, "torch", None, given, outputs, tuple(mode.calls), tuple(weights)), mode.unmapped
