"""Spectrograms of audio (keras/src/layers/preprocessing/stft_spectrogram.py and mel_spectrogram.py)."""

from __future__ import annotations

from flake8_cnnmem.dims import Shape, Size, add, floor_divide, multiply
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.stubs import Ops, layer
from flake8_cnnmem.frameworks.keras.tracking import make_weight, state_of
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.ops import Convolution
from flake8_cnnmem.ops.base import Weightless
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value


@dataclass(frozen=True, slots=True)
class Spectrogram(Weightless):
    """Frames of a signal and their frequencies, in the shapes of the two layers here."""

    bins: Size
    step: Size
    frames: Convolution | None = None
    """STFTSpectrogram: the windows over time."""
    channels_last: bool = True
    expand: bool = False

    kind = "spectrogram"

    def outputs(self, *inputs: Shape) -> tuple[Shape, ...]:
        """(N, samples) to (N, frames, bins), of a mel spectrogram with both axes swapped."""
        shape = inputs[0]
        if self.frames is None:
            frames = (
                Unknown("a stride is zero")
                if self.step == 0
                else floor_divide(add(add(shape[-1], self.step), 1), self.step)
            )
            return ((*shape[:-1], self.bins, frames),)
        (slid,) = self.frames.outputs(shape)
        channels = shape[-1] if self.channels_last else shape[1]
        time = slid[1] if self.channels_last else slid[2]
        if self.expand:
            return (
                (slid[0], time, self.bins, channels) if self.channels_last else (slid[0], channels, time, self.bins),
            )
        rows = multiply(self.bins, channels)
        return ((slid[0], time, rows) if self.channels_last else (slid[0], rows, time),)


def frequencies(self: Instance) -> Value:
    """The FFT's length: the first power of two that holds a frame, unless it is stated."""
    length, frame = self.attributes.get("fft_length"), self.attributes.get("frame_length")
    if length is None and isinstance(frame, int) and 0 < frame < 2**40:
        return 2 ** (frame - 1).bit_length()
    return length


def build_stft(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Make the kernels of the transform, real and imaginary."""
    state_of(run, self).built = True
    length = frequencies(self)
    bins: Size = length // 2 + 1 if isinstance(length, int) else Unknown("the length of the FFT is not known")
    for part, left_out in (("real", "imag"), ("imag", "real")):
        if self.attributes.get("mode") != left_out:
            shape = (self.attributes["frame_length"], 1, bins)
            self.attributes[f"{part}_kernel"] = make_weight(run, self, f"{part}_kernel", shape)


def call_stft(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of STFTSpectrogram: (N, samples, 1) to (N, frames, frequencies)."""
    attributes = self.attributes
    length, frame = frequencies(self), attributes.get("frame_length")
    if not isinstance(length, int) or not isinstance(frame, int):
        return run.unknown("the frames of a spectrogram are not known")
    step = attributes.get("frame_step")
    bins = (length // 2 + 1) * (2 if attributes.get("mode") == "stft" else 1)
    last = attributes.get("data_format") != "channels_first"
    windows = Convolution(
        1, (frame,), stride=frame // 2 if step is None else step, padding=attributes.get("padding"), channels_last=last
    )
    op = Spectrogram(bins, 1, windows, last, attributes.get("expand_dims") is True)
    weights = [attributes[name] for name in ("real_kernel", "imag_kernel") if name in attributes]
    return run.apply(op, inputs, weights=weights, function=self.cls.name, framework="keras")


@layer(call=call_stft, build=build_stft)
def STFTSpectrogram(
    mode: Value = "log", frame_length: Value = 256, frame_step: Value = None, fft_length: Value = None,
    window: Value = "hann", periodic: Value = False, scaling: Value = "density", padding: Value = "valid",
    expand_dims: Value = False, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The spectrogram of a signal."""
    return ()


def call_mel(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of MelSpectrogram: (N, samples) to (N, num_mel_bins, frames)."""
    op = Spectrogram(self.attributes["num_mel_bins"], self.attributes["sequence_stride"])
    return run.apply(op, inputs, function=self.cls.name, framework="keras")


@layer(call=call_mel, build=build_nothing)
def MelSpectrogram(
    fft_length: Value = 2048, sequence_stride: Value = 512, sequence_length: Value = None, window: Value = "hann",
    sampling_rate: Value = 16000, num_mel_bins: Value = 128, min_freq: Value = 20.0, max_freq: Value = None,
    power_to_db: Value = True, top_db: Value = 80.0, mag_exp: Value = 2.0, min_power: Value = 1e-10,
    ref_power: Value = 1.0, **kwargs: Value,
) -> Ops:  # fmt: skip
    """The mel spectrogram of a signal."""
    return ()
