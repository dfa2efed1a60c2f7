"""librosa: how large what is computed of a sound is. A sound in a file has a length that is not known, until the code
cuts or fills it up; the number of frames follows from it (librosa 0.11)."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.numpy.arrays import as_array, make
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

FFT = 2048
RATE = 22050


def load(run: Runtime, path: Value, sr: Value = RATE, mono: Value = True, *args: Value, **options: Value) -> Value:
    """`librosa.load(path, sr=22050, mono=True)`: float32 values and their rate."""
    length = run.unknown("how long a sound in a file is is not known").as_number("int")
    rate = run.unknown("the rate of a sound in a file is not known").as_number("int") if sr is None else sr
    channels = run.unknown("how many channels a sound in a file has is not known")
    return (make((length,) if mono is True else channels, None, "float32"), rate)


def frames(length: Size, fft: Value, hop: Value, center: Value) -> Size:
    """How many windows of `fft` values a hop apart there are: with `center` the sound is filled up by half a window at
    either end."""
    if not isinstance(length, int) or not isinstance(hop, int) or not isinstance(fft, int) or hop <= 0:
        return next((each for each in (length, hop, fft) if isinstance(each, Unknown)), Unknown("a number of frames"))
    if center is not True and center is not False:
        return center if isinstance(center, Unknown) else Unknown("a number of frames")
    return 1 + (length if center else max(length - fft, 0)) // hop


def of_frames(run: Runtime, rows: Value, y: Value, spectrum: Value, fft: Value, hop: Value, center: Value) -> Value:
    """So many rows for each frame of a sound, or of its spectrum where that is given."""
    given = as_array(run, y if spectrum is None else spectrum)
    if isinstance(given, Unknown) or isinstance(given.shape, Unknown):
        return given if isinstance(given, Unknown) else given.shape
    if spectrum is None:
        front, count = given.shape[:-1], frames(given.shape[-1], fft, hop, center)
    else:
        front, count = given.shape[:-2], given.shape[-1]
    size: Any = rows if isinstance(rows, (int, Unknown)) else run.unknown("how many rows a spectrum has is not known")
    return make((*front, size, count), None, "float32" if given.dtype != "float64" else "float64")


def feature(word: str, usual: int, double: bool = False) -> Native:
    """A function of `librosa.feature`, by the name of the argument that says how many rows there are; `double`: its
    result is float64 whatever the sound is."""

    def function(
        run: Runtime, y: Value = None, sr: Value = RATE, S: Value = None, n_fft: Value = FFT,
        hop_length: Value = 512, center: Value = True, frame_length: Value = None, **options: Value,
    ) -> Value:  # fmt: skip
        rows = options.get(word, usual)
        if word == "n_bands" and isinstance(rows, int):
            rows += 1
        window = n_fft if frame_length is None else frame_length
        found = of_frames(run, rows, y, S, window, hop_length, center)
        return make(found.shape, None, "float64") if double and isinstance(found, Tensor) else found

    return Native("feature", function, propagate_unknown=False)


def stft(run: Runtime, y: Value, *, n_fft: Value = FFT, hop_length: Value = None, win_length: Value = None,
         center: Value = True, **options: Value) -> Value:  # fmt: skip
    """`librosa.stft(y)`: complex values of (1 + n_fft // 2, frames)."""
    window = n_fft if win_length is None else win_length
    hop = hop_length if hop_length is not None else window // 4 if isinstance(window, int) else window
    rows = 1 + n_fft // 2 if isinstance(n_fft, int) else n_fft
    found = of_frames(run, rows, y, None, n_fft, hop, center)
    return make(found.shape, None, "complex64") if isinstance(found, Tensor) else found


def real(run: Runtime, S: Value, *args: Value, **options: Value) -> Value:
    """A function of each value: decibels of a power, and back; a sound in other units."""
    given = as_array(run, S)
    if isinstance(given, Unknown):
        return given
    return make(given.shape, None, "float32" if given.dtype in ("float32", "complex64") else "float64")


def magphase(run: Runtime, D: Value, *args: Value, **options: Value) -> Value:
    """`magnitude, phase = librosa.magphase(D)`"""
    given = as_array(run, D)
    return given if isinstance(given, Unknown) else (real(run, given), make(given.shape, None, given.dtype))


def fix_length(run: Runtime, data: Value, size: Value = None, axis: Value = -1, **options: Value) -> Value:
    """`librosa.util.fix_length(data, size=n)`: cut or filled up to so many values."""
    given = as_array(run, data)
    if isinstance(given, Unknown) or isinstance(given.shape, Unknown):
        return given if isinstance(given, Unknown) else given.shape
    if not isinstance(axis, int) or not -len(given.shape) <= axis < len(given.shape):
        return run.unknown("which axis of a sound is cut is not known")
    length: Any = size if isinstance(size, (int, Unknown)) else run.unknown("how long a sound is cut is not known")
    at = axis % len(given.shape)
    return make((*given.shape[:at], length, *given.shape[at + 1 :]), None, given.dtype)


def resample(run: Runtime, y: Value, orig_sr: Value = None, target_sr: Value = None, **options: Value) -> Value:
    """`librosa.resample(y, orig_sr=a, target_sr=b)`: as many values as the rates ask for, rounded up."""
    given = as_array(run, y)
    if isinstance(given, Unknown) or isinstance(given.shape, Unknown):
        return given if isinstance(given, Unknown) else given.shape
    length = given.shape[-1]
    size: Size = run.unknown("how long a resampled sound is is not known").as_number("int")
    if isinstance(length, int) and isinstance(orig_sr, int) and isinstance(target_sr, int) and orig_sr > 0:
        size = -(-length * target_sr // orig_sr)
    return make((*given.shape[:-1], size), None, given.dtype)


def trim(run: Runtime, y: Value, *args: Value, **options: Value) -> Value:
    """`librosa.effects.trim(y)`: the sound without silence at its ends, and where that lies."""
    given = as_array(run, y)
    if isinstance(given, Unknown) or isinstance(given.shape, Unknown):
        return (
            given if isinstance(given, Unknown) else given.shape,
            run.unknown("where a sound is silent is not known"),
        )
    length = run.unknown("where a sound is silent is not known").as_number("int")
    return (make((*given.shape[:-1], length), None, given.dtype), make((2,), None, "int64"))


def to_mono(run: Runtime, y: Value) -> Value:
    """`librosa.to_mono(y)`: the mean of the channels."""
    given = as_array(run, y)
    if isinstance(given, Unknown) or isinstance(given.shape, Unknown):
        return given if isinstance(given, Unknown) else given.shape
    return make(given.shape[-1:], None, given.dtype)


def native(name: str, function: Any) -> Native:
    """A function of librosa."""
    return Native(name, function, propagate_unknown=False)


FEATURES: dict[str, Value] = {
    "melspectrogram": feature("n_mels", 128),
    "mfcc": feature("n_mfcc", 20),
    "chroma_stft": feature("n_chroma", 12),
    "spectral_contrast": feature("n_bands", 6, double=True),
    "spectral_centroid": feature("", 1, double=True),
    "spectral_bandwidth": feature("", 1, double=True),
    "spectral_rolloff": feature("", 1, double=True),
    "zero_crossing_rate": feature("", 1, double=True),
    "rms": feature("", 1),
    "delta": native("delta", real),
}
UNITS: dict[str, Value] = {
    name: native(name, real)
    for name in ("power_to_db", "amplitude_to_db", "db_to_power", "db_to_amplitude")
}  # fmt: skip

MODULES: dict[str, dict[str, Value]] = {
    "librosa": {
        "load": native("load", load), "stft": native("stft", stft), "magphase": native("magphase", magphase),
        "resample": native("resample", resample), "to_mono": native("to_mono", to_mono), **UNITS,
    },
    "librosa.core": {"load": native("load", load), "stft": native("stft", stft), **UNITS},
    "librosa.feature": FEATURES,
    "librosa.util": {"fix_length": native("fix_length", fix_length), "normalize": native("normalize", real)},
    "librosa.effects": {"trim": native("trim", trim), "preemphasis": native("preemphasis", real)},
}  # fmt: skip
