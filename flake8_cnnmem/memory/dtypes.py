"""Bytes of a value, and what a training dtype means for activations and weights."""

from __future__ import annotations

SIZES = {
    "float": 4,
    "float16": 2,
    "bfloat16": 2,
    "float32": 4,
    "float64": 8,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "int8": 1,
    "uint8": 1,
    "bool": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "complex64": 8,
    "complex128": 16,
}
HALVES = ("float16", "bfloat16")
MIXED = {"mixed_float16": "float16", "mixed_bfloat16": "bfloat16"}


def half_of(dtype: str) -> str | None:
    """The half dtype of activations under mixed precision; None for a plain dtype."""
    return MIXED.get(dtype)


def size_of(dtype: str) -> int:
    """Bytes of one value. The mixed dtypes stand for their float32 weights; an unheard-of dtype counts as float32."""
    return SIZES.get(dtype, 4)


def resolve(dtype: str, training: str) -> str:
    """The dtype that "float" stands for in a training dtype (its weights: float32 under mixed precision)."""
    if dtype != "float":
        return dtype
    return "float32" if training in MIXED else training


def is_floating(dtype: str) -> bool:
    """Whether a dtype can have a gradient."""
    return dtype.startswith(("float", "bfloat", "complex"))


def widest(dtypes: list[str]) -> str:
    """The dtype of arithmetic on floating tensors of these dtypes; "" where none is floating."""
    floating = [dtype for dtype in dtypes if is_floating(dtype)]
    if not floating:
        return ""
    largest = max(floating, key=size_of)
    both = {dtype for dtype in floating if size_of(dtype) == 2}
    return "float32" if len(both) > 1 and size_of(largest) == 2 else largest
