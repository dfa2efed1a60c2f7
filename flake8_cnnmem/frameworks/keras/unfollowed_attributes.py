"""Attributes that a layer, a model or an optimizer has in some version of Keras, and that nobody here follows.

They are there, so that code which asks for one goes on; what they are is not known.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.config_objects import METRIC
from flake8_cnnmem.frameworks.keras.models import MODEL
from flake8_cnnmem.frameworks.keras.tracking import LAYER
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Instance, Native, Value

LAYER_WORDS = (
    "autocast build_from_config call_signature_parameters compute_output_spec dynamic get_build_config "
    "get_input_mask_at get_output_mask_at input_dtype input_mask lora_alpha metrics metrics_variables output_mask "
    "quantization_config quantization_mode quantized_build quantized_call rematerialized_call "
    "stateless_call supports_jit symbolic_call updates uses_learning_phase variable_serialization_spec "
    "add_inbound_node set_trainable"
)
MODEL_WORDS = (
    "autotune_steps_per_execution compile_from_config container_nodes distribute_reduction_method "
    "distribute_strategy get_compile_config get_quantization_layer_structure get_state_tree get_weight_paths history "
    "loss_functions make_predict_function make_test_function metrics_names metrics_tensors metrics_updates operations "
    "predict_function predict_step run_eagerly sample_weights save_spec set_state_tree state_updates "
    "stateless_compute_loss steps_per_execution stop_training targets test_function total_loss train_function "
    "unrolled_steps_per_execution jit_compile"
)
OF_LAYERS = frozenset(LAYER_WORDS.split())
OF_MODELS = OF_LAYERS | frozenset(MODEL_WORDS.split())
BEFORE_COMPILING: dict[str, Value] = {"optimizer": None, "loss": None, "compiled": False}


def attribute(run: Runtime, self: Instance, name: Value) -> Value:
    """An attribute that nobody has set: what a model has before it is compiled, an unknown for one that Keras has and
    that is not followed, else MISSING."""
    model = self.cls.derives_from(MODEL)
    if model and name in BEFORE_COMPILING:
        return BEFORE_COMPILING[name]
    if model and name == "metrics":
        return metrics_of(run, self)
    if model and name == "compiled_metrics":
        return run.construct(METRIC)
    if name in (OF_MODELS if model else OF_LAYERS):
        return run.unknown(f"{self.cls.name}.{name} is not followed")
    return MISSING


def metrics_of(run: Runtime, self: Instance) -> list[Value]:
    """What tells of a model's loss, what `compile` was told of, and those that it holds itself (`Trainer.metrics`)."""
    own = [
        value for value in self.attributes.values() if isinstance(value, Instance) and value.cls.derives_from(METRIC)
    ]
    made = [run.construct(METRIC) for _ in range(2)]
    for each, word in zip(made, ("loss", "compile_metrics"), strict=True):
        if isinstance(each, Instance):
            each.attributes["name"] = word
    return [*made, *own]


LAYER.namespace["__getattr__"] = Native("__getattr__", attribute, propagate_unknown=False)
