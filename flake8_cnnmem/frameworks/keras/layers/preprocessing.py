"""Layers that prepare data: rescaling, resizing, augmentation (keras/src/layers/preprocessing).

None of them trains. In a model they run in front, where no gradient is needed.
"""

from __future__ import annotations

from collections.abc import Callable

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.keras.layer import build_shapes
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.pipeline_elements import element_of, first_tensor
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.stubs import Ops, apply, layer
from flake8_cnnmem.frameworks.keras.tracking import LAYER, make_weight, native, state_of
from flake8_cnnmem.graph import Op, Tensor
from flake8_cnnmem.ops import Elementwise, Index, Resize
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

SCALE = Elementwise("scale")


AUGMENT = Elementwise("augment")
"""A random change of each image: a new tensor of the same shape, for which nothing is kept."""


def computed(run: Runtime, self: Instance, op: Op, x: Value, dtype: str = "float") -> Value:
    """One call of an op on images, in the graph."""
    return run.apply(op, x, function=self.cls.name, dtypes=[dtype], framework="keras")


def call_scale(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of a layer that scales values."""
    return computed(run, self, SCALE, inputs)


@layer(call=call_scale)
def Rescaling(scale: Value, offset: Value = 0.0, **kwargs: Value) -> Ops:
    """x * scale + offset."""
    return ()


def kept_axes(self: Instance, rank: int) -> list[int]:
    """The axes along which a normalization has values of its own, in order."""
    axis = self.attributes.get("axis")
    axes = () if axis is None else tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    return sorted(at if at >= 0 else at + rank for at in axes)


def adapt_normalization(run: Runtime, self: Instance, data: Value = None, *args: Value, **options: Value) -> None:
    """`layer.adapt(data)`: it is built by the data, and has the statistics as tensors that broadcast to them."""
    found = first_tensor(element_of(data) if isinstance(data, Instance) and isinstance(data.native, dict) else data)
    shape = found.shape if found is not None else None
    if not isinstance(shape, tuple) or self.attributes.get("mean") is not None:
        return
    shape = (*shape, 1) if len(shape) == 1 else shape
    kept = kept_axes(self, len(shape))
    if not state_of(run, self).built and all(isinstance(shape[at], int) for at in kept):
        run.call(run.get(self, "build"), (None, *shape[1:]))
    sizes = tuple(size if at in kept else 1 for at, size in enumerate(shape))
    run.changed(self)
    for name in ("mean", "variance"):
        self.attributes[name] = Tensor(sizes, "float", framework="keras")


def build_normalization(run: Runtime, self: Instance, input_shape: Value = None) -> None:
    """Without given statistics, adapted ones are kept as weights, with a count."""
    state_of(run, self).built = True
    if self.attributes.get("mean") is not None:
        return
    shape = build_shapes(input_shape)
    kept: Shape = (shape,) if isinstance(shape, Unknown) else ()
    if isinstance(shape, tuple):
        kept = tuple(shape[at] for at in kept_axes(self, len(shape)))
    for name in ("mean", "variance"):
        self.attributes[f"adapt_{name}"] = make_weight(run, self, name, kept, trainable=False)
    self.attributes["count"] = make_weight(run, self, "count", (), trainable=False, dtype="int32")


@layer(call=call_scale, build=build_normalization, extra={"adapt": native(adapt_normalization)})
def Normalization(
    axis: Value = -1, mean: Value = None, variance: Value = None, invert: Value = False, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(x - mean) / deviation along an axis."""
    return ()


def channels_last(self: Instance) -> bool:
    """Whether a layer's images have their channels last."""
    return self.attributes.get("data_format") != "channels_first"


def images_of(inputs: Value) -> Value:
    """The images among a layer's inputs, which may be a dict."""
    return inputs.get("images") if isinstance(inputs, dict) else inputs


def call_resizing(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of a layer that gives images another height and width."""
    size = (self.attributes["height"], self.attributes["width"])
    mode = self.attributes.get("interpolation")
    op = Resize(size=size, mode=mode if isinstance(mode, str) else "bilinear", channels_last=channels_last(self))
    return apply(run, self, op, images_of(inputs))


@layer(call=call_resizing, build=build_nothing)
def Resizing(
    height: Value, width: Value, interpolation: Value = "bilinear", crop_to_aspect_ratio: Value = False,
    pad_to_aspect_ratio: Value = False, fill_mode: Value = "constant", fill_value: Value = 0.0,
    antialias: Value = False, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, height, width, C)."""
    return ()


def call_crop(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """Cut to the size, or resized to it where the input is smaller: that size also where a side is open."""
    x = images_of(inputs)
    size: tuple[Size, ...] = (self.attributes.get("height"), self.attributes.get("width"))  # type: ignore[assignment]
    if isinstance(x, Tensor) and isinstance(x.shape, tuple) and len(x.shape) > 2:
        sides = x.shape[-3:-1] if channels_last(self) else x.shape[-2:]
        larger = all(
            isinstance(has, int) and (not isinstance(want, int) or has >= want)
            for has, want in zip(sides, size, strict=True)
        )
        if larger:
            cuts = tuple(slice(0, side) for side in size)
            return apply(
                run, self, Index((Ellipsis, *cuts, slice(None)) if channels_last(self) else (Ellipsis, *cuts)), x
            )
    return apply(run, self, Resize(size=size, mode="bilinear", channels_last=channels_last(self)), x)


@layer(call=call_crop, build=build_nothing)
def CenterCrop(height: Value, width: Value, data_format: Value = None, **kwargs: Value) -> Ops:
    """(N, H, W, C) to (N, height, width, C), the middle."""
    return ()


@layer(call=call_crop, build=build_nothing)
def RandomCrop(
    height: Value, width: Value, seed: Value = None, data_format: Value = None, name: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """(N, H, W, C) to (N, height, width, C), any part."""
    return ()


def call_augment(run: Runtime, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    """A call of a layer that changes images and keeps their shape."""
    if isinstance(inputs, dict):
        return {
            key: run.apply(AUGMENT, value, function=self.cls.name, framework="keras") for key, value in inputs.items()
        }
    if session_of(run).training[-1] is False:
        return inputs
    return run.apply(AUGMENT, inputs, function=self.cls.name, framework="keras")


AUGMENTATION = Class("BaseImageAugmentationLayer", (LAYER,), module="keras.layers")


def augmentation(function: Callable[..., Value]) -> Class:
    """A layer that changes images at random and keeps their shape."""
    return layer(bases=(AUGMENTATION,), call=call_augment, build=build_nothing)(function)


@augmentation
def AugMix(
    value_range: Value = (0, 255), num_chains: Value = 3, chain_depth: Value = 3, factor: Value = 0.3,
    alpha: Value = 1.0, all_ops: Value = True, interpolation: Value = "bilinear", seed: Value = None,
    data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images mixed with augmented copies; shapes stay."""
    return ()


@augmentation
def AutoContrast(value_range: Value = (0, 255), **kwargs: Value) -> Ops:
    """Images with their contrast stretched; shapes stay."""
    return ()


@augmentation
def ContrastLimitedAdaptiveHistogramEqualization(
    value_range: Value = (0, 255), clip_limit: Value = 4.0, tile_grid_size: Value = (8, 8), data_format: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images equalized tile by tile; shapes stay."""
    return ()


@augmentation
def CutMix(factor: Value = 1.0, seed: Value = None, data_format: Value = None, **kwargs: Value) -> Ops:
    """Parts of images put into others; shapes stay."""
    return ()


@augmentation
def Equalization(value_range: Value = (0, 255), bins: Value = 256, data_format: Value = None, **kwargs: Value) -> Ops:
    """Images with their histogram equalized; shapes stay."""
    return ()


@augmentation
def MaxNumBoundingBoxes(max_number: Value, fill_value: Value = -1, **kwargs: Value) -> Ops:
    """Boxes cut off or filled up to `max_number`."""
    return ()


@augmentation
def MixUp(alpha: Value = 0.2, data_format: Value = None, seed: Value = None, **kwargs: Value) -> Ops:
    """Images mixed in pairs; shapes stay."""
    return ()


@augmentation
def RandAugment(
    value_range: Value = (0, 255), num_ops: Value = 2, factor: Value = 0.5, interpolation: Value = "bilinear",
    seed: Value = None, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images through several augmentations; shapes stay."""
    return ()


@augmentation
def RandomBrightness(factor: Value, value_range: Value = (0, 255), seed: Value = None, **kwargs: Value) -> Ops:
    """Images of another brightness; shapes stay."""
    return ()


@augmentation
def RandomColorDegeneration(
    factor: Value, value_range: Value = (0, 255), data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images of less colour; shapes stay."""
    return ()


@augmentation
def RandomColorJitter(
    value_range: Value = (0, 255), brightness_factor: Value = None, contrast_factor: Value = None,
    saturation_factor: Value = None, hue_factor: Value = None, seed: Value = None, data_format: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images of another brightness, contrast and colour; shapes stay."""
    return ()


@augmentation
def RandomContrast(factor: Value, value_range: Value = (0, 255), seed: Value = None, **kwargs: Value) -> Ops:
    """Images of another contrast; shapes stay."""
    return ()


@augmentation
def RandomElasticTransform(
    factor: Value = 1.0, scale: Value = 1.0, interpolation: Value = "bilinear", fill_mode: Value = "reflect",
    fill_value: Value = 0.0, value_range: Value = (0, 255), seed: Value = None, data_format: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images warped; shapes stay."""
    return ()


@augmentation
def RandomErasing(
    factor: Value = 1.0, scale: Value = (0.02, 0.33), fill_value: Value = None, value_range: Value = (0, 255),
    seed: Value = None, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images with a part erased; shapes stay."""
    return ()


@augmentation
def RandomFlip(
    mode: Value = "horizontal_and_vertical", seed: Value = None, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images flipped; shapes stay."""
    return ()


@augmentation
def RandomGaussianBlur(
    factor: Value = 1.0, kernel_size: Value = 3, sigma: Value = 1.0, value_range: Value = (0, 255),
    data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images blurred; shapes stay."""
    return ()


@augmentation
def RandomGrayscale(factor: Value = 0.5, data_format: Value = None, seed: Value = None, **kwargs: Value) -> Ops:
    """Images in grey, with as many channels; shapes stay."""
    return ()


@augmentation
def RandomHue(
    factor: Value, value_range: Value = (0, 255), data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images of another hue; shapes stay."""
    return ()


@augmentation
def RandomInvert(
    factor: Value = 1.0, value_range: Value = (0, 255), seed: Value = None, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images inverted; shapes stay."""
    return ()


@augmentation
def RandomPerspective(
    factor: Value = 1.0, scale: Value = 1.0, interpolation: Value = "bilinear", fill_value: Value = 0.0,
    seed: Value = None, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images in another perspective; shapes stay."""
    return ()


@augmentation
def RandomPosterization(
    factor: Value, value_range: Value = (0, 255), data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images of fewer colours; shapes stay."""
    return ()


@augmentation
def RandomRotation(
    factor: Value, fill_mode: Value = "reflect", interpolation: Value = "bilinear", seed: Value = None,
    fill_value: Value = 0.0, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images turned; shapes stay."""
    return ()


@augmentation
def RandomSaturation(
    factor: Value, value_range: Value = (0, 255), data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images of another saturation; shapes stay."""
    return ()


@augmentation
def RandomSharpness(
    factor: Value, value_range: Value = (0, 255), data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images of another sharpness; shapes stay."""
    return ()


@augmentation
def RandomShear(
    x_factor: Value = 0.0, y_factor: Value = 0.0, interpolation: Value = "bilinear", fill_mode: Value = "reflect",
    fill_value: Value = 0.0, data_format: Value = None, seed: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images sheared; shapes stay."""
    return ()


@augmentation
def RandomTranslation(
    height_factor: Value, width_factor: Value, fill_mode: Value = "reflect", interpolation: Value = "bilinear",
    seed: Value = None, fill_value: Value = 0.0, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images shifted; shapes stay."""
    return ()


@augmentation
def RandomZoom(
    height_factor: Value, width_factor: Value = None, fill_mode: Value = "reflect", interpolation: Value = "bilinear",
    seed: Value = None, fill_value: Value = 0.0, data_format: Value = None, **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images zoomed; shapes stay."""
    return ()


@augmentation
def Solarization(
    addition_factor: Value = 0.0, threshold_factor: Value = 0.0, value_range: Value = (0, 255), seed: Value = None,
    **kwargs: Value,
) -> Ops:  # fmt: skip
    """Images with values above a threshold inverted; shapes stay."""
    return ()


@augmentation
def RandomHeight(factor: Value, interpolation: Value = "bilinear", seed: Value = None, **kwargs: Value) -> Ops:
    """Images of another height, which is not known."""
    return ()


@augmentation
def RandomWidth(factor: Value, interpolation: Value = "bilinear", seed: Value = None, **kwargs: Value) -> Ops:
    """Images of another width, which is not known."""
    return ()


def call_pipeline(run: Runtime, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """A call of Pipeline: one layer after the other."""
    for inner in self.attributes.get("layers") or ():
        inputs = run.call(inner, inputs)
    return inputs


@layer(call=call_pipeline, build=build_nothing)
def Pipeline(layers: Value, name: Value = None) -> Ops:
    """Layers of preprocessing, one after the other."""
    return ()
