"""tf.bitwise: signatures of TensorFlow 2, and what older versions called some parameters behind them."""

from keras import KerasTensor as Tensor

from flake8_cnnmem.frameworks.keras.ops.elementwise import binary
from flake8_cnnmem.frameworks.keras.ops.elementwise import elementwise as elementwise

@binary(kind="logical")
def bitwise_and(x: Tensor, y: Tensor, name=None): ...
@binary(kind="logical")
def bitwise_or(x: Tensor, y: Tensor, name=None): ...
@binary(kind="logical")
def bitwise_xor(x: Tensor, y: Tensor, name=None): ...
