"""What happens to an image's size and channels, be it Pillow's, a tensor (..., C, H, W) or an array (H, W, C).

Sizes are (height, width). Rules: the documentation of torchvision.transforms.
"""

from __future__ import annotations

from flake8_cnnmem import dims
from flake8_cnnmem.dims import Size
from flake8_cnnmem.frameworks.torch.registry import FUNCTIONAL
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.packages.PIL import Picture, image, picture_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

Sides = tuple[Size, Size]
NOT_KNOWN = Unknown("the size of an image is not known")


def whole(value: Value) -> Size:
    """One size argument."""
    if isinstance(value, Instance) and isinstance(value.payload, int):
        value = value.payload
    if isinstance(value, float):
        return int(value)
    return value if isinstance(value, (int, Unknown, dims.Batch)) else NOT_KNOWN


def pair_of(size: Value) -> Sides:
    """A size argument that gives both sides: a number for a square, or (height, width)."""
    if isinstance(size, (tuple, list)):
        if len(size) == 1:
            return whole(size[0]), whole(size[0])
        return (whole(size[0]), whole(size[1])) if len(size) == 2 else (NOT_KNOWN, NOT_KNOWN)
    return whole(size), whole(size)


def sides_of(value: Value) -> Sides:
    """The size that an image has now."""
    picture = picture_of(value)
    if picture is not None:
        return picture.height, picture.width
    if isinstance(value, Tensor) and isinstance(value.shape, tuple) and len(value.shape) >= 2:
        return (value.shape[0], value.shape[1]) if channels_last(value) else (value.shape[-2], value.shape[-1])
    if isinstance(value, Tensor) and isinstance(value.shape, Unknown):
        return value.shape.sides or (value.shape.loose(), value.shape.loose())
    return NOT_KNOWN, NOT_KNOWN


def channels_last(value: Tensor) -> bool:
    """An array of one image: numpy's, with the channels behind or none."""
    return value.framework == "numpy"


def with_sides(run: Runtime, value: Value, sides: Sides) -> Value:
    """The image at another size."""
    picture = picture_of(value)
    if picture is not None:
        return image(picture.sized(*sides))
    if isinstance(value, Tensor) and isinstance(value.shape, Unknown) and channels_last(value):
        return Tensor(value.shape.of_picture(*sides), value.dtype, framework=value.framework)
    if not isinstance(value, Tensor) or isinstance(value.shape, Unknown) or len(value.shape) < 2:
        return value
    if channels_last(value):
        return Tensor((*sides, *value.shape[2:]), value.dtype, framework=value.framework)
    return Tensor((*value.shape[:-2], *sides), value.dtype, framework=value.framework)


