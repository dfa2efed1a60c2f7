"""Write down what librosa computes of sounds: shapes and dtypes, as fixtures/truth/sounds.json.

Run by hand with librosa installed: python tests/oracle/measure_sounds.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TRUTH = Path(__file__).parents[2] / "fixtures" / "truth" / "sounds.json"
SETUP = """
import numpy as np
import librosa
from librosa.feature import melspectrogram, mfcc

y = np.zeros(80000, dtype=np.float32)
y[::7] = 0.3
"""
CASES = [
    "melspectrogram(y=y, sr=16000, n_fft=1024, hop_length=512, n_mels=64)",
    "melspectrogram(y=y)",
    "melspectrogram(y=y, n_fft=1024, hop_length=256, center=False)",
    "melspectrogram(S=np.abs(librosa.stft(y, n_fft=512)) ** 2, sr=16000, n_mels=40)",
    "melspectrogram(y=np.stack([y, y]))",
    "mfcc(y=y, sr=16000, n_mfcc=13)",
    "mfcc(S=librosa.power_to_db(melspectrogram(y=y)))",
    "librosa.feature.delta(mfcc(y=y))",
    "librosa.feature.chroma_stft(y=y, sr=16000, hop_length=400)",
    "librosa.feature.spectral_contrast(y=y)",
    "librosa.feature.spectral_centroid(y=y)",
    "librosa.feature.zero_crossing_rate(y)",
    "librosa.feature.zero_crossing_rate(y, frame_length=512, center=False)",
    "librosa.feature.rms(y=y, hop_length=160)",
    "librosa.stft(y)",
    "librosa.stft(y, n_fft=512, win_length=400)",
    "librosa.magphase(librosa.stft(y))[0]",
    "librosa.amplitude_to_db(np.abs(librosa.stft(y)), ref=np.max)",
    "librosa.util.fix_length(y, size=1000)",
    "librosa.resample(y, orig_sr=22050, target_sr=16000)",
    "librosa.resample(y, orig_sr=16000, target_sr=22050)",
    "librosa.to_mono(np.stack([y, y]))",
    "librosa.effects.trim(y)[1]",
]


def main() -> None:
    space: dict[str, Any] = {}
    exec(SETUP, space)
    found = {case: eval(case, space) for case in CASES}
    truth = {
        "about": f"Arrays by librosa {space['librosa'].__version__}: tests/oracle/measure_sounds.py.",
        "setup": SETUP,
        "arrays": {case: [list(array.shape), str(array.dtype)] for case, array in found.items()},
    }
    TRUTH.write_text(json.dumps(truth, indent=1) + "\n")


if __name__ == "__main__":
    main()
