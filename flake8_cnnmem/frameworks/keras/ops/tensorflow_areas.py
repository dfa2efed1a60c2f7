"""TensorFlow's functions of images, signals and matrices, and all of its tables by module."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops import numeric_tables, tensorflow
from flake8_cnnmem.frameworks.keras.ops.creation import random
from flake8_cnnmem.frameworks.keras.ops.elementwise import identity, unary
from flake8_cnnmem.frameworks.keras.ops.images import crop, extract_patches, fit, more_channels, resize
from flake8_cnnmem.frameworks.keras.ops.picking import (
    central_crop,
    crop_and_resize,
    diag,
    diag_part,
    matvec,
    per_matrix,
)
from flake8_cnnmem.frameworks.keras.ops.shaping import flip, swapaxes
from flake8_cnnmem.frameworks.keras.ops.signals import frames, inverse_stft, irfft, mel_matrix, rfft, stft, window
from flake8_cnnmem.frameworks.keras.ops.tables import Entry, Table
from flake8_cnnmem.frameworks.keras.ops.windows import to_grayscale

RESIZE = "images size method preserve_aspect_ratio> antialias> name> align_corners> half_pixel_centers>"


IMAGE: dict[str, Entry] = {
    "resize": (RESIZE, resize),
    "resize_images": (RESIZE, resize),
    "resize_bilinear": ("images size align_corners> name> half_pixel_centers>", resize, {"method": "bilinear"}),
    "resize_nearest_neighbor": ("images size align_corners> name> half_pixel_centers>", resize, {"method": "nearest"}),
    "resize_bicubic": ("images size align_corners> name> half_pixel_centers>", resize, {"method": "bicubic"}),
    "resize_area": ("images size align_corners> name>", resize, {"method": "area"}),
    "crop_to_bounding_box": ("image offset_height offset_width target_height target_width", crop),
    "resize_with_crop_or_pad": ("image target_height target_width", fit),
    "resize_image_with_crop_or_pad": ("image target_height target_width", fit),
    "resize_with_pad": ("image target_height target_width method> antialias>", fit),
    "extract_patches": ("images sizes strides rates padding name>", extract_patches),
    "extract_image_patches": ("images ksizes strides rates padding name> sizes", extract_patches),
    "central_crop": ("image central_fraction", central_crop),
    "crop_and_resize": (
        "image boxes box_indices crop_size method extrapolation_value> name> box_ind>box_indices",
        crop_and_resize,
    ),
    "grayscale_to_rgb": ("images>x name>", more_channels),
    **{
        name: ("images>x name>", unary, {"kind": "augment"})
        for name in ("rgb_to_hsv", "hsv_to_rgb", "rgb_to_yuv", "yuv_to_rgb")
    },
    "flip_left_right": ("image>x", flip, {"axis": -2}),
    "flip_up_down": ("image>x", flip, {"axis": -3}),
    "rgb_to_grayscale": ("images>x name>", to_grayscale),
    "per_image_standardization": ("image>x", unary, {"kind": "scale"}),
}


RANDOM: dict[str, Entry] = {
    "normal": ("shape mean> stddev> dtype seed> name>", random),
    "uniform": ("shape minval> maxval> dtype seed> name>", random),
    "truncated_normal": ("shape mean> stddev> dtype seed> name>", random),
    "shuffle": ("value>x seed> name>", identity),
}


LINALG: dict[str, Entry] = {
    "matmul": tensorflow.CORE["matmul"],
    "einsum": tensorflow.CORE["einsum"],
    "norm": tensorflow.MATH["norm"],
    "l2_normalize": tensorflow.MATH["l2_normalize"],
    "tensordot": tensorflow.CORE["tensordot"],
    "eye": tensorflow.CORE["eye"],
    "diag_part": ("input>x name> k> padding_value> align>", diag_part),
    "diag": ("diagonal>x name> k> num_rows> num_cols> padding_value> align>", diag),
    "matvec": ("a>x b>y transpose_a> adjoint_a> a_is_sparse> b_is_sparse> name>", matvec),
    **{
        name: ("input>x name> adjoint> x", per_matrix, {"kind": f"matrix_{name}", "left": 0})
        for name in ("det", "trace", "logdet")
    },
    **{
        name: ("input>x adjoint> name> matrix>x", per_matrix, {"kind": f"matrix_{name}", "left": 2})
        for name in ("inv", "pinv", "cholesky", "expm", "sqrtm", "logm", "adjoint")
    },
    "set_diag": ("input>x diagonal> name> k> align>", unary, {"kind": "copy"}),
    "band_part": ("input>x num_lower> num_upper> name>", unary, {"kind": "copy"}),
    "matrix_transpose": ("a>x name> conjugate>", swapaxes, {"axis1": -1, "axis2": -2}),
}


SIGNAL: dict[str, Entry] = {
    "stft": ("signals frame_length frame_step fft_length window_fn> pad_end name>", stft),
    "inverse_stft": ("stfts frame_length frame_step fft_length window_fn> name>", inverse_stft),
    "frame": ("signal frame_length frame_step pad_end pad_value> axis name>", frames),
    "rfft": ("input>x fft_length name>", rfft),
    "irfft": ("input>x fft_length name>", irfft),
    **{
        name: ("input>x name> axes>", unary, {"kind": "fft"})
        for name in ("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d", "fftshift", "ifftshift")
    },
    "dct": ("input>x type> n> axis> norm> name>", unary, {"kind": "fft"}),
    "idct": ("input>x type> n> axis> norm> name>", unary, {"kind": "fft"}),
    "mfccs_from_log_mel_spectrograms": ("log_mel_spectrograms>x name>", unary, {"kind": "fft"}),
    "linear_to_mel_weight_matrix": (
        (
            "num_mel_bins>bands num_spectrogram_bins>frequencies sample_rate> lower_edge_hertz> upper_edge_hertz> "
            "dtype> name>"
        ),
        mel_matrix,
    ),
    **dict.fromkeys(
        ("hann_window", "hamming_window", "vorbis_window", "kaiser_window"),
        ("window_length>length periodic> dtype> name>", window),
    ),
}


TABLES: dict[str, Table] = {
    "": Table({**numeric_tables.CORE, **tensorflow.CORE}),
    "math": Table(
        {
            **numeric_tables.MATH,
            **tensorflow.MATH,
            "sigmoid": tensorflow.NN["sigmoid"],
            "softmax": tensorflow.NN["softmax"],
            "softplus": tensorflow.NN["softplus"],
        }
    ),
    "nn": Table({**numeric_tables.NN, **tensorflow.NN}),
    "image": Table({**numeric_tables.IMAGE, **IMAGE}),
    "random": Table({**numeric_tables.RANDOM, **RANDOM}),
    "linalg": Table({**numeric_tables.LINALG, **LINALG}),
    "signal": Table(SIGNAL),
    "dtypes": Table(numeric_tables.DTYPES),
    "bitwise": Table(numeric_tables.BITWISE),
}
