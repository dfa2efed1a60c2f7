"""tf.image: signatures of TensorFlow 2, and what older versions called some parameters behind them."""

from keras import KerasTensor as Tensor

from flake8_cnnmem.frameworks.keras.ops.elementwise import elementwise as elementwise
from flake8_cnnmem.frameworks.keras.ops.elementwise import unary
from flake8_cnnmem.frameworks.keras.ops.images import crop, extract_patches, fit, more_channels, resize
from flake8_cnnmem.frameworks.keras.ops.numerics import alike, boxes_kept, each_sample, places_kept, several
from flake8_cnnmem.frameworks.keras.ops.picking import central_crop, crop_and_resize
from flake8_cnnmem.frameworks.keras.ops.shaping import flip, swapaxes
from flake8_cnnmem.frameworks.keras.ops.windows import to_grayscale

@several(x=image, kind="sobel", last=2)
def sobel_edges(image: Tensor): ...
@alike(x=image, kind="image_gradients", count=2)
def image_gradients(image: Tensor): ...
@each_sample(x=images, kind="total_variation")
def total_variation(images: Tensor, name=None): ...
@each_sample(x=img1, y=img2, kind="ssim")
def ssim(
    img1: Tensor,
    img2: Tensor,
    max_val=None,
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
    return_index_map=False,
    power_factors=None,
    name=None,
): ...
@each_sample(x=img1, y=img2, kind="ssim")
def ssim_multiscale(
    img1: Tensor,
    img2: Tensor,
    max_val=None,
    power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size=11,
    filter_sigma=1.5,
    k1=0.01,
    k2=0.03,
    return_index_map=None,
    name=None,
): ...
@each_sample(x=a, y=b, kind="psnr")
def psnr(a: Tensor, b: Tensor, max_val=None, name=None): ...
@fit
def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width): ...
@swapaxes(x=image, axis1=-3, axis2=-2)
def transpose(image: Tensor, name=None): ...
@unary(x=images, kind="augment")
def rgb_to_yiq(images: Tensor, name=None): ...
@unary(x=images, kind="augment")
def yiq_to_rgb(images: Tensor, name=None): ...
@unary(x=images, kind="augment")
def draw_bounding_boxes(images: Tensor, boxes=None, colors=None, name=None): ...
@boxes_kept(each=max_output_size_per_class, total=max_total_size)
def combined_non_max_suppression(
    boxes,
    scores,
    max_output_size_per_class,
    max_total_size,
    iou_threshold=0.5,
    score_threshold=float("-inf"),
    pad_per_class=False,
    clip_boxes=True,
    name=None,
): ...
@places_kept
def non_max_suppression(
    boxes, scores=None, max_output_size=None, iou_threshold=0.5, score_threshold=float("-inf"), name=None
): ...
@resize
def resize(
    images,
    size,
    method="bilinear",
    preserve_aspect_ratio=False,
    antialias=False,
    name=None,
    align_corners=None,
    half_pixel_centers=None,
): ...
@resize
def resize_images(
    images,
    size,
    method="bilinear",
    preserve_aspect_ratio=None,
    antialias=None,
    name=None,
    align_corners=None,
    half_pixel_centers=None,
): ...
@resize(method="bilinear")
def resize_bilinear(images, size, align_corners=None, name=None, half_pixel_centers=None): ...
@resize(method="nearest")
def resize_nearest_neighbor(images, size, align_corners=None, name=None, half_pixel_centers=None): ...
@resize(method="bicubic")
def resize_bicubic(images, size, align_corners=None, name=None, half_pixel_centers=None): ...
@resize(method="area")
def resize_area(images, size, align_corners=None, name=None): ...
@crop
def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width): ...
@fit
def resize_with_crop_or_pad(image, target_height, target_width): ...
@fit
def resize_image_with_crop_or_pad(image, target_height, target_width): ...
@fit
def resize_with_pad(image, target_height, target_width, method="bilinear", antialias=False): ...
@extract_patches
def extract_patches(images, sizes, strides, rates, padding, name=None): ...
@extract_patches
def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding="VALID", name=None, sizes=None): ...
@central_crop
def central_crop(image, central_fraction): ...
@crop_and_resize(box_indices=box_indices if box_ind is None else box_ind)
def crop_and_resize(
    image, boxes, box_indices=None, crop_size=None, method="bilinear", extrapolation_value=0.0, name=None, box_ind=None
): ...
@more_channels(x=images)
def grayscale_to_rgb(images: Tensor, name=None): ...
@unary(x=images, kind="augment")
def rgb_to_hsv(images: Tensor, name=None): ...
@unary(x=images, kind="augment")
def hsv_to_rgb(images: Tensor, name=None): ...
@unary(x=images, kind="augment")
def rgb_to_yuv(images: Tensor, name=None): ...
@unary(x=images, kind="augment")
def yuv_to_rgb(images: Tensor, name=None): ...
@flip(x=image, axis=-2)
def flip_left_right(image: Tensor): ...
@flip(x=image, axis=-3)
def flip_up_down(image: Tensor): ...
@to_grayscale(x=images)
def rgb_to_grayscale(images: Tensor, name=None): ...
@unary(x=image, kind="scale")
def per_image_standardization(image: Tensor): ...
