"""`from_pretrained(name)`: a model whose configuration lies in a file. That of a folder of the project is read, and
what the library has downloaded before; the values of the weights are not needed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.frameworks.torch.dtypes import DTYPES, is_dtype
from flake8_cnnmem.frameworks.torch.nn.modules.module import is_module
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Value, native

NOT_MADE = "not made"
"""The scratch dict of the calls that would give a model if a file were there: what it is called, and the cause."""

LOADING = frozenset(
    (
        "cache_dir", "force_download", "local_files_only", "token", "revision", "use_safetensors", "weights_only",
        "ignore_mismatched_sizes", "low_cpu_mem_usage", "device_map", "max_memory", "offload_folder", "subfolder",
        "trust_remote_code", "variant", "output_loading_info", "proxies", "resume_download", "use_auth_token",
        "torch_dtype", "dtype", "attn_implementation", "quantization_config", "load_in_8bit", "load_in_4bit", "config",
        "safety_checker", "mirror", "from_tf", "from_flax", "state_dict", "offload_state_dict", "_fast_init",
    )
)  # fmt: skip
"""Arguments that say how a model is loaded, not what it is."""


def settings_of(run: Runtime, name: Value, subfolder: Value = None) -> dict[str, Any] | None:
    """The configuration of a model by the name or folder that the code gives; None where it is not found."""
    if not isinstance(name, str):
        return None
    inner = (subfolder,) if isinstance(subfolder, str) and subfolder else ()
    for folder in (name, *cached(run, name)):
        text = run.text_of(os.path.join(folder, *inner, "config.json"), (hub_folder(run),))
        if isinstance(text, str):
            try:
                found = json.loads(text)
            except (ValueError, RecursionError):
                return None
            return found if isinstance(found, dict) else None
    return None


def cached(run: Runtime, name: str) -> list[str]:
    """The folder into which huggingface_hub has downloaded a model: `models--google--vit/snapshots/COMMIT`."""
    parts = name.split("/")
    if not 1 <= len(parts) <= 2 or not all(parts) or name.startswith("."):
        return []
    folder = os.path.join(hub_folder(run), "--".join(("models", *parts)))
    commit = run.text_of(os.path.join(folder, "refs", "main"), (hub_folder(run),))
    plain = commit.strip() if isinstance(commit, str) else ""
    return [os.path.join(folder, "snapshots", plain)] if plain.isalnum() else []


def hub_folder(run: Runtime) -> str:
    """Where huggingface_hub keeps what it has downloaded, unless the environment says otherwise."""
    given = run.environment_variable("HF_HUB_CACHE")
    if given:
        return given
    home = run.environment_variable("HOME") or run.environment_variable("USERPROFILE") or os.curdir
    return os.path.join(run.environment_variable("HF_HOME") or os.path.join(home, ".cache", "huggingface"), "hub")


def not_found(run: Runtime, cls: Class, name: Value) -> Unknown:
    """The cause where there is no configuration, which CNM301 tells, with what to write."""
    shown = repr(name) if isinstance(name, str) else "a name that is not known"
    config = config_class(run, cls)
    made = f"{cls.name}({config.name}(...))" if config is not None else "a configuration in the code"
    cause = run.unknown(
        f"{cls.name}.from_pretrained({shown}) needs config.json of that model, which is not in the project: put its "
        f"folder there, or make the model from {made}"
    )
    run.data(NOT_MADE).setdefault(id(run.here()), (cls.name, run.here(), cause))
    return cause


def config_class(run: Runtime, cls: Class) -> Class | None:
    """The class of a model's configuration: what it says itself, else what it is annotated with."""
    for each in cls.mro:
        told = each.namespace.get("config_class")
        if isinstance(told, Class):
            return told
        annotations = each.namespace.get("__annotations__")
        word = annotations.get("config") if isinstance(annotations, dict) else None
        # The name as a method's file knows it: that of the class itself, or of one that derives from it.
        modules: list[Any] = [getattr(value, "module", None) for one in cls.mro for value in one.namespace.values()]
        known = [module for module in dict.fromkeys(modules) if hasattr(module, "global_name")]
        values: list[Value] = [module.global_name(run, word) for module in known] if isinstance(word, str) else []
        found = next((value for value in values if isinstance(value, Class)), None)
        if isinstance(found, Class):
            return found
    return None


