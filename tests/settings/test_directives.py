"""`# cnnmem:` comments: what they say, what they are meant for, what is wrong with them."""

from __future__ import annotations

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.settings.directives import DirectiveFacts, Directives
from flake8_cnnmem.settings.options import Limit
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.units import GIB, MIB


def read(text: str) -> Directives:
    text = textwrap.dedent(text)
    return Directives.read(text, ast.parse(text))


@pytest.mark.parametrize(
    ("comment", "facts"),
    [
        (
            "# cnnmem: batch-size=64 input-shape=1,28,28 optimizer=adam dtype=float16 gpu-limit=8GiB",
            DirectiveFacts(False, 64, (1, 28, 28), Optimizer("adam"), "float16", Limit(8 * GIB)),
        ),
        ("# cnnmem: skip", DirectiveFacts(skip=True)),
        ("#cnnmem:skip", DirectiveFacts(skip=True)),
        ("# CNNMEM: Batch_Size = 4", DirectiveFacts(batch_size=4)),
        ("# cnnmem: input-shape=1, 28, 28 batch-size=4", DirectiveFacts(batch_size=4, input_shape=(1, 28, 28))),
        ("# cnnmem: input-shape=(1, 28, 28), batch-size=4", DirectiveFacts(batch_size=4, input_shape=(1, 28, 28))),
        (
            "# cnnmem: gpu-limit=RTX 3090 batch-size=4",
            DirectiveFacts(batch_size=4, gpu_limit=Limit(24576 * MIB, "RTX 3090")),
        ),
        ("# cnnmem: gpu-limit=8 GB", DirectiveFacts(gpu_limit=Limit(8 * GIB))),
        ("# cnnmem: batch-size=4  # what our cards take", DirectiveFacts(batch_size=4)),
        ("# noqa: E501  # cnnmem: batch-size=4", DirectiveFacts(batch_size=4)),
    ],
)
def test_what_a_directive_says(comment: str, facts: DirectiveFacts) -> None:
    directives = read(f"net = Net()  {comment}\n")
    assert directives.for_lines(1) == facts
    assert directives.problems == ()


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("# cnnmem: batch-size=many", "batch-size: 'many' is not a batch size"),
        ("# cnnmem: batch-size=0", "batch-size: '0' is not a batch size"),
        ("# cnnmem: input-shape=big", "input-shape: 'big' is not an input shape"),
        ("# cnnmem: optimizer=adamm", "optimizer: 'adamm' is not an optimizer: use .*adam"),
        ("# cnnmem: dtype=float8", "dtype: 'float8' is not a dtype: use float32"),
        ("# cnnmem: gpu-limit=RTX 9090", "gpu-limit: 'RTX 9090' is neither a size .* nearest known"),
        ("# cnnmem: gpu-limit=none", "gpu-limit has no value"),
        ("# cnnmem: batch-size=", "batch-size has no value"),
        ("# cnnmem: epochs=3", "'epochs' is nothing that a directive can set: use batch-size, .* or skip"),
        ("# cnnmem: batch-size=4 batch-size=8", "batch-size is given twice"),
        ("# cnnmem: skp", "'skp' is not understood: write # cnnmem: batch-size=64"),
        ("# cnnmem: skip batch-size=4", "'skip' is not understood"),
        ("# cnnmem:", "an empty directive is not understood"),
        ("# cnnmem skip", "a directive begins with '# cnnmem:', with a colon"),
        ("# cnnmem batch-size=4", "a directive begins with '# cnnmem:', with a colon"),
    ],
)
def test_what_is_wrong_with_a_directive(comment: str, message: str) -> None:
    [problem] = read(f"net = Net()  {comment}\n").problems
    assert (problem.line, problem.column) == (1, 14)
    with pytest.raises(ValueError, match=message):
        raise ValueError(problem.message)


def test_the_rest_of_a_directive_with_a_slip_is_used() -> None:
    directives = read("net = Net()  # cnnmem: batch-size=4 epochs=3 dtype=float64\n")
    assert directives.for_lines(1) == DirectiveFacts(batch_size=4, dtype="float64")
    assert len(directives.problems) == 1


