"""matplotlib: colours of pictures; what is drawn is looked on at."""

from __future__ import annotations

from flake8_cnnmem.packages.torchvision.files import READERS
from flake8_cnnmem.values import Value

MODULES: dict[str, dict[str, Value]] = {
    name: names for name, names in {**READERS, "matplotlib": {}}.items() if name.partition(".")[0] == "matplotlib"
}
