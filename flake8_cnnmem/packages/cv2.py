"""OpenCV (`cv2`): arrays (H, W, C) of bytes, their sizes and channels. Nothing is ever read or shown."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Size, add, as_size, floor_divide
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.PIL import size_of
from flake8_cnnmem.packages.torchvision.sizes import NOT_KNOWN, sides_of, with_sides
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Native, Value

READ = {"IMREAD_UNCHANGED": -1, "IMREAD_GRAYSCALE": 0, "IMREAD_COLOR": 1, "IMREAD_ANYDEPTH": 2, "IMREAD_ANYCOLOR": 4}
CONVERSIONS = {
    "COLOR_BGR2RGB": (4, 3), "COLOR_RGB2BGR": (4, 3), "COLOR_BGR2GRAY": (6, 1), "COLOR_RGB2GRAY": (7, 1),
    "COLOR_GRAY2BGR": (8, 3), "COLOR_GRAY2RGB": (8, 3), "COLOR_BGR2HSV": (40, 3), "COLOR_RGB2HSV": (41, 3),
    "COLOR_HSV2BGR": (54, 3), "COLOR_HSV2RGB": (55, 3), "COLOR_BGR2YCrCb": (36, 3), "COLOR_RGB2YCrCb": (37, 3),
    "COLOR_BGR2LAB": (44, 3), "COLOR_RGB2LAB": (45, 3), "COLOR_LAB2BGR": (56, 3), "COLOR_LAB2RGB": (57, 3),
    "COLOR_BGR2BGRA": (0, 4), "COLOR_BGRA2BGR": (1, 3), "COLOR_BGRA2RGB": (3, 3), "COLOR_BGR2RGBA": (2, 4),
    "COLOR_BGR2YUV": (82, 3), "COLOR_RGB2YUV": (83, 3),
}  # fmt: skip
"""Name to (value, channels afterwards), by OpenCV's documentation of ColorConversionCodes."""

CHANNELS_AFTER = dict(CONVERSIONS.values())
CONSTANTS: dict[str, Value] = {
    **READ, **{name: code for name, (code, _) in CONVERSIONS.items()},
    "INTER_NEAREST": 0, "INTER_LINEAR": 1, "INTER_CUBIC": 2, "INTER_AREA": 3, "INTER_LANCZOS4": 4,
    "BORDER_CONSTANT": 0, "BORDER_REPLICATE": 1, "BORDER_REFLECT": 2, "BORDER_WRAP": 3, "BORDER_REFLECT_101": 4,
    "ROTATE_90_CLOCKWISE": 0, "ROTATE_180": 1, "ROTATE_90_COUNTERCLOCKWISE": 2,
    "NORM_MINMAX": 32, "THRESH_BINARY": 0, "THRESH_OTSU": 8,
}  # fmt: skip


def imread(run: Runtime, filename: Value, flags: Value = 1) -> Value:
    cause = run.unknown("the size of an image in a file is not known")
    if flags == 0:
        return Tensor((cause, cause), "uint8", framework="numpy")
    if flags == 1:
        return Tensor((cause, cause, 3), "uint8", framework="numpy")
    return Tensor(cause.of_picture(cause, cause), "uint8", framework="numpy")


def imdecode(run: Runtime, buf: Value, flags: Value = 1) -> Value:
    return imread(run, buf, flags)


def resize(
    run: Runtime, src: Value, dsize: Value = None, dst: Value = None, fx: Value = None, fy: Value = None,
    interpolation: Value = 1,
) -> Value:  # fmt: skip
    """`dsize` is (width, height)."""
    if dsize is not None and not isinstance(dsize, Unknown):
        sides = size_of(dsize)
    else:
        height, width = sides_of(src)
        sides = scaled(height, fy), scaled(width, fx)
    resized = with_sides(run, src, sides)
    if isinstance(resized, Tensor) and isinstance(resized.shape, tuple) and resized.shape[2:] == (1,):
        # OpenCV drops a last axis of one channel.
        return Tensor(resized.shape[:2], resized.dtype, framework="numpy")
    return resized


