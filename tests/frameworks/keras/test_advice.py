"""What CNM201 says would work, where a Keras layer is given another number of axes than it takes."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

CASES = {
    "a recurrent layer that gives its last step alone": (
        "LSTM(8, input_shape=(10, 5)), LSTM(4)",
        "return_sequences=True in the recurrent layer before it would fit",
    ),
    "the same behind a dropout": (
        "GRU(8, input_shape=(10, 5)), Dropout(0.2), LSTM(4)",
        "return_sequences=True in the recurrent layer before it would fit",
    ),
    "images without a channel axis": (
        "InputLayer((28, 28)), Conv2D(8, 3)",
        "an input with a channel axis, as 28x28x1, would fit",
    ),
    "features without steps": ("Dense(8, input_shape=(4,)), LSTM(4)", ""),
}


@pytest.mark.parametrize(("layers", "advice"), CASES.values(), ids=CASES)
def test_advice(layers: str, advice: str) -> None:
    text = f"from keras import Sequential\nfrom keras.layers import *\nmodel = Sequential([{layers}])\n"
    (report,) = analyse(Source("model.py", text), Settings()).reports
    assert [problem.problem.advice for problem in report.problems] == [advice]
