"""Where versions of Keras have put their modules. A module is known by its last words, wherever its root lies."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.names import OLDER

KERAS_ROOTS = (
    "keras._tf_keras.keras", "keras.api._v1.keras", "keras.api._v2.keras", "keras.api", "keras.src", "keras",
    "tensorflow.compat.v1.keras", "tensorflow.compat.v2.keras", "tensorflow.keras", "tensorflow.python.keras.api",
    "tensorflow.python.keras", "tensorflow.contrib.keras", "tensorflow_core.keras", "tf_keras.api._v2.keras",
    "tf_keras.api", "tf_keras.src", "tf_keras",
)  # fmt: skip
"""Where Keras lives, longest first."""

IMAGENET_UTILS = frozenset(
    {
        "keras_applications.imagenet_utils",
        *(f"{root}.applications.imagenet_utils" for root in KERAS_ROOTS if root != "keras.src"),
    }
)
"""The public module; Keras' own applications import `keras.src.applications.imagenet_utils`, which has its source."""

TENSORFLOW_ROOTS = ("tensorflow.compat.v1", "tensorflow.compat.v2", "tensorflow")

INNER: dict[str, str] = {
    "layers": (
        "activation activations advanced_activations attention base_layer convolutional "
        "convolutional_recurrent core cudnn_recurrent dense_attention embeddings experimental gru input_spec "
        "kernelized layer local lstm merge merging noise normalization pooling preprocessing recurrent "
        "regularization reshaping rnn serialization wrappers"
    ),
    "models": "cloning functional model sequential",
    "backend": "common config core global_state image keras_tensor nn numpy tensorflow",
    "optimizers": "adam adamw experimental legacy optimizer optimizer_v1 optimizer_v2 rmsprop schedules sgd",
    "utils": (
        "argument_validation backend_utils control_flow_util conv_utils data_utils dataset_utils file_utils "
        "generic_utils image_dataset_utils image_utils io_utils jax_utils kernel_initializer layer_utils "
        "losses_utils metrics_utils model_visualization module_utils multi_gpu_utils naming np_utils numerical_utils "
        "python_utils rng_utils test_utils visualize_util "
        "sequence_utils summary_utils tf_utils traceback_utils tracking training_utils "
        "vis_utils vis_utils_v2"
    ),
    "ops": "core function image linalg math nn node numpy operation operation_utils",
    "preprocessing": "dataset_utils image image_dataset sequence text timeseries",
    "engine": (
        "base_layer base_layer_utils base_preprocessing_layer compile_utils data_adapter functional "
        "input_layer input_spec keras_tensor network node saving sequential topology training training_utils "
        "training_arrays training_generator training_v1"
    ),
    "legacy": "backend interfaces layers losses models preprocessing saving",
    "experimental": "optimizers preprocessing",
    "mixed_precision": "experimental loss_scale_optimizer policy",
    "saving": "hdf5_format legacy object_registration saving_api saving_lib saving_utils serialization_lib",
    "initializers": "constant_initializers initializer initializers_v2 random_initializers",
    "losses": "loss losses",
    "metrics": "metric",
    "callbacks": "callback callbacks tensorboard_v1 tensorboard_v2",
    "regularizers": "regularizers",
    "dtype_policies": "dtype_policy dtype_policy_map",
    "activations": "activations",
    "random": "random seed_generator",
    "tree": "tree_api",
    "wrappers": "scikit_learn",
}
"""Modules inside these, where versions of Keras had or have some, in words."""

COMMON_INNER = (
    "base_conv base_layer base_merge base_pooling batch_normalization bidirectional conv1d conv2d conv3d "
    "dense dropout embedding image_preprocessing input_layer lambda_layer layer_normalization "
    "multi_head_attention spatial_dropout stacked_rnn_cells time_distributed v1 v2"
)
"""Modules inside those again, whichever they are in."""


def is_inner(area: str, words: tuple[str, ...]) -> bool:
    """Whether these words name a module inside `keras.<area>`, in any version."""
    known = {*INNER.get(area, "").split(), *COMMON_INNER.split()}
    return all(word in known for word in words)


OLD_ROOTS = (
    "tf_keras", "tensorflow.python.keras", "tensorflow.contrib.keras", "tensorflow_core.keras", "keras.api._v1.keras",
    "keras.api._v2.keras",
)  # fmt: skip
"""Where nothing but Keras 2 has ever been, with what is below."""

OF_3 = {
    "activations": "", "backend": "", "callbacks": "", "config": "", "constraints": "", "datasets": "*",
    "applications": "*", "distillation": "", "distribution": "", "dtype_policies": "", "export": "", "initializers": "",
    "layers": "", "legacy": "saving", "losses": "", "metrics": "", "mixed_precision": "", "models": "",
    "ops": "image linalg nn numpy", "optimizers": "legacy schedules", "preprocessing": "image sequence",
    "quantizers": "", "random": "", "regularizers": "", "saving": "", "tree": "", "utils": "bounding_boxes legacy",
    "visualization": "", "wrappers": "",
}  # fmt: skip
"""The modules that Keras 3.15.1 has, and those inside them; "*" for any."""

BACKEND_OF_3 = frozenset(
    (
        "backend", "clear_session", "epsilon", "floatx", "get_uid", "image_data_format", "is_float_dtype",
        "is_int_dtype", "is_keras_tensor", "result_type", "set_epsilon", "set_floatx", "set_image_data_format",
        "standardize_dtype",
    )
)  # fmt: skip
"""What `keras.backend` has in Keras 3. `tensorflow.keras.backend` has the functions of Keras 2 as well."""

IMAGES_OF_3 = frozenset(["array_to_img", "img_to_array", "load_img", "save_img", "smart_resize"])
"""What `keras.preprocessing.image` has; `tensorflow.keras` has the generators of Keras 2 beside it."""


def is_gone(root: str, path: tuple[str, ...], word: str) -> bool:
    """Whether Keras 3.15.1 under TensorFlow 2.21 does not have this name of the module `path` below a root."""
    if root.startswith(OLD_ROOTS):
        return True
    if root in ("keras.src", "keras.api", "keras._tf_keras.keras") or not path:
        return False
    if path == ("preprocessing", "text") and root != "keras":
        return False
    inside = OF_3.get(path[0])
    if path == ("optimizers", "legacy"):
        # The module is there, and what is in it raises.
        return True
    if path == ("layers",) and word in OLDER.of("keras.layers"):
        return root == "keras" or word not in ("RandomHeight", "RandomWidth", "ThresholdedReLU")
    if inside is None or (len(path) > 1 and inside != "*" and path[1] not in inside.split()):
        return True
    if word in INNER.get(path[0], "").split() and path == ("utils",):
        return word != "legacy"
    if root != "keras":
        return False
    gone = {("backend",): BACKEND_OF_3, ("preprocessing", "image"): IMAGES_OF_3}.get(path)
    return gone is not None and not word.startswith("_") and word not in gone