def config_from(run: Runtime, cls: Class, settings: dict[str, Any], more: dict[str, Value]) -> Value:
    given = {word: value for word, value in settings.items() if word not in ("architectures", "transformers_version")}
    if "num_labels" in more:
        given = {word: value for word, value in given.items() if word not in ("id2label", "label2id")}
    return run.construct(cls, **{**given, **more})


def model_from_pretrained(run: Runtime, /, cls: Class, name: Value = None, *args: Value, **kwargs: Value) -> Value:
    config = kwargs.get("config")
    settings: dict[str, Any] = {}
    if config is None or isinstance(config, (str, Unknown)):
        found = settings_of(run, config if isinstance(config, str) else name, kwargs.get("subfolder"))
        if found is None or not isinstance(cls, Class):
            return not_found(run, cls, name)
        settings = found
        own = config_class(run, cls)
        if own is None:
            return not_found(run, cls, name)
        more = {word: value for word, value in kwargs.items() if word not in LOADING}
        config = config_from(run, own, settings, more)
    return cast(run, run.call(cls, config, *args), kwargs, settings)


def cast(run: Runtime, model: Value, kwargs: dict[str, Value], settings: dict[str, Any]) -> Value:
    """In the dtype that the call asks for, else in that of the file."""
    asked = next((kwargs[word] for word in ("dtype", "torch_dtype") if kwargs.get(word) is not None), "auto")
    if asked == "auto":
        asked = settings.get("dtype", settings.get("torch_dtype"))
    dtype = DTYPES.get(asked) if isinstance(asked, str) else asked
    if is_module(model) and is_dtype(dtype) and dtype is not DTYPES["float32"]:
        run.call(run.get(model, "to"), dtype)
    return model


def config_from_pretrained(run: Runtime, /, cls: Class, name: Value = None, **kwargs: Value) -> Value:
    settings = settings_of(run, name, kwargs.get("subfolder"))
    if settings is None:
        return run.unknown(f"config.json of {name!r} is not in the project" if isinstance(name, str)
                           else "the name of a configuration is not known")  # fmt: skip
    more = {word: value for word, value in kwargs.items() if word not in LOADING}
    return config_from(run, cls, settings, more)


def auto_from_pretrained(run: Runtime, /, cls: Class, name: Value = None, *args: Value, **kwargs: Value) -> Value:
    """The class that an `AutoModelFor...` has for the configuration, made from it."""
    config = kwargs.pop("config", None)
    settings: dict[str, Any] = {}
    if config is None or isinstance(config, (str, Unknown)):
        found = settings_of(run, name, kwargs.get("subfolder"))
        types = run.find(cls, "_model_mapping")
        if found is None or types is MISSING:
            return not_found(run, cls, name)
        settings = found
        known = run.get(types, "_load_attr_from_module")
        names = run.get(types, "_config_mapping")
        kind = settings.get("model_type")
        word = names.get(kind) if isinstance(names, dict) else None
        own = run.call(known, kind, word) if word is not None else MISSING
        if not isinstance(own, Class):
            return not_found(run, cls, name)
        config = config_from(run, own, settings, {w: v for w, v in kwargs.items() if w not in LOADING})
    return cast(run, run.call(run.get(cls, "from_config"), config), kwargs, settings)


def from_config(run: Runtime, /, cls: Value, config: Value, **kwargs: Value) -> Value:
    """`PreTrainedModel._from_config`"""
    return cast(run, run.call(cls, config), kwargs, {})


def class_method(name: str, function: Callable[..., Value]) -> ClassMethod:
    return ClassMethod(native(name, function))


MODELS: dict[str, Value] = {
    "from_pretrained": class_method("from_pretrained", model_from_pretrained),
    "_from_config": class_method("_from_config", from_config),
}
CONFIGURATIONS: dict[str, Value] = {"from_pretrained": class_method("from_pretrained", config_from_pretrained)}
AUTOMATIC: dict[str, Value] = {"from_pretrained": class_method("from_pretrained", auto_from_pretrained)}


def made_from_files(run: Runtime, /, cls: Class, *args: Value, **kwargs: Value) -> Value:
    return run.unknown(f"what {cls.name} loads is in no file of the project")


def preparing(name: str) -> Class:
    """What makes a model's input: its vocabulary, or its sizes of pictures, are in a file; to read the library's code
    of every such class would take longer than the program itself."""
    return Class(name, namespace={"from_pretrained": class_method("from_pretrained", made_from_files)})


PREPARING: dict[str, Value] = {
    name: preparing(name)
    for name in ("AutoProcessor", "AutoImageProcessor", "AutoFeatureExtractor", "AutoVideoProcessor")
}
