"""Layers that prepare data: rescaling, resizing, augmentation, lookups (keras/src/layers/preprocessing).

None of them trains. In a model they run in front, where no gradient is needed.
"""

from __future__ import annotations

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.keras.layer import LAYER, build_shapes, make_weight, native, state_of
from flake8_cnnmem.frameworks.keras.layers.wrapping import build_nothing
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.stubs import apply, layer
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.ops import Elementwise, Index, Resize
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Run, Value

SCALE = Elementwise("scale")
AUGMENT = Elementwise("augment")
"""A random change of each image: a new tensor of the same shape, for which nothing is kept."""


def computed(run: Run, self: Instance, op: Value, x: Value, dtype: str = "float") -> Value:
    return run.apply(op, x, function=self.cls.name, dtypes=[dtype], framework="keras")


def call_scale(run: Run, self: Instance, inputs: Value = None, **options: Value) -> Value:
    return computed(run, self, SCALE, inputs)


@layer(call=call_scale)
def Rescaling(scale, offset=0.0, **kwargs):
    return ()


def build_normalization(run: Run, self: Instance, input_shape: Value = None) -> None:
    """Without given statistics, adapted ones are kept as weights, with a count."""
    state_of(run, self).built = True
    if self.attributes.get("mean") is not None:
        return
    shape, axis = build_shapes(input_shape), self.attributes.get("axis")
    axes = () if axis is None else tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
    kept: Shape = (shape,) if isinstance(shape, Unknown) else ()
    if isinstance(shape, tuple):
        kept = tuple(shape[at] for at in sorted(at if at >= 0 else at + len(shape) for at in axes))
    for name in ("mean", "variance"):
        self.attributes[f"adapt_{name}"] = make_weight(run, self, name, kept, trainable=False)
    self.attributes["count"] = make_weight(run, self, "count", (), trainable=False, dtype="int32")


def nothing(run: Run, self: Instance, *args: Value, **kwargs: Value) -> None:
    """`adapt` reads data and changes no shape."""


@layer(call=call_scale, build=build_normalization, extra={"adapt": native(nothing)})
def Normalization(axis=-1, mean=None, variance=None, invert=False, **kwargs):
    return ()


# --- images -------------------------------------------------------------------------------------------------------------


def channels_last(self: Instance) -> bool:
    return self.attributes.get("data_format") != "channels_first"


def images_of(inputs: Value) -> Value:
    return inputs.get("images") if isinstance(inputs, dict) else inputs


def call_resizing(run: Run, self: Instance, inputs: Value = None, **options: Value) -> Value:
    size = (self.attributes.get("height"), self.attributes.get("width"))
    mode = self.attributes.get("interpolation")
    op = Resize(size=size, mode=mode if isinstance(mode, str) else "bilinear", channels_last=channels_last(self))
    return apply(run, self, op, images_of(inputs))


@layer(call=call_resizing, build=build_nothing)
def Resizing(
    height, width, interpolation="bilinear", crop_to_aspect_ratio=False, pad_to_aspect_ratio=False,
    fill_mode="constant", fill_value=0.0, antialias=False, data_format=None, **kwargs,
):  # fmt: skip
    return ()


def call_crop(run: Run, self: Instance, inputs: Value = None, **options: Value) -> Value:
    """Cut to the size, or resized to it where the input is smaller."""
    x = images_of(inputs)
    size: tuple[Size, ...] = (self.attributes.get("height"), self.attributes.get("width"))  # type: ignore[assignment]
    if isinstance(x, Tensor) and isinstance(x.shape, tuple) and len(x.shape) > 2:
        sides = x.shape[-3:-1] if channels_last(self) else x.shape[-2:]
        smaller = any(isinstance(has, int) and isinstance(want, int) and has < want for has, want in zip(sides, size, strict=True))
        if not smaller:
            cuts = tuple(slice(0, side) for side in size)
            return apply(run, self, Index((Ellipsis, *cuts, slice(None)) if channels_last(self) else (Ellipsis, *cuts)), x)
    return apply(run, self, Resize(size=size, mode="bilinear", channels_last=channels_last(self)), x)


@layer(call=call_crop, build=build_nothing)
def CenterCrop(height, width, data_format=None, **kwargs):
    return ()


@layer(call=call_crop, build=build_nothing)
def RandomCrop(height, width, seed=None, data_format=None, name=None, **kwargs):
    return ()


