"""numpy.linalg and numpy.fft: the expected shapes and dtypes are what numpy 2.4 itself gave."""

from __future__ import annotations

from typing import Any

import pytest

from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from tests.evaluate.programs import evaluate

CASES = [
    ("np.linalg.pinv(np.zeros((5, 3, 4), dtype=np.float32))", "(5, 4, 3) float32"),
    ("np.linalg.inv(np.zeros((4, 4), dtype=np.int64) + np.eye(4, dtype=np.int64))", "(4, 4) float64"),
    ("np.linalg.inv(np.zeros((3, 4)))", "raises LinAlgError"),
    ("np.linalg.det(np.zeros((6, 3, 3)))", "(6,) float64"),
    ("np.linalg.norm(np.array([3, 4]))", "() float64"),
    ("np.linalg.norm(np.zeros((7, 3), dtype=np.float32), axis=1)", "(7,) float32"),
    ("np.linalg.norm(np.zeros((7, 3)), axis=-1, keepdims=True)", "(7, 1) float64"),
    ("np.linalg.norm(np.zeros((2, 7, 3)), axis=(1, 2))", "(2,) float64"),
    (
        "np.linalg.svd(np.zeros((5, 3), dtype=np.float32), full_matrices=False)",
        "(5, 3) float32 (3,) float32 (3, 3) float32",
    ),
    ("np.linalg.svd(np.zeros((5, 3)))", "(5, 5) float64 (3,) float64 (3, 3) float64"),
    ("np.linalg.svd(np.zeros((5, 3)), compute_uv=False)", "(3,) float64"),
    ("np.linalg.qr(np.zeros((5, 3)))", "(5, 3) float64 (3, 3) float64"),
    ("np.linalg.qr(np.zeros((5, 3)), 'complete')", "(5, 5) float64 (5, 3) float64"),
    ("np.linalg.qr(np.zeros((3, 5)), mode='r')", "(3, 5) float64"),
    ("np.linalg.eigh(np.zeros((3, 3)))", "(3,) float64 (3, 3) float64"),
    ("np.linalg.eigvalsh(np.zeros((2, 3, 3)))", "(2, 3) float64"),
    ("np.linalg.solve(np.eye(3), np.zeros((3, 2)))", "(3, 2) float64"),
    ("np.linalg.slogdet(np.zeros((2, 3, 3)))", "(2,) float64 (2,) float64"),
    ("np.linalg.matrix_rank(np.zeros((2, 3, 4)))", "(2,) int64"),
    ("np.linalg.matrix_power(np.eye(3), 4)", "(3, 3) float64"),
    ("np.linalg.multi_dot([np.zeros((2, 3)), np.zeros((3, 4)), np.zeros((4, 5))])", "(2, 5) float64"),
    ("np.linalg.cholesky(np.eye(3))", "(3, 3) float64"),
    ("np.fft.fft(np.zeros((4, 16)), axis=0, n=10)", "(10, 16) complex128"),
    ("np.fft.fft(np.zeros((4, 16), dtype=np.float32))", "(4, 16) complex64"),
    ("np.fft.rfft(np.zeros(401))", "(201,) complex128"),
    ("np.fft.irfft(np.zeros((3, 9), dtype=np.complex64))", "(3, 16) float32"),
    ("np.fft.irfft(np.zeros((3, 9)), n=15)", "(3, 15) float64"),
    ("np.fft.fft2(np.zeros((3, 8, 8)))", "(3, 8, 8) complex128"),
    ("np.fft.rfft2(np.zeros((3, 8, 8)), s=(16, 16))", "(3, 16, 9) complex128"),
    ("np.fft.fftn(np.zeros((2, 3)))", "(2, 3) complex128"),
    ("np.fft.ifftn(np.zeros((2, 3, 4)), axes=(0, 1))", "(2, 3, 4) complex128"),
    ("np.fft.fftshift(np.zeros((2, 3), dtype=np.uint8))", "(2, 3) uint8"),
    ("np.fft.fftfreq(7)", "(7,) float64"),
    ("np.fft.rfftfreq(8, d=0.1)", "(5,) float64"),
]


def show(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(show, value))
    if isinstance(value, float):
        return "() float64"
    if isinstance(value, Unknown):
        return "raises LinAlgError" if "must be square" in value.reason else value.reason
    assert isinstance(value, Tensor)
    return f"{value.shape} {value.dtype}"


@pytest.mark.parametrize(("expression", "expected"), CASES, ids=[expression for expression, _ in CASES])
def test_an_expression_gives_what_numpy_gives(expression: str, expected: str) -> None:
    variables, _ = evaluate(f"import numpy as np\nresult = {expression}")
    assert show(variables["result"]) == expected


def test_what_is_not_followed_is_a_cause() -> None:
    variables, _ = evaluate("import numpy as np\nresult = np.linalg.lstsq(np.eye(3), np.ones(3))")
    assert variables["result"].reason == "numpy.linalg.lstsq is not known"