def scaled(side: Size, factor: Value) -> Size:
    if isinstance(side, int) and isinstance(factor, (int, float)):
        return round(side * factor)
    return NOT_KNOWN


def convert(run: Runtime, src: Value, code: Value, dst: Value = None, dstCn: Value = 0) -> Value:
    if not isinstance(src, Tensor):
        return src
    channels = CHANNELS_AFTER.get(code) if isinstance(code, int) else None
    if channels is None:
        return Tensor(run.unknown("a conversion of colours is not followed"), src.dtype, framework="numpy")
    sides = sides_of(src)
    return Tensor(sides if channels == 1 else (*sides, channels), src.dtype, framework="numpy")


def flipped(run: Runtime, src: Value, *args: Value, **kwargs: Value) -> Value:
    return src


def rotated(run: Runtime, src: Value, rotateCode: Value, dst: Value = None) -> Value:
    height, width = sides_of(src)
    return src if rotateCode == 1 else with_sides(run, src, (width, height))


def warped(run: Runtime, src: Value, M: Value, dsize: Value, *args: Value, **kwargs: Value) -> Value:
    return with_sides(run, src, size_of(dsize))


def bordered(
    run: Runtime, src: Value, top: Value, bottom: Value, left: Value, right: Value, *args: Value, **kwargs: Value
) -> Value:
    height, width = sides_of(src)
    unknown = run.unknown("how wide a border is drawn is not known")
    above, below, before, behind = (as_size(side, unknown) for side in (top, bottom, left, right))
    return with_sides(run, src, (add(add(height, above), below), add(add(width, before), behind)))


def halved(run: Runtime, src: Value, *args: Value, **kwargs: Value) -> Value:
    """pyrDown: (side + 1) // 2."""
    height, width = (floor_divide(add(side, 1), 2) for side in sides_of(src))
    return with_sides(run, src, (height, width))


def split(run: Runtime, m: Value, mv: Value = None) -> Value:
    shape = m.shape if isinstance(m, Tensor) else m
    if not isinstance(shape, tuple) or len(shape) < 3 or not isinstance(shape[2], int):
        return shape if isinstance(shape, Unknown) else run.unknown("the channels of an image are not known")
    dtype = m.dtype if isinstance(m, Tensor) else "float64"
    return tuple(Tensor(shape[:2], dtype, framework="numpy") for _ in range(shape[2]))


def merge(run: Runtime, mv: Value, dst: Value = None) -> Value:
    items = run.items(mv)
    if isinstance(items, Unknown) or not items:
        return items if isinstance(items, Unknown) else run.unknown("no channels are merged")
    return Tensor((*sides_of(items[0]), len(items)), getattr(items[0], "dtype", "uint8"), framework="numpy")


def nothing(run: Runtime, *args: Value, **kwargs: Value) -> Value:
    return None


FUNCTIONS: dict[str, Any] = {
    "imread": imread, "imdecode": imdecode, "resize": resize, "cvtColor": convert, "flip": flipped, "rotate": rotated,
    "warpAffine": warped, "warpPerspective": warped, "copyMakeBorder": bordered, "pyrDown": halved, "split": split,
    "merge": merge,
    **dict.fromkeys(("GaussianBlur", "blur", "medianBlur", "bilateralFilter", "equalizeHist", "normalize", "dilate",
                     "erode", "add", "addWeighted", "rectangle", "circle", "line", "putText"), flipped),
    **dict.fromkeys(("imwrite", "imshow", "waitKey", "destroyAllWindows", "namedWindow", "setNumThreads"), nothing),
}  # fmt: skip

MODULES: dict[str, dict[str, Value]] = {
    "cv2": {
        **CONSTANTS,
        **{name: Native(name, function, propagate_unknown=False) for name, function in FUNCTIONS.items()},
    },
    "cv2.ocl": {"setUseOpenCL": Native("setUseOpenCL", nothing, propagate_unknown=False)},
}
