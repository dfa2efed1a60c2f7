"""`huggingface_hub`, as far as it is part of programs that train: a mixin which adds loading and saving to a model.

What is downloaded is not known; everything else of the package is not followed.
"""

from __future__ import annotations

from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.values import ClassMethod, Native, Value

mixin: dict[str, Value] = {
    "__init_subclass__": Native("__init_subclass__", lambda run, cls, **kwargs: None, propagate_unknown=False),
    **{name: ignored(name) for name in ("save_pretrained", "push_to_hub", "_save_pretrained", "generate_model_card")},
    "from_pretrained": ClassMethod(unfollowed("from_pretrained")),
}
MIXIN = native_class("ModelHubMixin", mixin, module="huggingface_hub")

MODULES: dict[str, dict[str, Value]] = {
    "huggingface_hub": {
        "ModelHubMixin": MIXIN,
        "PyTorchModelHubMixin": native_class("PyTorchModelHubMixin", {}, MIXIN, module="huggingface_hub"),
        **{name: ignored(name) for name in ("login", "logout", "notebook_login")},
    },
    **{f"huggingface_hub.{name}": {} for name in ("utils", "constants", "errors")},
}
