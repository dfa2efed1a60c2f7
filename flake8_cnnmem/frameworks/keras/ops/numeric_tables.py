"""The functions of ops/numerics.py under the names that TensorFlow has for them."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.ops.elementwise import binary, cast, same, unary
from flake8_cnnmem.frameworks.keras.ops.images import fit
from flake8_cnnmem.frameworks.keras.ops.numerics import (
    alike,
    boxes_kept,
    categorical,
    chosen,
    clip_together,
    count_of_each,
    decomposed,
    each_sample,
    first_case,
    in_top_k,
    l2_loss,
    least_squares,
    left_axes,
    looped,
    normalized,
    number,
    numbers,
    of_second,
    places,
    places_kept,
    sampled_loss,
    segments,
    sequence_mask,
    several,
)
from flake8_cnnmem.frameworks.keras.ops.picking import per_matrix
from flake8_cnnmem.frameworks.keras.ops.reductions import reduce
from flake8_cnnmem.frameworks.keras.ops.shaping import swapaxes
from flake8_cnnmem.frameworks.keras.ops.tables import Entry
from flake8_cnnmem.frameworks.keras.ops.windows import conv_transpose

KIND_ONLY = (
    "digamma", "lgamma", "ndtri", "erfcinv", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e",
)  # fmt: skip
"""Functions of each value for which no gradient's rule is known here: they are causes of a lower bound."""

MATH: dict[str, Entry] = {
    **{
        name: ("x name>", unary, {"kind": kind, "function": name})
        for name, kind in {
            "acosh": "acosh", "asinh": "asinh", "atanh": "atanh", "erfinv": "erfinv", "erfc": "erf", "rint": "round",
            "reciprocal_no_nan": "reciprocal", "log_sigmoid": "log_sigmoid", **{word: word for word in KIND_ONLY},
        }.items()
    },
    **{
        name: ("x y name>", binary, {"kind": kind, "function": name})
        for name, kind in {
            "xdivy": "divide", "xlog1py": "multiply", "truncatediv": "floor_divide", "truncatemod": "remainder",
            "complex": "add",
        }.items()
    },
    "log_softmax": ("logits>x axis> name>", unary, {"kind": "log_softmax"}),
    "count_nonzero": ("input>x axis keepdims dtype> name> input_tensor>x", reduce, {"kind": "sum"}),
    "zero_fraction": ("value>x name>", number, {"kind": "zero_fraction"}),
    "cumulative_logsumexp": ("x axis exclusive> reverse> name>", reduce, {"kind": "cumsum"}),
    "bincount": ("arr>x weights minlength maxlength dtype> name> axis> binary_output>", count_of_each),
    "in_top_k": ("targets predictions k name>", in_top_k),
    **{
        f"unsorted_segment_{word}": ("data>x segment_ids>indices num_segments>count name>", segments, {"joined": word})
        for word in ("sum", "mean", "max", "min", "prod", "sqrt_n")
    },
    **{
        f"segment_{word}": ("data>x segment_ids>indices name>", segments, {"joined": word})
        for word in ("sum", "mean", "max", "min", "prod")
    },
}  # fmt: skip

CORE: dict[str, Entry] = {
    **{name: MATH[name] for name in ("acosh", "asinh", "atanh", "truncatediv", "truncatemod", "complex")},
    "sequence_mask": ("lengths maxlen dtype name>", sequence_mask),
    "reverse_sequence": ("input>x seq_lengths> seq_axis> batch_axis> name>", unary, {"kind": "copy"}),
    "searchsorted": ("sorted_sequence values side> out_type> name>", places),
    "clip_by_global_norm": ("t_list>tensors clip_norm use_norm> name>", clip_together),
    "identity_n": ("input>x name>", same),
    "tuple": ("tensors>x control_inputs> name>", same),
    "bitcast": ("input>x type>dtype name>", cast),
    "case": ("pairs pred_fn_pairs>pairs default exclusive> strict> name>", first_case),
    "switch_case": ("branch_index>index branch_fns>branches default> name>", chosen),
    "while_loop": (
        (
            "cond body loop_vars>variables shape_invariants> parallel_iterations> back_prop> swap_memory> "
            "maximum_iterations> name>"
        ),
        looped,
    ),
    **{name: entry for name, entry in MATH.items() if "segment" in name},
}

