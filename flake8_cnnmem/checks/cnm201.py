"""A layer is given another size than it is declared for.

    model.py:18:20: CNM201 fc1 takes 400 features, but conv2's pool gives 256 (16 x 4 x 4) for the
    28x28 input of line 40; Linear(256, ...) fits, or a 32x32 input

(One line in reality.) Channels or features that do not chain, a merge of unequal shapes, a reshape to another
number of values, a size that is not a whole number: the framework would stop with an error at this layer. The
message names the layer, the size it is given, the size it is declared for, and what would work.

It is reported only where it is certain: whatever the input size, or for the size that the code itself or a
directive states (an `Input`, a call on a tensor made in the file), never for one that only an option or a default
gives. If the stated size is not the one the model is used with, state the right one: `# cnnmem: input-shape=3,32,32`
at the class or call. To silence it, `# noqa: CNM201` on the layer's line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from flake8_cnnmem.finding import Finding

if TYPE_CHECKING:
    from flake8_cnnmem.answers import LayerProblem, ModelReport
    from flake8_cnnmem.settings import Settings

CODE = "CNM201"
DEFAULT = True


def check(report: ModelReport, settings: Settings) -> Iterator[Finding]:
    return problems(report, CODE)


def problems(report: ModelReport, code: str) -> Iterator[Finding]:
    """The findings for the report's layer problems of this code."""
    for problem in report.problems:
        if problem.problem.code == code:
            site = problem.site
            yield Finding(site.path, site.line, site.column, code, describe(problem))


def describe(problem: LayerProblem) -> str:
    """`fc1 takes 400 features, but is given 256 for the 28x28 input of line 40; Linear(256, ...) fits`."""
    context = f" {problem.context}" if problem.context else ""
    advice = f"; {problem.problem.advice}" if problem.problem.advice else ""
    return f"{problem.layer} {problem.problem.what}{context}{advice}"
