"""keras.ops.image: signatures of Keras 3."""

from keras import KerasTensor as Tensor

from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.ops.images import crop_images, patches, resize
from flake8_cnnmem.frameworks.keras.ops.windows import to_grayscale

@resize(method=interpolation)
def resize(
    images: Tensor,
    size,
    interpolation="bilinear",
    antialias=None,
    crop_to_aspect_ratio=None,
    pad_to_aspect_ratio=None,
    fill_mode=None,
    fill_value=None,
    data_format="channels_last",
): ...
@to_grayscale(x=images)
def rgb_to_grayscale(images: Tensor, data_format=None): ...
@unary(x=images, kind="augment")
def rgb_to_hsv(images: Tensor, data_format=None): ...
@unary(x=images, kind="augment")
def hsv_to_rgb(images: Tensor, data_format=None): ...
@unary(x=images, kind="augment")
def gaussian_blur(images: Tensor, kernel_size=None, sigma=None, data_format=None): ...
@patches
def extract_patches(images: Tensor, size, strides=None, dilation_rate=1, padding="valid", data_format=None): ...
@crop_images
def crop_images(
    images: Tensor,
    top_cropping=None,
    left_cropping=None,
    bottom_cropping=None,
    right_cropping=None,
    target_height=None,
    target_width=None,
    data_format=None,
): ...
