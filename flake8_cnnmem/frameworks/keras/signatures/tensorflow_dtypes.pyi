"""tf.dtypes: signatures of TensorFlow 2, and what older versions called some parameters behind them."""

from keras import KerasTensor as Tensor
from tensorflow import cast, complex, saturate_cast

from flake8_cnnmem.frameworks.keras.ops.elementwise import elementwise as elementwise
