"""A layer's output shrinks to nothing.

## What it means

A convolution or pool is larger than the map it is given, so that nothing is left of it; the framework would stop
with an error ("Output size is too small", "Negative dimension size"). Usual causes are a model made for larger
images (ImageNet's 224x224 on CIFAR's 32x32), one pool too many, or `padding="valid"` where "same" was meant; with
Keras also channels first taken for channels last. It is reported only where it is certain, as CNM201 is.

## Example

    from keras import Input, Sequential, layers

    model = Sequential([
        Input((12, 12, 3)),
        layers.Conv2D(32, 5),
        layers.MaxPooling2D(2),
        layers.Conv2D(64, 5),
        layers.GlobalAveragePooling2D(),
        layers.Dense(10),
    ])

It says, in one line:

    example.py:7:5: CNM202 conv2d_1 leaves nothing of its 4x4 map: its 5x5 window needs a side of at least 5 (from
    max_pooling2d, line 6) for the 12x12 input of line 4, 4 comes from line 3; a larger input, a smaller window or
    fewer halvings would fit

## How to mend it

A larger input, fewer pools and strides before the layer, a smaller window, or padding that keeps the size. If the
stated input size is not the one that the model is used with, state the right one: `# cnnmem: input-shape=224,224,3`
at the class or call.

## How to silence it

`# noqa: CNM202` on the layer's line; for a whole model `# cnnmem: skip` at its class or call; for everything,
`extend-ignore = CNM202`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.checks.cnm201 import problems
from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.results import ModelReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM202"
DEFAULT = True
LEVEL = "error"


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    return problems(report, CODE)