def resized(run: Runtime, value: Value, size: Value, max_size: Value = None) -> Value:
    """Both sides to `size`, or the shorter one to a single number and the longer one along with it."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Tensor) and isinstance(value.shape, tuple) and len(value.shape) == 4:
        # A batch in a model: an op like any other.
        sides = resized_sides(sides_of(value), size, max_size)
        return run.call(FUNCTIONAL["interpolate"], value, size=sides, mode="bilinear", align_corners=False)
    return with_sides(run, value, resized_sides(sides_of(value), size, max_size))


def resized_sides(sides: Sides, size: Value, max_size: Value = None) -> Sides:
    if isinstance(size, (tuple, list)) and len(size) == 2:
        return pair_of(size)
    target = pair_of(size)[0]
    if size is None:
        target = max_size if isinstance(max_size, int) else NOT_KNOWN
    height, width = sides
    if isinstance(target, Unknown):
        return target, target
    if not isinstance(height, int) or not isinstance(width, int) or not isinstance(target, int):
        same = dims.same(height, width) is True
        return (target, target) if same else (first_unknown(height, width), first_unknown(width, height))
    if not height or not width:
        return sides
    short, long = min(height, width), max(height, width)
    if size is None:
        new_short, new_long = int(target * short / long), target
    else:
        new_short, new_long = target, int(target * long / short)
        if isinstance(max_size, int) and new_long > max_size:
            new_short, new_long = int(max_size * new_short / new_long), max_size
    return (new_long, new_short) if width <= height else (new_short, new_long)


def first_unknown(*sizes: Size) -> Unknown:
    return next((size for size in sizes if isinstance(size, Unknown)), NOT_KNOWN)


def padded_sides(sides: Sides, padding: Value) -> Sides:
    """`padding`: one number, (left and right, top and bottom), or (left, top, right, bottom)."""
    if isinstance(padding, (tuple, list)):
        found = [whole(each) for each in padding]
        if len(found) == 1:
            found *= 4
        elif len(found) == 2:
            found *= 2
    else:
        found = [whole(padding)] * 4
    if len(found) != 4:
        return NOT_KNOWN, NOT_KNOWN
    left, top, right, bottom = found
    height, width = sides
    return dims.add(dims.add(height, top), bottom), dims.add(dims.add(width, left), right)


def channels_of(value: Value) -> Size:
    picture = picture_of(value)
    if picture is not None:
        return picture.bands
    if isinstance(value, Tensor) and isinstance(value.shape, tuple):
        if channels_last(value):
            return value.shape[2] if len(value.shape) > 2 else 1
        return value.shape[-3] if len(value.shape) > 2 else 1
    return NOT_KNOWN


MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def with_channels(run: Runtime, value: Value, channels: Value) -> Value:
    """The same image with another number of channels."""
    picture = picture_of(value)
    if picture is not None:
        cause = run.unknown("the mode of an image is not known")
        mode = MODES.get(channels, cause) if isinstance(channels, int) else cause
        return image(Picture(mode, picture.height, picture.width))
    if isinstance(value, Tensor) and isinstance(value.shape, Unknown) and value.shape.sides and channels_last(value):
        return Tensor((*value.shape.sides, whole(channels)), value.dtype, framework="numpy")
    if isinstance(value, Tensor) and isinstance(value.shape, tuple):
        if channels_last(value):
            return Tensor((*value.shape[:2], whole(channels)), value.dtype, framework="numpy")
        if len(value.shape) > 2:
            return Tensor((*value.shape[:-3], whole(channels), *value.shape[-2:]), value.dtype)
    return value


def as_tensor(run: Runtime, value: Value, dtype: str | None = None) -> Value:
    """(C, H, W) of a Pillow image or an array (H, W[, C]); bytes become `dtype` where that is given."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Tensor) and not channels_last(value):
        return value if dtype is None or value.dtype != "uint8" else Tensor(value.shape, dtype)
    picture = picture_of(value)
    if picture is not None:
        kind = dtype if dtype is not None and picture.dtype in ("uint8", "bool") else picture.dtype
        return Tensor((picture.bands, picture.height, picture.width), floating(kind))
    if not isinstance(value, Tensor):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(value).__name__}")
    kind = dtype if dtype is not None and value.dtype == "uint8" else value.dtype
    if isinstance(value.shape, Unknown):
        sides = value.shape.sides
        return Tensor(value.shape if sides is None else (value.shape.loose(), *sides), floating(kind))
    height, width = value.shape[:2]
    return Tensor((channels_of(value), height, width), floating(kind))


def floating(dtype: str) -> str:
    """Single precision counts as the dtype that the model trains in."""
    return "float" if dtype == "float32" else dtype


def as_picture(run: Runtime, value: Value, mode: Value = None) -> Value:
    """`ToPILImage`: the mode is that of the channels, unless it is given."""
    if isinstance(value, Unknown) or picture_of(value) is not None:
        return value
    height, width = sides_of(value)
    channels = channels_of(value)
    found = MODES.get(channels) if isinstance(channels, int) else None
    cause = run.unknown("the mode of an image is not known")
    return image(Picture(mode if isinstance(mode, str) else found if found is not None else cause, height, width))
