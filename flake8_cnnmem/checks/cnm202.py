"""A layer's output shrinks to nothing.

    model.py:31:9: CNM202 pool5 shrinks its 1x1 input to 0x0 for the 28x28 input of line 40; an input from 32x32 fits

A convolution or pool is larger than the map it is given, so that nothing is left of it; the framework would stop
with an error ("Output size is too small", "Negative dimension size"). Usual causes are a model made for larger
images (ImageNet's 224x224 on CIFAR's 32x32), one pool too many, or `padding="valid"` where "same" was meant; with
Keras also channels first taken for channels last.

It is reported only where it is certain, as CNM201 is. To silence it, `# noqa: CNM202` on the layer's line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.checks.cnm201 import problems
from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.answers import ModelReport
    from flake8_cnnmem.settings import Settings

CODE = "CNM202"
DEFAULT = True


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    return problems(report, CODE)
