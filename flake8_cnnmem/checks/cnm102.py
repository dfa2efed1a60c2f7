"""A loop keeps graphs: it needs more memory with every turn.

## What it means

What a loop still holds after a turn, that it did not hold before, and that leads to a graph: outputs, losses or
features collected in a list or a dict, losses that are summed as tensors, a state that goes on from turn to turn. A
result that asks for a gradient holds everything that its backward pass would read, so that with each of them the
activations of a whole forward pass stay in memory. The message names the variable, what one turn adds, and what to
write; the finding stands at the statement that keeps it.

It is reported only where it is certain: two turns of the loop were followed, and what the first one has kept is still
there after the second one. What a backward pass has gone through is let go of: a list of losses that is filled after
`loss.backward()` keeps next to nothing, and there is no finding below 4 KiB a turn. Nor is there one for results that
are detached or computed under `torch.no_grad()`, though they may grow as well.

## Example

    import torch
    from torch import nn

    model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.Sigmoid(), nn.AdaptiveAvgPool2d(1)).cuda()
    features = []
    for batch in range(100):
        images = torch.randn(32, 3, 64, 64).cuda()
        features.append(model(images))

It says, in one line:

    example.py:8:5: CNM102 features keeps 34 MiB more with every turn of the loop at line 6, each item with its graph;
    keep it detached (.detach()), or run the loop under torch.no_grad()

## How to mend it

Keep numbers in the place of losses (`.item()`), and `.detach()` of other tensors; run loops that only evaluate under
`torch.no_grad()`, which also spares them the activations of the turn itself. Where a backward pass comes after the
loop, go back from each turn's loss by itself: the gradients add up all the same. A state that goes from chunk to chunk
is detached before it is used again.

## How to silence it

`# noqa: CNM102` on the line of the finding, where the graph is wanted; for a whole model `# cnnmem: skip` at its class
or call; for everything, `extend-ignore = CNM102`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem import units
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.text.lines import in_words

if TYPE_CHECKING:
    from flake8_cnnmem.results import Growth, ModelReport
    from flake8_cnnmem.settings.options import Settings

CODE = "CNM102"
DEFAULT = True
LEVEL = "warning"


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    for growth in report.growths:
        yield Finding(growth.path, growth.line, growth.column, CODE, message(growth, report.framework))


def message(growth: Growth, framework: str) -> str:
    same = growth.loop_path == growth.path
    loop = in_words(growth.loop_line) if same else f"{growth.loop_path}:{growth.loop_line}"
    kept = "each item with its graph" if growth.gathers else "with the graphs of all turns before"
    return (
        f"{growth.what} keeps {units.show(growth.bytes)} more with every turn of the loop at {loop}, {kept}; "
        f"{advice(growth, framework)}"
    )


def advice(growth: Growth, framework: str) -> str:
    """What to write."""
    if growth.use == "backward":
        return "go back in each turn, the gradients add up all the same" + (
            "" if growth.single else ", or keep it detached (.detach())"
        )
    if growth.gathers:
        mended = "keep the number alone (.item())" if growth.single else "keep it detached (.detach())"
    elif growth.single:
        mended = "add the number alone (.item())"
    else:
        mended = "detach it (.detach()) before the next turn"
    from flake8_cnnmem import frameworks

    region = frameworks.named(framework).gradless_region if growth.use == "evaluation" else ""
    return f"{mended}, or run the loop under {region}" if region else mended
