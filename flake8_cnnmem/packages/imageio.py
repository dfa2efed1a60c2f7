"""imageio: pictures from files."""

from __future__ import annotations

from flake8_cnnmem.packages.torchvision.files import READERS
from flake8_cnnmem.values import Value

MODULES: dict[str, dict[str, Value]] = {
    name: names for name, names in {**READERS}.items() if name.partition(".")[0] == "imageio"
}
