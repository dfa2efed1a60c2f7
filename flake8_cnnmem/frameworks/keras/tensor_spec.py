"""`tf.TensorSpec`: what a data set's tensors are, as a program states it."""

from __future__ import annotations

from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import Class, Instance, Native, Value


def spec_init(
    run: Runtime, self: Instance, shape: Value = None, dtype: Value = None, name: Value = None, **kwargs: Value
) -> None:
    """`TensorSpec(shape, dtype)`: keeps both."""
    kind = str(dtype) if isinstance(dtype, str) else "float"
    self.native = {"shape": shape, "dtype": "float" if kind == "float32" else kind}
    self.attributes.update(shape=shape, dtype=dtype, name=name)


TENSOR_SPEC = Class(
    "TensorSpec",
    namespace={"__init__": Native("__init__", spec_init, propagate_unknown=False)},
    module="tensorflow",
)
