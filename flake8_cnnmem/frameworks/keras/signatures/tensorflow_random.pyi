"""tf.random: signatures of TensorFlow 2, and what older versions called some parameters behind them."""

from keras import KerasTensor as Tensor

from flake8_cnnmem.frameworks.keras.ops.creation import random
from flake8_cnnmem.frameworks.keras.ops.elementwise import elementwise as elementwise
from flake8_cnnmem.frameworks.keras.ops.elementwise import identity
from flake8_cnnmem.frameworks.keras.ops.numerics import categorical, numbers, samples

@categorical(x=logits, count=num_samples)
def categorical(logits: Tensor, num_samples, dtype=None, seed=None, name=None): ...
@categorical(x=logits, count=num_samples)
def stateless_categorical(logits: Tensor, num_samples, seed=None, dtype="int64", name=None): ...
@samples(first=alpha, second=beta)
def gamma(shape, alpha=None, beta=None, dtype="float32", seed=None, name=None): ...
@samples(first=lam)
def poisson(shape, lam=None, dtype="float32", seed=None, name=None): ...
@numbers
def stateless_normal(
    shape,
    seed=None,
    mean=0.0,
    stddev=1.0,
    dtype="float32",
    name=None,
    alg="auto_select",
    minval=None,
    maxval=None,
    alpha=None,
    beta=None,
    lam=None,
    counts=None,
    probs=None,
): ...
@numbers
def stateless_uniform(
    shape,
    seed=None,
    minval=0,
    maxval=None,
    dtype="float32",
    name=None,
    alg="auto_select",
    mean=None,
    stddev=None,
    alpha=None,
    beta=None,
    lam=None,
    counts=None,
    probs=None,
): ...
@numbers
def stateless_truncated_normal(
    shape,
    seed=None,
    mean=0.0,
    stddev=1.0,
    dtype="float32",
    name=None,
    alg="auto_select",
    minval=None,
    maxval=None,
    alpha=None,
    beta=None,
    lam=None,
    counts=None,
    probs=None,
): ...
@numbers
def stateless_gamma(
    shape,
    seed=None,
    alpha=None,
    beta=None,
    dtype="float32",
    name=None,
    minval=None,
    maxval=None,
    mean=None,
    stddev=None,
    lam=None,
    counts=None,
    probs=None,
    alg=None,
): ...
@numbers
def stateless_poisson(
    shape,
    seed=None,
    lam=None,
    dtype="int32",
    name=None,
    minval=None,
    maxval=None,
    mean=None,
    stddev=None,
    alpha=None,
    beta=None,
    counts=None,
    probs=None,
    alg=None,
): ...
@numbers
def stateless_binomial(
    shape,
    seed=None,
    counts=None,
    probs=None,
    output_dtype="int32",
    name=None,
    minval=None,
    maxval=None,
    mean=None,
    stddev=None,
    alpha=None,
    beta=None,
    lam=None,
    dtype=None,
    alg=None,
): ...
@random
def normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None): ...
@random
def uniform(shape, minval=0, maxval=None, dtype="float32", seed=None, name=None): ...
@random
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype="float32", seed=None, name=None): ...
@identity(x=value)
def shuffle(value: Tensor, seed=None, name=None): ...
