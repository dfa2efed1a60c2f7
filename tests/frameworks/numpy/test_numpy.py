"""numpy on small arrays and on shapes: the expected text is what numpy 2 itself gave."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.frameworks.numpy.members import tolist
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.evaluate.programs import evaluate, with_batch

CASES = [
    ("np.array([1, 2, 3])", "array(3,) int64 [1, 2, 3]"),
    ("np.array([[1, 2.5], [3, 4]])", "array(2, 2) float64 [[1.0, 2.5], [3.0, 4.0]]"),
    ("np.array(5)", "array() int64 5"),
    ("np.array([])", "array(0,) float64 []"),
    ("np.array([True, False])", "array(2,) bool [True, False]"),
    ("np.array(range(3))", "array(3,) int64 [0, 1, 2]"),
    ("np.asarray((1, 2), dtype=np.float32)", "array(2,) float32 [1.0, 2.0]"),
    ("np.array([1, 2], dtype='int32')", "array(2,) int32 [1, 2]"),
    ("np.array([[1], [2]]).shape", "[2, 1]"),
    ("np.zeros((2, 3))", "array(2, 3) float64 [[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]"),
    ("np.zeros(3)", "array(3,) float64 [0.0, 0.0, 0.0]"),
    ("np.ones((1, 2), dtype=np.int64)", "array(1, 2) int64 [[1, 1]]"),
    ("np.array((0, 3), dtype=np.long)", "array(2,) int64 [0, 3]"),
    ("np.zeros(1, dtype=np.ushort)", "array(1,) uint16 [0]"),
    ("np.full((2,), 7)", "array(2,) int64 [7, 7]"),
    ("np.full((2,), 7.5)", "array(2,) float64 [7.5, 7.5]"),
    ("np.zeros_like([1, 2])", "array(2,) int64 [0, 0]"),
    ("np.eye(2)", "array(2, 2) float64 [[1.0, 0.0], [0.0, 1.0]]"),
    ("np.empty((2, 2)).shape", "[2, 2]"),
    ("np.ones_like(np.zeros((2, 2)))", "array(2, 2) float64 [[1.0, 1.0], [1.0, 1.0]]"),
    ("np.arange(5)", "array(5,) int64 [0, 1, 2, 3, 4]"),
    ("np.arange(1, 4)", "array(3,) int64 [1, 2, 3]"),
    ("np.arange(0, 1, 0.25)", "array(4,) float64 [0.0, 0.25, 0.5, 0.75]"),
    ("np.arange(3.0)", "array(3,) float64 [0.0, 1.0, 2.0]"),
    ("np.arange(5, 0, -2)", "array(3,) int64 [5, 3, 1]"),
    ("np.linspace(0, 1, 5)", "array(5,) float64 [0.0, 0.25, 0.5, 0.75, 1.0]"),
    ("np.linspace(0, 0.2, 3)[1]", "0.1"),
    ("np.arange(4, dtype=np.float32)", "array(4,) float32 [0.0, 1.0, 2.0, 3.0]"),
    ("np.array([1, 2]) + 1", "array(2,) int64 [2, 3]"),
    ("np.array([1, 2]) * np.array([3, 4])", "array(2,) int64 [3, 8]"),
    ("np.array([1, 2]) / 2", "array(2,) float64 [0.5, 1.0]"),
    ("2 ** np.array([1, 2])", "array(2,) int64 [2, 4]"),
    ("np.array([7, 8]) // 2", "array(2,) int64 [3, 4]"),
    ("-np.array([1, 2])", "array(2,) int64 [-1, -2]"),
    ("np.array([1, 2]) > 1", "array(2,) bool [False, True]"),
    ("np.array([[1], [2]]) + np.array([10, 20])", "array(2, 2) int64 [[11, 21], [12, 22]]"),
    ("1 - np.array([0.5])", "array(1,) float64 [0.5]"),
    ("np.array([1, 2]) % 2", "array(2,) int64 [1, 0]"),
    ("10 / np.array([2.0, 4.0])", "array(2,) float64 [5.0, 2.5]"),
    ("np.array([1, 2]) == 2", "array(2,) bool [False, True]"),
    ("np.floor(2.5)", "2.0"),
    ("np.ceil(2.1)", "3.0"),
    ("np.round(2.567, 2)", "2.57"),
    ("np.sqrt(16)", "4.0"),
    ("np.log2(8)", "3.0"),
    ("np.log(1)", "0.0"),
    ("np.exp(0)", "1.0"),
    ("np.abs(-3)", "3"),
    ("np.abs([-1, 2])", "array(2,) int64 [1, 2]"),
    ("np.sign(-2.0)", "-1.0"),
    ("np.power(2, 3)", "8"),
    ("np.maximum(3, 5)", "5"),
    ("np.maximum([1, 5], [3, 2])", "array(2,) int64 [3, 5]"),
    ("np.minimum(1.5, 2)", "1.5"),
    ("np.clip(5, 0, 3)", "3"),
    ("np.clip([1, 9], 2, 5)", "array(2,) int64 [2, 5]"),
    ("np.floor([1.5, 2.5])", "array(2,) float64 [1.0, 2.0]"),
    ("np.square(3)", "9"),
    ("np.log10(100)", "2.0"),
    ("np.around([1.26], 1)", "array(1,) float64 [1.3]"),
    ("np.prod([2, 3])", "6"),
    ("np.prod((2, 3.0))", "6.0"),
    ("np.sum([1, 2])", "3"),
    ("np.mean([1, 2])", "1.5"),
    ("np.max([3, 1])", "3"),
    ("np.min([3, 1])", "1"),
    ("np.argmax([1, 5, 2])", "1"),
    ("np.cumsum([1, 2, 3])", "array(3,) int64 [1, 3, 6]"),
    ("np.std([1, 3])", "1.0"),
    ("np.var([1, 3])", "1.0"),
    ("np.median([3, 1, 2])", "2.0"),
    ("np.any([0, 1])", "True"),
    ("np.all([0, 1])", "False"),
    ("np.sum([[1, 2], [3, 4]], axis=0)", "array(2,) int64 [4, 6]"),
    ("np.sum([[1, 2], [3, 4]], axis=1, keepdims=True)", "array(2, 1) int64 [[3], [7]]"),
    ("np.mean(np.ones((2, 3)), axis=(0, 1))", "1.0"),
    ("np.prod([])", "1.0"),
    ("np.prod(())", "1.0"),
    ("np.amax([[1, 4], [3, 2]], axis=1)", "array(2,) int64 [4, 3]"),
    ("np.sum([True, True])", "2"),
    ("np.cumprod([1, 2, 3])", "array(3,) int64 [1, 2, 6]"),
    ("np.average([1, 2])", "1.5"),
    ("np.count_nonzero([1, 0, 2])", "2"),
    ("np.concatenate([[1, 2], [3]])", "array(3,) int64 [1, 2, 3]"),
    ("np.concatenate((np.zeros((2, 1)), np.ones((2, 2))), axis=1).shape", "[2, 3]"),
    ("np.stack([[1, 2], [3, 4]])", "array(2, 2) int64 [[1, 2], [3, 4]]"),
    ("np.stack([[1, 2], [3, 4]], axis=1).shape", "[2, 2]"),
    ("np.vstack([[1, 2], [3, 4]])", "array(2, 2) int64 [[1, 2], [3, 4]]"),
    ("np.hstack([[1], [2, 3]])", "array(3,) int64 [1, 2, 3]"),
    ("np.dstack([[1, 2], [3, 4]]).shape", "[1, 2, 2]"),
    ("np.dstack([np.zeros((2, 3)), np.zeros((2, 3))]).shape", "[2, 3, 2]"),
    ("np.dstack([np.zeros((2, 3, 4)), np.zeros((2, 3, 1))]).shape", "[2, 3, 5]"),
    ("np.column_stack([[1, 2], [3, 4]]).shape", "[2, 2]"),
    ("np.column_stack([np.zeros((2, 3)), [1, 2]]).shape", "[2, 4]"),
    ("np.expand_dims([1, 2], 0)", "array(1, 2) int64 [[1, 2]]"),
    ("np.squeeze(np.zeros((1, 2, 1))).shape", "[2]"),
    ("np.reshape([1, 2, 3, 4], (2, -1))", "array(2, 2) int64 [[1, 2], [3, 4]]"),
    ("np.transpose([[1, 2], [3, 4]])", "array(2, 2) int64 [[1, 3], [2, 4]]"),
    ("np.transpose(np.zeros((2, 3, 4)), (2, 0, 1)).shape", "[4, 2, 3]"),
    ("np.tile([1, 2], 2)", "array(4,) int64 [1, 2, 1, 2]"),
    ("np.repeat([1, 2], 2)", "array(4,) int64 [1, 1, 2, 2]"),
    ("np.split(np.arange(4), 2)[1]", "array(2,) int64 [2, 3]"),
    ("np.array_split(np.arange(5), 2)[0]", "array(3,) int64 [0, 1, 2]"),
    ("np.ravel([[1, 2], [3, 4]])", "array(4,) int64 [1, 2, 3, 4]"),
    ("np.swapaxes(np.zeros((2, 3)), 0, 1).shape", "[3, 2]"),
    ("np.moveaxis(np.zeros((2, 3, 4)), 0, -1).shape", "[3, 4, 2]"),
    ("np.pad(np.zeros((2, 2)), ((1, 1), (0, 2))).shape", "[4, 4]"),
    ("np.zeros((4, 3, 8))[0].shape", "[3, 8]"),
    ("np.zeros((4, 3, 8))[:, 1:].shape", "[4, 2, 8]"),
    ("np.zeros((4, 3, 8))[..., None].shape", "[4, 3, 8, 1]"),
    ("np.zeros((4, 3, 8))[None].shape", "[1, 4, 3, 8]"),
    ("np.zeros((4, 3))[1, 2]", "0.0"),
    ("np.array([1, 2, 3])[-1]", "3"),
    ("np.array([1, 2, 3])[::-1]", "array(3,) int64 [3, 2, 1]"),
    ("np.array([1, 2, 3])[[0, 2]]", "array(2,) int64 [1, 3]"),
    ("np.zeros((4, 3))[:, np.newaxis].shape", "[4, 1, 3]"),
    ("np.array([[1, 2], [3, 4]])[:, 0]", "array(2,) int64 [1, 3]"),
    ("np.zeros((4, 3, 8))[:2, :, -1].shape", "[2, 3]"),
    ("np.zeros((2, 3)).size", "6"),
    ("np.zeros((2, 3)).ndim", "2"),
    ("np.zeros((2, 3)).T.shape", "[3, 2]"),
    ("np.zeros(3).dtype == np.float64", "True"),
    ("np.zeros(3, dtype='float32').dtype == 'float32'", "True"),
    ("str(np.zeros(2).dtype)", "'float64'"),
    ("np.zeros(3).astype(int)", "array(3,) int64 [0, 0, 0]"),
    ("np.zeros((2, 3)).reshape(3, 2).shape", "[3, 2]"),
    ("np.zeros((2, 3)).reshape(-1).shape", "[6]"),
    ("np.zeros((2, 3)).flatten().shape", "[6]"),
    ("np.array([1, 2]).tolist()", "[1, 2]"),
    ("np.array([5]).item()", "5"),
    ("np.array([1, 2]).sum()", "3"),
    ("np.array([1.0, 2.0]).mean()", "1.5"),
    ("np.array([[1, 2]]).max()", "2"),
    ("len(np.zeros((4, 2)))", "4"),
    ("np.zeros((2, 3)).transpose(1, 0).shape", "[3, 2]"),
    ("np.zeros((2, 2)).mean(axis=0)", "array(2,) float64 [0.0, 0.0]"),
    ("np.array([3, 4]).prod()", "12"),
    ("np.zeros((2, 3), dtype=np.float32).nbytes", "24"),
    ("np.array([1, 2]).copy()", "array(2,) int64 [1, 2]"),
    ("np.dot([1, 2], [3, 4])", "11"),
    ("np.dot(np.ones((2, 3)), np.ones((3, 4))).shape", "[2, 4]"),
    ("np.matmul(np.ones((5, 2, 3)), np.ones((5, 3, 4))).shape", "[5, 2, 4]"),
    ("np.array([[1, 2], [3, 4]]) @ np.array([1, 1])", "array(2,) int64 [3, 7]"),
    ("np.outer([1, 2], [3, 4])", "array(2, 2) int64 [[3, 4], [6, 8]]"),
    ("np.where([True, False], 1, 2)", "array(2,) int64 [1, 2]"),
    ("np.unique([3, 1, 3])", "array(2,) int64 [1, 3]"),
    ("np.isscalar(3)", "True"),
    ("np.isscalar([3])", "False"),
    ("np.array_equal([1, 2], [1, 2])", "True"),
    ("np.isnan(np.nan)", "True"),
    ("np.pi", "3.141592653589793"),
    ("np.inf > 1", "True"),
    ("np.float32(3)", "3.0"),
    ("np.int64(3.7)", "3"),
    ("np.logical_and(True, False)", "False"),
    ("np.issubdtype(np.float32, np.floating)", "True"),
    ("np.shape([[1, 2]])", "[1, 2]"),
    ("np.ndim(5)", "0"),
    ("np.size([1, 2])", "2"),
    ("np.logical_not([True, False])", "array(2,) bool [False, True]"),
    ("np.isfinite([1.0, np.inf])", "array(2,) bool [True, False]"),
    ("[int(v) for v in np.linspace(1, 10, 4)]", "[1, 4, 7, 10]"),
    ("[x.shape for x in np.zeros((2, 3, 4))]", "[[3, 4], [3, 4]]"),
    ("list(np.arange(3))", "[0, 1, 2]"),
    ("sum(np.array([1, 2, 3]))", "6"),
    ("max(np.array([1, 2]))", "2"),
    ("tuple(np.array([4, 5]))", "[4, 5]"),
    ("[float(x) for x in np.linspace(0, 0.1, 3)]", "[0.0, 0.05, 0.1]"),
    ("int(np.prod([2, 3]))", "6"),
    ("int(np.ceil(7 / 2))", "4"),
    ("int(np.sqrt(49))", "7"),
    ("float(np.mean([1, 2]))", "1.5"),
    ("range(int(np.log2(8)))", "range(0, 3)"),
    ("sorted(np.array([3, 1]))", "[1, 3]"),
    ("isinstance(np.zeros(2), np.ndarray)", "True"),
    ("int(np.round(32 * 1.5))", "48"),
    ("bool(np.any(np.array([0, 1])))", "True"),
    ("np.random.rand(2, 3).shape", "[2, 3]"),
    ("np.random.randn(4).shape", "[4]"),
    ("np.random.randint(0, 10, (2, 2)).shape", "[2, 2]"),
    ("np.random.random((3, 2)).shape", "[3, 2]"),
    ("np.random.uniform(0, 1, (2,)).shape", "[2]"),
    ("np.random.normal(size=(1, 2)).shape", "[1, 2]"),
    ("np.random.RandomState(0).rand(5).shape", "[5]"),
    ("np.random.default_rng(1).standard_normal((2, 3)).shape", "[2, 3]"),
    ("np.random.permutation(5).shape", "[5]"),
    ("np.random.choice(10, 3).shape", "[3]"),
    ("np.zeros((2, 3)).reshape(4, 2)", "raises ValueError"),
    ("np.array([1, 2]) + np.array([1, 2, 3])", "raises ValueError"),
    ("np.concatenate([np.zeros((2, 2)), np.zeros((3, 3))])", "raises ValueError"),
    ("np.array([1, 2])[5]", "raises IndexError"),
    ("np.zeros(3)[0, 0]", "raises IndexError"),
    ("np.array([0.5, 1.5]).astype('int64')", "array(2,) int64 [0, 1]"),
    ("np.array([1, 2]).astype(np.float32)", "array(2,) float32 [1.0, 2.0]"),
    ("np.array([1, 2], np.float32) * 2.0", "array(2,) float32 [2.0, 4.0]"),
    ("np.array([1, 2], dtype=np.uint8) + 1", "array(2,) uint8 [2, 3]"),
    ("(np.arange(3) * 0.5).dtype.name if hasattr(np.arange(3).dtype, 'name') else None", "'float64'"),
    ("np.array(((1, 2), (3, 4))).shape", "[2, 2]"),
    ("np.array(['a', 'b']).shape", "[2]"),
    ("np.array([np.zeros(2), np.ones(2)])", "array(2, 2) float64 [[0.0, 0.0], [1.0, 1.0]]"),
    ("np.array([[[1]]]).shape", "[1, 1, 1]"),
    ("np.meshgrid([1, 2, 3], [4, 5])[0].shape", "[2, 3]"),
    ("np.atleast_2d([1, 2]).shape", "[1, 2]"),
    ("np.broadcast_to([1, 2], (3, 2)).shape", "[3, 2]"),
    ("np.diag([1, 2]).shape", "[2, 2]"),
    ("np.diag([1, 2], 1).shape", "[3, 3]"),
    ("np.diag([1, 2], -2).shape", "[4, 4]"),
    ("np.diag(np.zeros((5, 3))).shape", "[3]"),
    ("np.diag(np.zeros((5, 3)), -3).shape", "[2]"),
    ("np.diag(np.zeros((5, 3)), 2).shape", "[1]"),
    ("np.rot90(np.zeros((4, 3, 2))).shape", "[3, 4, 2]"),
    ("np.rot90(np.zeros((4, 3, 2)), 2).shape", "[4, 3, 2]"),
    ("np.rot90(np.zeros((4, 3, 2)), axes=(1, 2)).shape", "[4, 2, 3]"),
    ("np.rollaxis(np.zeros((4, 3, 2)), 2).shape", "[2, 4, 3]"),
    ("np.rollaxis(np.zeros((4, 3, 2)), 0, 3).shape", "[3, 2, 4]"),
    ("np.rollaxis(np.zeros((4, 3, 2)), 0, -1).shape", "[3, 4, 2]"),
    ("np.moveaxis(np.zeros((4, 3, 2)), 0, -1).shape", "[3, 2, 4]"),
    ("len(np.gradient(np.zeros((4, 3))))", "2"),
    ("np.gradient(np.zeros((4, 3)), axis=0).shape", "[4, 3]"),
    ("np.gradient(np.zeros(4)).shape", "[4]"),
    ("np.sort(np.zeros((4, 3)), axis=None).shape", "[12]"),
    ("np.argsort(np.zeros((4, 3)), axis=None).shape", "[12]"),
    ("np.meshgrid([1, 2, 3], [4.0, 5.0])[0].dtype.name", "'int64'"),
    ("np.argsort([3, 1]).shape", "[2]"),
]


def show(run: Any, value: Any) -> str:
    if isinstance(value, Unknown):
        return value.reason.replace("the code raises", "raises").partition(":")[0]
    if isinstance(value, Tensor):
        return f"array{value.shape} {value.dtype} {tolist(run, value)}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(show(run, item) for item in value)}]"
    return repr(value)


@pytest.mark.parametrize(("expression", "expected"), CASES, ids=[expression for expression, _ in CASES])
def test_an_expression_gives_what_numpy_gives(expression: str, expected: str) -> None:
    variables, run = evaluate(f"import numpy as np\nresult = {expression}")
    assert show(run, variables["result"]) == expected


SHAPES = [
    ("np.zeros((4, 3, n, n)).shape", "(4, 3, ?, ?)"),
    ("np.zeros((100, n)).reshape(100, -1).shape", "(100, ?)"),
    ("np.concatenate([np.zeros((2, n)), np.zeros((3, n))]).shape", "(5, ?)"),
    ("np.random.rand(8, 3, 32, 32).astype('float32').transpose(0, 2, 3, 1).shape", "(8, 32, 32, 3)"),
    ("np.expand_dims(np.random.rand(60000, 28, 28), -1).shape[1:]", "(28, 28, 1)"),
    ("np.zeros((60000, 28, 28)).reshape(60000, 784).shape", "(60000, 784)"),
    ("(np.zeros((60000, 28, 28)) / 255.0).shape", "(60000, 28, 28)"),
    ("np.zeros((60000, 28, 28))[:1000, None].shape", "(1000, 1, 28, 28)"),
    ("np.stack([np.zeros((3, 3))] * 5, axis=-1).shape", "(3, 3, 5)"),
    # Of what a file holds only the dtype is known: it is an array, and has the axes that it is given.
    ("np.array(held, dtype=np.float32).reshape(-1, 5).shape", "(?, 5)"),
    ("np.reshape(np.array(held).astype(np.float32), (-1, 3, 4)).shape", "(?, 3, 4)"),
    ("np.transpose(np.asarray(held, 'int64').reshape(-1, 3)).shape", "(3, ?)"),
    ("(np.array(held, dtype=np.uint8) / 255.0).reshape(-1, 28, 28).shape", "(?, 28, 28)"),
]


@pytest.mark.parametrize(("expression", "expected"), SHAPES, ids=[expression for expression, _ in SHAPES])
def test_shapes_of_large_or_partly_unknown_arrays_are_followed(expression: str, expected: str) -> None:
    variables, _ = evaluate(
        f"import json\nimport numpy as np\nn = input()\nheld = json.loads(n)\nresult = {expression}"
    )
    sizes = variables["result"]
    assert dims.show(sizes) == expected


def test_what_nobody_knows_may_be_an_array_and_is_stacked_as_one() -> None:
    text = "import json\nimport numpy as np\nheld = json.load(open('a.json'))\n"
    variables, _ = evaluate(f"{text}result = np.stack([held / 255, held / 9]).reshape(-1, 3)")
    assert variables["result"].reason == "what a file holds is not known"


def test_an_array_without_axes_is_no_sequence() -> None:
    text = (
        "import numpy as np\ntry:\n    for each in np.array(5):\n        pass\nexcept TypeError:\n    result = 'none'"
    )
    variables, _ = evaluate(text)
    assert variables["result"] == "none"


def test_sizes_of_the_batch_pass_through_arithmetic() -> None:
    values = "np.prod((n, 3, 2)), int(np.floor(n)), np.array([n, 2]).prod(), np.array((n, 4))[1]"
    assert with_batch(f"import numpy as np\nresult = {values}") == (Batch(6), Batch(1), Batch(2), 4)


def test_what_a_file_of_arrays_holds_may_be_a_dict() -> None:
    text = "import numpy as np\nlabels = np.load('a.npy', allow_pickle=True).flat[0]\nresult = labels[list(labels)[0]]"
    variables, _ = evaluate(text)
    assert variables["result"].reason == "what a.npy holds is not known"


def test_what_an_array_of_objects_holds_may_be_an_array() -> None:
    text = """
import numpy as np
rows = np.array([[np.zeros(3), np.zeros(4)]], dtype=object)
result = [rows.shape, [each for row in rows for each in row][0], rows[0, 1]]
"""
    variables, _ = evaluate(text)
    shape, *parts = variables["result"]
    assert shape == (1, 2)
    assert [each.reason for each in parts] == ["what an array of objects holds is not known"] * 2
