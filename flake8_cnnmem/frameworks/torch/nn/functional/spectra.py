"""The short-time Fourier transform and its inverse, as torch composes them (torch/functional.py, and stft and istft in
SpectralOps.cpp)."""

from __future__ import annotations

from flake8_cnnmem.dims import add, multiply, subtract
from flake8_cnnmem.frameworks.arranging import note_cause
from flake8_cnnmem.frameworks.torch.applying import apply, is_trained, tensor_of
from flake8_cnnmem.frameworks.torch.arguments import whole
from flake8_cnnmem.frameworks.torch.dtypes import real_dtype
from flake8_cnnmem.frameworks.torch.functions.arithmetic import binary
from flake8_cnnmem.frameworks.torch.functions.complex import FFT, Recopied, view_as_real
from flake8_cnnmem.frameworks.torch.functions.constants import Constant
from flake8_cnnmem.frameworks.torch.functions.shapes import lost_shape
from flake8_cnnmem.frameworks.torch.nn.functional.resampling import pad
from flake8_cnnmem.frameworks.torch.registry import define
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Value


@define("torch.stft", "tensor.stft")
def stft(
    run: Runtime, input: Value, n_fft: Value, hop_length: Value = None, win_length: Value = None, window: Value = None,
    center: Value = True, pad_mode: Value = "reflect", normalized: Value = False, onesided: Value = None,
    return_complex: Value = None, align_to_window: Value = None,
) -> Value:  # fmt: skip
    """(L) or (N, L) -> (frequencies, frames) or (N, frequencies, frames), complex, or the pairs of it: the input is
    padded at both ends, cut into windows that overlap, weighted, and transformed."""
    signal, points = tensor_of(input), whole(n_fft)
    hop = whole(hop_length) if hop_length is not None else points // 4 if isinstance(points, int) else points
    length = whole(win_length) if win_length is not None else points
    known = isinstance(points, int) and isinstance(hop, int) and isinstance(length, int) and hop > 0
    plain = isinstance(signal, Tensor) and isinstance(signal.shape, tuple) and len(signal.shape) in (1, 2)
    if not known or not plain or isinstance(center, Unknown) or isinstance(return_complex, Unknown):
        cause = run.unknown("the sizes of a short-time Fourier transform are not known")
        return lost_shape(run, input, cause, "stft", "copy")
    assert isinstance(signal, Tensor)
    assert isinstance(signal.shape, tuple)
    assert isinstance(points, int)
    if is_trained(run, signal):
        note_cause(run, None, "gradients of windows", "what the gradient of a short-time Fourier transform needs")
    rank, made = len(signal.shape), input
    if center:
        made = run.call(run.get(made, "view"), *[1] * (3 - rank), *signal.shape)
        made = pad(run, made, (points // 2, points // 2), pad_mode)
        made = run.call(run.get(made, "view"), run.index(run.get(made, "shape"), slice(-rank, None)))
    made = run.call(run.get(made, "unfold"), -1, points, hop)
    if length != points:
        window = Constant((points,), signal.dtype)
    if window is not None:
        made = binary(run, "*", made, window)
    complex_input = isinstance(made, Tensor) and made.dtype.startswith("complex")
    halved = not complex_input if onesided is None else onesided
    made = run.call(run.get(run.call(FFT["rfft" if halved else "fft"], made), "transpose"), -1, -2)
    return made if return_complex else view_as_real(run, made)


@define("torch.istft", "tensor.istft")
def istft(
    run: Runtime, input: Value, n_fft: Value, hop_length: Value = None, win_length: Value = None, window: Value = None,
    center: Value = True, normalized: Value = False, onesided: Value = None, length: Value = None,
    return_complex: Value = False,
) -> Value:  # fmt: skip
    """(frequencies, frames) or (N, frequencies, frames), complex -> (L) or (N, L): each frame is transformed back and
    weighted, overlapping frames are added up, and divided by what the windows add up to. `length` cuts the signal, or
    pads it with zeros."""
    spectrum, points, given = tensor_of(input), whole(n_fft), None if length is None else whole(length)
    hop = whole(hop_length) if hop_length is not None else points // 4 if isinstance(points, int) else points
    shape = spectrum.shape if isinstance(spectrum, Tensor) else None
    known = isinstance(points, int) and isinstance(hop, int) and hop > 0 and not isinstance(given, Unknown)
    if not known or not isinstance(shape, tuple) or len(shape) not in (2, 3) or isinstance(center, Unknown):
        cause = run.unknown("the sizes of an inverse short-time Fourier transform are not known")
        return lost_shape(run, input, cause, "istft", "copy")
    assert isinstance(spectrum, Tensor)
    assert isinstance(points, int)
    whole_signal = add(multiply(subtract(shape[-1], 1), hop), points)
    kept = subtract(whole_signal, points // 2 * 2 if center else 0) if given is None else given
    note_cause(run, None, "windows added up", "what an inverse short-time Fourier transform needs beside its result")
    made = run.call(run.get(input, "transpose"), -1, -2)
    made = run.call(FFT["ifft" if onesided is False or return_complex else "irfft"], made, n=points)
    made = binary(run, "*", made, Constant((points,), real_dtype(spectrum)))
    added = apply(run, Recopied((*shape[:-2], kept)), made, function="istft")
    return binary(run, "/", added, Constant((kept,), real_dtype(spectrum)))
