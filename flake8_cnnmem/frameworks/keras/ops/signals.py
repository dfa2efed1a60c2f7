"""`tf.signal`: frames of a signal and their spectra (shapes as tensorflow/python/ops/signal documents them)."""

from __future__ import annotations

from flake8_cnnmem.dims import Shape, Size, add, ceil_divide, floor_divide, multiply, subtract
from flake8_cnnmem.frameworks.keras.constants import plain
from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.ops.operands import apply, shape_of
from flake8_cnnmem.frameworks.keras.shapes import plain_size
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


def frames(
    run: Runtime, signal: Value, frame_length: Value, frame_step: Value, pad_end: Value = False, axis: Value = -1
) -> Value:
    """Windows along the last axis, every so many values one: (..., frames, length)."""
    shape = shape_of(signal)
    length, step = plain_size(plain(frame_length)), plain_size(plain(frame_step))
    if isinstance(shape, Unknown) or not shape or axis not in (-1, len(shape) - 1):
        return shape if isinstance(shape, Unknown) else run.unknown("frames along another axis than the last")
    if pad_end is True:
        count = ceil_divide(shape[-1], step)
    else:
        count = add(1, floor_divide(subtract(shape[-1], length), step))
    return apply(run, Given("frame", ((*shape[:-1], count, length),)), signal, function="frame")


def spectrum_of(length: Size) -> Size:
    """How many frequencies a real signal of this length has."""
    return add(floor_divide(length, 2), 1)


def last_axis(run: Runtime, x: Value, size: Size, kind: str, dtype: str) -> Value:
    """The input's shape with another last size, of this kind and dtype."""
    shape = shape_of(x)
    if isinstance(shape, Unknown) or not shape:
        return shape if isinstance(shape, Unknown) else run.unknown("a spectrum of a number")
    return apply(run, Given(kind, ((*shape[:-1], size),)), x, function=kind, dtypes=[dtype])


def stft(
    run: Runtime,
    signals: Value,
    frame_length: Value,
    frame_step: Value,
    fft_length: Value = None,
    pad_end: Value = False,
) -> Value:
    """Frames, weighted by a window, and the spectrum of each."""
    length = plain(frame_length)
    if fft_length is None:
        # The next power of two.
        fft_length = 1 << (length - 1).bit_length() if isinstance(length, int) and length > 0 else length
    cut = unary(run, frames(run, signals, frame_length, frame_step, pad_end), kind="scale", function="window")
    return last_axis(run, cut, spectrum_of(plain_size(plain(fft_length))), "rfft", "complex64")


def rfft(run: Runtime, x: Value, fft_length: Value = None) -> Value:
    """The spectrum of a real signal."""
    shape, length = shape_of(x), plain(fft_length)
    if isinstance(length, (list, tuple)):
        length = length[0]
    own: Size = shape if isinstance(shape, Unknown) else shape[-1] if length is None else plain_size(length)
    return own if isinstance(own, Unknown) else last_axis(run, x, spectrum_of(own), "rfft", "complex64")


def irfft(run: Runtime, x: Value, fft_length: Value = None) -> Value:
    """The real signal with a spectrum."""
    shape, length = shape_of(x), plain(fft_length)
    if isinstance(length, (list, tuple)):
        length = length[0]
    if isinstance(shape, Unknown):
        return shape
    from_spectrum = subtract(add(shape[-1], shape[-1]), 2)
    return last_axis(run, x, from_spectrum if length is None else plain_size(length), "rfft", "float")


def inverse_stft(run: Runtime, stfts: Value, frame_length: Value, frame_step: Value, fft_length: Value = None) -> Value:
    """The signal whose frames have these spectra, added where they overlap."""
    shape = shape_of(stfts)
    length, step = plain(frame_length), plain(frame_step)
    if isinstance(shape, Unknown) or len(shape) < 2 or not isinstance(length, int) or not isinstance(step, int):
        return shape if isinstance(shape, Unknown) else run.unknown("the frames of a signal are not known")
    count = shape[-2]
    if not isinstance(count, int):
        return count if isinstance(count, Unknown) else run.unknown("the frames of a signal are the batch")
    target: Shape = (*shape[:-2], (count - 1) * step + length)
    return apply(run, Given("inverse_stft", (target,)), stfts, function="inverse_stft", dtypes=["float"])


def mel_matrix(run: Runtime, bands: Value = 20, frequencies: Value = 129, **options: Value) -> Value:
    """The weights that turn a spectrum into bands: a constant."""
    return Tensor((plain_size(plain(frequencies)), plain_size(plain(bands))), framework="keras")


def window(run: Runtime, length: Value, **options: Value) -> Value:
    """The values of a window: a constant."""
    return Tensor((plain_size(plain(length)),), framework="keras")


def sequences(run: Runtime, x: Value, sequence_length: Value, sequence_stride: Value) -> Value:
    """`keras.ops.extract_sequences`: windows along the last axis, every so many values one."""
    return frames(run, x, sequence_length, sequence_stride)


def spectra(run: Runtime, x: Value, sequence_stride: Value, fft_length: Value, center: Value = True) -> Value:
    """`keras.ops.stft`: the real and the imaginary parts of each window's spectrum. The window is padded to the length
    of the transform, and a centred signal by half of it at either end (STFT.compute_output_spec of
    keras/src/ops/math.py)."""
    shape, length = shape_of(x), plain_size(plain(fft_length))
    if isinstance(shape, Unknown) or not shape:
        return (shape, shape) if isinstance(shape, Unknown) else run.unknown("a spectrum of a number")
    own = shape[-1] if center is False else add(shape[-1], multiply(floor_divide(length, 2), 2))
    count = add(1, floor_divide(subtract(own, length), plain_size(plain(sequence_stride))))
    part: Shape = (*shape[:-1], count, spectrum_of(length))
    return apply(run, Given("stft", (part, part)), x, function="stft")
