"""The configuration of a whole model, as code reads and edits it: of a Sequential its layers in order, each with the
name of its class and its own config (`get_config`, `from_config` of keras/src/models/sequential.py)."""

from __future__ import annotations

from flake8_cnnmem.frameworks.keras.inputs import get_batch_shape, input_for, is_input_layer
from flake8_cnnmem.frameworks.keras.model_state import graph_of, is_model, model_state
from flake8_cnnmem.frameworks.keras.properties import get_config
from flake8_cnnmem.frameworks.keras.session import session_of
from flake8_cnnmem.frameworks.keras.shapes import shown
from flake8_cnnmem.frameworks.keras.tracking import all_weights, is_layer, state_of
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value


def model_config(run: Runtime, self: Instance) -> Value:
    """`model.get_config()`: of a Sequential its layers; of a functional model not followed; of others the constructor's
    arguments."""
    config, stack = get_config(run, self), model_state(run, self).stack
    if stack is not None and isinstance(config, dict):
        return {**config, "layers": [serialized(run, layer) for layer in stack]}
    if graph_of(self) is not None and self.cls.site is None:
        return run.unknown("the configuration of a functional model is not followed")
    return config


def serialized(run: Runtime, layer: Instance) -> dict[str, Value]:
    """A layer as an entry of a model's configuration."""
    classes, name = session_of(run).configured, layer.cls.name
    classes[name] = layer.cls if classes.get(name, layer.cls) is layer.cls else None
    if is_input_layer(layer):
        config: Value = {"batch_shape": get_batch_shape(run, layer), "name": state_of(run, layer).name}
    else:
        config = run.call(run.get(layer, "get_config"))
    module = layer.cls.module if layer.cls.site is None else None
    entry: dict[str, Value] = {"module": module, "class_name": name, "config": config, "registered_name": None}
    given = [each.shape for node in state_of(run, layer).nodes[:1] for each in node.inputs]
    if len(given) == 1 and all_weights(layer) and not is_model(layer):
        entry["build_config"] = {"input_shape": shown(given[0])}
    return entry


def stack_from_config(run: Runtime, cls: Class, config: Value, custom_objects: Value = None) -> Value:
    """`Sequential.from_config(config)`: new layers from each entry."""
    entries = config.get("layers") if isinstance(config, dict) else None
    if not isinstance(config, dict) or not isinstance(entries, list):
        return run.unknown("what a Sequential is made from is not known")
    layers = [layer_from(run, entry, custom_objects) for entry in entries]
    lost = next((each for each in layers if isinstance(each, Unknown)), None)
    return lost or run.construct(cls, layers, trainable=config.get("trainable"), name=config.get("name"))


def layer_from(run: Runtime, entry: Value, custom_objects: Value) -> Value:
    """The layer that an entry of a configuration describes; an Input's tensor."""
    described = entry if isinstance(entry, dict) else {}
    name, config, build = (described.get(word) for word in ("class_name", "config", "build_config"))
    if not isinstance(name, str) or not isinstance(config, dict):
        return config if isinstance(config, Unknown) else run.unknown("an entry of a configuration is not known")
    if name == "InputLayer":
        # The older word is read after the newer one (keras/src/layers/core/input_layer.py).
        shape = config.get("batch_input_shape", config.get("batch_shape"))
        return input_for(run, shape, config.get("name"), config.get("dtype"))
    own = custom_objects.get(name) if isinstance(custom_objects, dict) else None
    cls = own if isinstance(own, Class) else session_of(run).configured.get(name)
    if cls is None:
        return run.unknown(f"the class {name} of a configuration is not known")
    layer = run.call(run.get(cls, "from_config"), config)
    if isinstance(build, dict) and is_layer(layer) and layer.cls.site is None and not session_of(run).older:
        # Keras 3 builds it for the input that it was built for (keras/src/saving/serialization_lib.py).
        run.call(run.get(layer, "build"), build.get("input_shape"))
    return layer