def call_augment(run: Run, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    if isinstance(inputs, dict):
        return {key: run.apply(AUGMENT, value, function=self.cls.name, framework="keras") for key, value in inputs.items()}
    if session_of(run).training[-1] is False:
        return inputs
    return run.apply(AUGMENT, inputs, function=self.cls.name, framework="keras")


AUGMENTATION = Class("BaseImageAugmentationLayer", (LAYER,), module="keras.layers")


def augmentation(function: Value) -> Class:
    """A layer that changes images at random and keeps their shape."""
    return layer(bases=(AUGMENTATION,), call=call_augment, build=build_nothing)(function)


@augmentation
def AugMix(
    value_range=(0, 255), num_chains=3, chain_depth=3, factor=0.3, alpha=1.0, all_ops=True, interpolation="bilinear",
    seed=None, data_format=None, **kwargs,
):  # fmt: skip
    return ()


@augmentation
def AutoContrast(value_range=(0, 255), **kwargs):
    return ()


@augmentation
def ContrastLimitedAdaptiveHistogramEqualization(
    value_range=(0, 255), clip_limit=4.0, tile_grid_size=(8, 8), data_format=None, **kwargs
):
    return ()


@augmentation
def CutMix(factor=1.0, seed=None, data_format=None, **kwargs):
    return ()


@augmentation
def Equalization(value_range=(0, 255), bins=256, data_format=None, **kwargs):
    return ()


@augmentation
def MaxNumBoundingBoxes(max_number, fill_value=-1, **kwargs):
    return ()


@augmentation
def MixUp(alpha=0.2, data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandAugment(
    value_range=(0, 255), num_ops=2, factor=0.5, interpolation="bilinear", seed=None, data_format=None, **kwargs
):
    return ()


@augmentation
def RandomBrightness(factor, value_range=(0, 255), seed=None, **kwargs):
    return ()


@augmentation
def RandomColorDegeneration(factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandomColorJitter(
    value_range=(0, 255), brightness_factor=None, contrast_factor=None, saturation_factor=None, hue_factor=None,
    seed=None, data_format=None, **kwargs,
):  # fmt: skip
    return ()


@augmentation
def RandomContrast(factor, value_range=(0, 255), seed=None, **kwargs):
    return ()


@augmentation
def RandomElasticTransform(
    factor=1.0, scale=1.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0, value_range=(0, 255),
    seed=None, data_format=None, **kwargs,
):  # fmt: skip
    return ()


@augmentation
def RandomErasing(
    factor=1.0, scale=(0.02, 0.33), fill_value=None, value_range=(0, 255), seed=None, data_format=None, **kwargs
):
    return ()


@augmentation
def RandomFlip(mode="horizontal_and_vertical", seed=None, data_format=None, **kwargs):
    return ()


@augmentation
def RandomGaussianBlur(
    factor=1.0, kernel_size=3, sigma=1.0, value_range=(0, 255), data_format=None, seed=None, **kwargs
):
    return ()


@augmentation
def RandomGrayscale(factor=0.5, data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandomHue(factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandomInvert(factor=1.0, value_range=(0, 255), seed=None, data_format=None, **kwargs):
    return ()


@augmentation
def RandomPerspective(
    factor=1.0, scale=1.0, interpolation="bilinear", fill_value=0.0, seed=None, data_format=None, **kwargs
):
    return ()


@augmentation
def RandomPosterization(factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandomRotation(
    factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0, data_format=None, **kwargs
):
    return ()


@augmentation
def RandomSaturation(factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandomSharpness(factor, value_range=(0, 255), data_format=None, seed=None, **kwargs):
    return ()


@augmentation
def RandomShear(
    x_factor=0.0, y_factor=0.0, interpolation="bilinear", fill_mode="reflect", fill_value=0.0, data_format=None,
    seed=None, **kwargs,
):  # fmt: skip
    return ()


@augmentation
def RandomTranslation(
    height_factor, width_factor, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0,
    data_format=None, **kwargs,
):  # fmt: skip
    return ()


@augmentation
def RandomZoom(
    height_factor, width_factor=None, fill_mode="reflect", interpolation="bilinear", seed=None, fill_value=0.0,
    data_format=None, **kwargs,
):  # fmt: skip
    return ()


@augmentation
def Solarization(addition_factor=0.0, threshold_factor=0.0, value_range=(0, 255), seed=None, **kwargs):
    return ()


@augmentation
def RandomHeight(factor, interpolation="bilinear", seed=None, **kwargs):
    return ()


@augmentation
def RandomWidth(factor, interpolation="bilinear", seed=None, **kwargs):
    return ()


def call_pipeline(run: Run, self: Instance, inputs: Value = None, **options: Value) -> Value:
    for inner in self.attributes.get("layers") or ():
        inputs = run.call(inner, inputs)
    return inputs


@layer(call=call_pipeline, build=build_nothing)
def Pipeline(layers, name=None):
    return ()


# --- text and categories ------------------------------------------------------------------------------------------------


def integers(run: Run, self: Instance, x: Value, length: Value = None, depth: Value = None) -> Value:
    """Indices of the input's shape, or of (N, length), or one-hot and multi-hot rows of `depth`."""
    mode = self.attributes.get("output_mode", "int")
    shape = x.shape if isinstance(x, Tensor) else x
    if isinstance(shape, Unknown) or not isinstance(shape, tuple):
        return run.apply(Elementwise("lookup"), x, function=self.cls.name, dtypes=["int64"], framework="keras")
    if mode == "int":
        return Tensor(shape if length is None else (shape[0], length), "int64", framework="keras")
    width: Size = depth if isinstance(depth, int) else run.unknown("the size of a vocabulary is not known")
    if mode == "one_hot":
        rest = shape[1:-1] if len(shape) > 1 and shape[-1] == 1 else shape[1:]
        return Tensor((shape[0], *rest, width), framework="keras")
    return Tensor((*shape[:-1], width) if len(shape) > 1 else (shape[0], width), framework="keras")


def vocabulary_size(self: Instance) -> Value:
    tokens = self.attributes.get("max_tokens")
    if tokens is not None:
        return tokens
    vocabulary = self.attributes.get("vocabulary")
    if isinstance(vocabulary, (list, tuple)):
        outside = self.attributes.get("num_oov_indices", 1)
        masked = 1 if self.attributes.get("mask_token") is not None else 0
        return len(vocabulary) + (outside if isinstance(outside, int) else 1) + masked
    return None


def call_text(run: Run, self: Instance, inputs: Value = None, **options: Value) -> Value:
    length = self.attributes.get("output_sequence_length")
    if self.attributes.get("output_mode", "int") == "int" and length is None:
        length = run.unknown("the length of a vectorized text is not stated")
    return integers(run, self, inputs, length, vocabulary_size(self))


def get_vocabulary_size(run: Run, self: Instance) -> Value:
    found = vocabulary_size(self)
    return run.unknown("the size of a vocabulary is not known") if found is None else found


def get_vocabulary(run: Run, self: Instance, *args: Value, **kwargs: Value) -> Value:
    return run.unknown("a vocabulary is not known")


VOCABULARY = {
    "adapt": native(nothing),
    "vocabulary_size": native(get_vocabulary_size),
    "vocab_size": native(get_vocabulary_size),
    "get_vocabulary": native(get_vocabulary),
    "set_vocabulary": native(nothing),
}


@layer(call=call_text, build=build_nothing, extra=VOCABULARY)
def TextVectorization(
    max_tokens=None, standardize="lower_and_strip_punctuation", split="whitespace", ngrams=None, output_mode="int",
    output_sequence_length=None, pad_to_max_tokens=False, vocabulary=None, idf_weights=None, sparse=False,
    ragged=False, encoding="utf-8", name=None, **kwargs,
):  # fmt: skip
    return ()


def call_lookup(run: Run, self: Instance, inputs: Value = None, **options: Value) -> Value:
    return integers(run, self, inputs, None, vocabulary_size(self))


@layer(call=call_lookup, build=build_nothing, extra=VOCABULARY)
def StringLookup(
    max_tokens=None, num_oov_indices=1, mask_token=None, oov_token="[UNK]", vocabulary=None, idf_weights=None,
    invert=False, output_mode="int", pad_to_max_tokens=False, sparse=False, encoding="utf-8", name=None, salt=None,
    **kwargs,
):  # fmt: skip
    return ()


@layer(call=call_lookup, build=build_nothing, extra=VOCABULARY)
def IntegerLookup(
    max_tokens=None, num_oov_indices=1, mask_token=None, oov_token=-1, vocabulary=None, vocabulary_dtype="int64",
    idf_weights=None, invert=False, output_mode="int", sparse=False, pad_to_max_tokens=False, oov_method="floormod",
    salt=None, name=None, **kwargs,
):  # fmt: skip
    return ()


def call_category(run: Run, self: Instance, inputs: Value = None, *args: Value, **options: Value) -> Value:
    return integers(run, self, inputs, None, self.attributes.get("num_tokens", self.attributes.get("num_bins")))


@layer(call=call_category, build=build_nothing)
def CategoryEncoding(num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
    return ()


@layer(call=call_category, build=build_nothing, extra={"adapt": native(nothing)})
def Discretization(
    bin_boundaries=None, num_bins=None, epsilon=0.01, output_mode="int", sparse=False, dtype=None, name=None
):
    return ()


@layer(call=call_category, build=build_nothing)
def Hashing(num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs):
    return ()


@layer(call=call_category, build=build_nothing)
def HashedCrossing(num_bins, output_mode="int", sparse=False, name=None, dtype=None, **kwargs):
    return ()


__all__ = ["AUGMENTATION", "Normalization", "Rescaling", "Resizing"]
