"""A report of one framework loads no other one."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

text = "import keras\\nm = keras.Sequential([keras.Input((8,)), keras.layers.Dense(3)])\\n"
(report,) = analyse(Source("net.py", text), Settings()).reports
assert report.status == "exact", report
print("flake8_cnnmem.frameworks.torch" in sys.modules)
"""


def test_a_keras_model_is_reported_without_pytorchs_folder() -> None:
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