NN: dict[str, Entry] = {
    "l2_loss": ("t>x name>", l2_loss),
    "zero_fraction": MATH["zero_fraction"],
    "in_top_k": ("predictions targets k name>", in_top_k),
    "sampled_softmax_loss": (
        ("weights biases labels inputs>x num_sampled> num_classes> num_true> sampled_values> remove_accidental_hits> "
        "seed> name>"),
        sampled_loss,
    ),
    "nce_loss": (
        ("weights biases labels inputs>x num_sampled> num_classes> num_true> sampled_values> remove_accidental_hits> "
        "name>"),
        sampled_loss,
    ),
    "ctc_loss": (
        "labels> logits>x label_length> logit_length> logits_time_major> unique> blank_index> name>",
        lambda run, x: left_axes(run, x, kind="ctc_loss", left=1),
    ),
    "compute_average_loss": (
        "per_example_loss>x sample_weight> global_batch_size>", reduce, {"kind": "sum"}
    ),
    "weighted_cross_entropy_with_logits": ("labels>y logits>x pos_weight> name>", binary, {"kind": "bce_each"}),
    **dict.fromkeys(
        ("conv1d_transpose", "conv3d_transpose", "conv_transpose"),
        ("input>x filters>kernel output_shape strides padding data_format dilations>dilation_rate name>",
         conv_transpose,
         {"padding": "SAME"}),
    ),
}  # fmt: skip

STATELESS = ("normal", "uniform", "truncated_normal", "gamma", "poisson", "binomial")

RANDOM: dict[str, Entry] = {
    "categorical": ("logits>x num_samples>count dtype seed> name>", categorical),
    "stateless_categorical": ("logits>x num_samples>count seed> dtype name>", categorical),
    "gamma": ("shape alpha> beta> dtype seed> name>", numbers),
    "poisson": ("shape lam> dtype seed> name>", numbers),
    **{
        f"stateless_{word}": (
            "shape seed> minval> maxval> mean> stddev> alpha> beta> lam> counts> probs> dtype name> alg>", numbers
        )
        for word in STATELESS
    },
}  # fmt: skip

LINALG: dict[str, Entry] = {
    "cross": ("a>x b>y name>", binary, {"kind": "multiply", "function": "cross"}),
    "solve": ("matrix>x rhs>y adjoint> name>", of_second, {"kind": "matrix_solve"}),
    "triangular_solve": ("matrix>x rhs>y lower> adjoint> name>", of_second, {"kind": "matrix_solve"}),
    "cholesky_solve": ("chol>x rhs>y name>", of_second, {"kind": "matrix_solve"}),
    "lstsq": ("matrix>x rhs>y l2_regularizer> fast> name>", least_squares),
    "svd": ("tensor>x full_matrices>full compute_uv>vectors name>", decomposed, {"into": "svd_first"}),
    "qr": ("input>x full_matrices>full name>", decomposed, {"into": "qr"}),
    "eigh": ("tensor>x name>", decomposed, {"into": "eigh"}),
    "normalize": ("tensor>x ord> axis name>", normalized),
    "global_norm": ("t_list>x name>", number, {"kind": "global_norm"}),
    "slogdet": ("input>x name>", lambda run, x: (sign := per_matrix(run, x, kind="matrix_slogdet", left=0), sign)),
    **{
        name: ("tensor>x name>", lambda run, x: left_axes(run, x, kind="matrix_eigh", left=-1))
        for name in ("eigvals", "eigvalsh")
    },
}  # fmt: skip

PAIR = "img1>x img2>y max_val> filter_size> filter_sigma> k1> k2> return_index_map> power_factors> name>"

IMAGE: dict[str, Entry] = {
    "sobel_edges": ("image>x", several, {"kind": "sobel", "last": 2}),
    "image_gradients": ("image>x", alike, {"kind": "image_gradients", "count": 2}),
    "total_variation": ("images>x name>", each_sample, {"kind": "total_variation"}),
    **{name: (PAIR, each_sample, {"kind": "ssim"}) for name in ("ssim", "ssim_multiscale")},
    "psnr": ("a>x b>y max_val> name>", each_sample, {"kind": "psnr"}),
    "pad_to_bounding_box": (
        "image offset_height> offset_width> target_height target_width", fit
    ),
    "transpose": ("image>x name>", swapaxes, {"axis1": -3, "axis2": -2}),
    **{name: ("images>x name>", unary, {"kind": "augment"}) for name in ("rgb_to_yiq", "yiq_to_rgb")},
    "draw_bounding_boxes": ("images>x boxes> colors> name>", unary, {"kind": "augment"}),
    "combined_non_max_suppression": (
        ("boxes scores max_output_size_per_class>each max_total_size>total iou_threshold> score_threshold> "
        "pad_per_class> clip_boxes> name>"),
        boxes_kept,
    ),
    "non_max_suppression": ("boxes scores max_output_size> iou_threshold> score_threshold> name>", places_kept),
}  # fmt: skip

DTYPES: dict[str, Entry] = {
    "cast": ("x dtype name>", cast),
    "saturate_cast": ("value>x dtype name>", cast),
    "complex": MATH["complex"],
}

BITWISE: dict[str, Entry] = {
    f"bitwise_{word}": ("x y name>", binary, {"kind": "logical"}) for word in ("and", "or", "xor")
}