@pytest.mark.parametrize(
    "comment",
    ["# see the cnnmem: option", "# the cnnmem plugin skips it", "# cnnmem is great", "# cnnmemory: batch-size=4"],
)
def test_prose_about_the_tool_is_no_directive(comment: str) -> None:
    assert not read(f"net = Net()  {comment}\n")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("import m\nclass Net(m.M):  # cnnmem: batch-size=4\n    pass\n", 2, id="on a class"),
        pytest.param("import m\n# cnnmem: batch-size=4\nclass Net(m.M):\n    pass\n", 3, id="above a class"),
        pytest.param("import m\n# cnnmem: batch-size=4\n@m.d\nclass Net(m.M):\n    pass\n", 4, id="above a decorator"),
        pytest.param("import m\n@m.d\n# cnnmem: batch-size=4\nclass Net(m.M):\n    pass\n", 4, id="below a decorator"),
        pytest.param(
            "import m\n# cnnmem: batch-size=4\n# The net of the paper.\nclass Net(m.M):\n    pass\n",
            4,
            id="above a comment",
        ),
        pytest.param(
            "import m\ndef net(  # cnnmem: batch-size=4\n    width=8,\n):\n    return m.M(width)\n", 2, id="in a header"
        ),
        pytest.param(
            "import m\ndef net(\n    width=8,  # cnnmem: batch-size=4\n):\n    return m.M(width)\n",
            2,
            id="further down a header",
        ),
        pytest.param("import m\nnet = m.M()  # cnnmem: batch-size=4\n", 2, id="on a call"),
        pytest.param("import m\n# cnnmem: batch-size=4\nnet = m.M()\n", 3, id="above a call"),
        pytest.param("import m\nif m:\n    # cnnmem: batch-size=4\n    net = m.M()\n", 4, id="above an indented call"),
        pytest.param(
            "# cnnmem: batch-size=4\nclass Net:\n    pass\n", 2, id="on top of a file, but right above its first class"
        ),
    ],
)
def test_where_a_directive_may_stand(text: str, line: int) -> None:
    directives = read(text)
    assert directives.problems == ()
    assert directives.for_lines(line).batch_size == 4
    assert directives.for_file == DirectiveFacts()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        pytest.param("net = M(\n    3,  # cnnmem: batch-size=4\n)\n", 1, id="on a line of its own arguments"),
        pytest.param("net = M(\n    f(3),\n)  # cnnmem: batch-size=4\n", 1, id="on its last line"),
        pytest.param("net = M(\n    f(3),  # cnnmem: batch-size=4\n)\n", 2, id="on a line of another call within"),
        pytest.param("net = \\\n    M(3)  # cnnmem: batch-size=4\n", 2, id="below the statement's first line"),
        pytest.param(
            "# cnnmem: batch-size=4\n\nf()\n# cnnmem: batch-size=8\nnet = (\n    M(3)\n)\n",
            6,
            id="above the statement's first line",
        ),
    ],
)
def test_a_directive_in_a_call_of_several_lines_is_for_the_innermost(text: str, line: int) -> None:
    directives = read(text)
    assert list(directives.by_line) == [line]
    assert directives.problems == ()


def test_a_calls_directive_comes_before_its_definitions_and_the_files() -> None:
    directives = read(
        """\
        # cnnmem: batch-size=1 dtype=float16 optimizer=sgd
        import m
        class Net(m.M):  # cnnmem: batch-size=2 dtype=float64
            pass
        net = Net()  # cnnmem: batch-size=3
        """
    )
    facts = directives.for_lines(5, 3)
    assert (facts.batch_size, facts.dtype, facts.optimizer) == (3, "float64", Optimizer("sgd"))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("# cnnmem: batch-size=4\nimport m\nnet = m.M()\n", id="first line"),
        pytest.param(
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n#\n# cnnmem: batch-size=4\n\nimport m\n",
            id="below a shebang",
        ),
        pytest.param('"""The net."""\n\n# cnnmem: batch-size=4\nimport m\n', id="below the docstring"),
        pytest.param("# cnnmem: batch-size=4\n\nclass Net:\n    pass\n", id="an empty line above a class"),
        pytest.param("# cnnmem: batch-size=4\n", id="nothing but the directive"),
    ],
)
def test_a_directive_alone_at_the_top_is_for_the_whole_file(text: str) -> None:
    directives = read(text)
    assert directives.for_file == DirectiveFacts(batch_size=4)
    assert directives.for_lines(999) == DirectiveFacts(batch_size=4)
    assert directives.problems == ()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import m\nwidth = 8  # cnnmem: batch-size=4\n", id="on a plain assignment"),
        pytest.param("import m  # cnnmem: batch-size=4\n", id="on an import"),
        pytest.param(
            "import m\n# cnnmem: batch-size=4\n\nclass Net:\n    pass\n", id="an empty line above a class, further down"
        ),
        pytest.param("import m\nnet = m.M()\n# cnnmem: batch-size=4\n", id="at the end of the file"),
    ],
)
def test_a_directive_without_effect_is_reported(text: str) -> None:
    [problem] = read(text).problems
    assert "has no effect" in problem.message


def test_the_nearest_directive_wins_fact_by_fact() -> None:
    directives = read(
        """\
        # cnnmem: batch-size=4 dtype=float16 optimizer=sgd
        import m
        # cnnmem: batch-size=8 input-shape=3,8,8
        net = m.M()  # cnnmem: batch-size=16
        """
    )
    assert directives.for_lines(4).optimizer == Optimizer("sgd")
    assert directives.for_lines(4).input_shape == (3, 8, 8)
    assert directives.for_lines(4).dtype == "float16"
    assert directives.for_lines(4).batch_size == 16


@pytest.mark.parametrize(
    "text",
    [
        's = "# cnnmem: batch-size=4"\n',
        's = """\n# cnnmem: batch-size=4\n"""\n',
        's = f"{1} # cnnmem: skip"\n',
        'def f():\n    """Write `# cnnmem: skip`."""\n',
    ],
)
def test_strings_are_no_directives(text: str) -> None:
    assert not read(text)


@given(st.text(st.characters(blacklist_categories=["Cs", "Cc"]), max_size=80))
def test_any_comment_at_all_is_read_or_reported(body: str) -> None:
    for problem in read(f"net = Net()  # cnnmem: {body}\n").problems:
        assert "\n" not in problem.message
        assert len(problem.message) < 900
