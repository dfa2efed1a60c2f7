"""PyTorch: its layers, functions and tensors as natives, and what the rest of the program asks of it."""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem.frameworks.device_terms import CACHING
from flake8_cnnmem.frameworks.framework import Checkpointing, Framework
from flake8_cnnmem.frameworks.rules import Lowered, Rules
from flake8_cnnmem.frameworks.spelling import Spelling
from flake8_cnnmem.frameworks.torch.allocator_settings import allocator_settings
from flake8_cnnmem.frameworks.torch.class_members import MEMBERS
from flake8_cnnmem.frameworks.torch.copying import refuse_copy
from flake8_cnnmem.frameworks.torch.functions.arithmetic import operate
from flake8_cnnmem.frameworks.torch.functions.indexing import index, set_index
from flake8_cnnmem.frameworks.torch.names import NAMES
from flake8_cnnmem.frameworks.torch.namespaces import find_module
from flake8_cnnmem.frameworks.torch.nn.modules.container import MODULE_LIST, SEQUENTIAL
from flake8_cnnmem.frameworks.torch.nn.modules.module import (
    MODULE,
    as_moved,
    children_of,
    is_module,
    paths_of,
    weights_of,
)
from flake8_cnnmem.frameworks.torch.nn.modules.module_calls import call_root, doubts, network_of
from flake8_cnnmem.frameworks.torch.nn.modules.module_dict import MODULE_DICT
from flake8_cnnmem.frameworks.torch.nn.parameter import type_of
from flake8_cnnmem.frameworks.torch.optim import groups_of, keeps_for_all, optimizer_of, parameters_of, state_of_frozen
from flake8_cnnmem.frameworks.torch.optim.unfollowed import made_by_unfollowed
from flake8_cnnmem.frameworks.torch.tensors import get, iterate, length, set_attribute
from flake8_cnnmem.parameter_values import on_owners
from flake8_cnnmem.stubs.reading import StubModule
from flake8_cnnmem.values import Class, Instance, Value

__all__ = ["FRAMEWORK", "bind_stubs", "find_module", "has_member"]


def is_model(instance: Instance) -> bool:
    """A user's class or a container with something in it; not a single layer of torch's own."""
    if not is_module(instance):
        return False
    return instance.cls.site is not None or any(
        cls in (SEQUENTIAL, MODULE_LIST, MODULE_DICT) for cls in instance.cls.mro
    )


def has_member(cls: Class, name: str) -> bool:
    """Whether one of torch's classes, no module, or objects of it have an attribute of this name. Of those that the
    class of tensors keeps for itself (`torch.Tensor._make_subclass`) there is no list."""
    dotted = f"{cls.module}.{cls.name}"
    if dotted == "torch.Tensor":
        return name.startswith("_") or name in NAMES.of(dotted)
    return dotted in MEMBERS.words and name in MEMBERS.of(dotted)


def bind_stubs(stub: StubModule) -> Mapping[str, Value]:
    """What a project's stub describes, as values. Loaded where there is one."""
    from flake8_cnnmem.frameworks.torch import user_stubs

    return user_stubs.bind_stubs(stub)


def spelling() -> Spelling:
    """How its programs write what decides sizes, loaded when a size is wrong."""
    from flake8_cnnmem.frameworks.torch.spelling import SPELLING

    return SPELLING


def rules() -> Rules:
    """The rules of PyTorch on CUDA, loaded when a memory is asked for."""
    from flake8_cnnmem.frameworks.torch.saved_tensors import RULES

    return RULES


FRAMEWORK = Framework(
    name="torch",
    alignment=512,
    channels_last=False,
    half_region='torch.autocast("cuda")',
    made_anew=frozenset(("data", "T", "mT", "H", "mH", "real", "imag")),
    tensor_methods=True,
    shape_error="RuntimeError",
    get=get,
    set=set_attribute,
    type_of=type_of,
    operate=on_owners(operate),
    index=on_owners(index),
    set_index=on_owners(set_index),
    iterate=on_owners(iterate),
    length=on_owners(length),
    is_layer=is_module,
    weights=weights_of,
    moved=as_moved,
    children=children_of,
    refuse_copy=refuse_copy,
    network=network_of,
    paths=paths_of,
    call_root=call_root,
    lower=lambda model: Lowered(model, rules()),
    rules=rules,
    spelling=spelling,
    computes="torch",
    device={"torch": CACHING},
    gradless_region="torch.no_grad()",
    versions={"torch": "2.13"},
    class_targets=lambda shape: (shape[0], *shape[2:]) if len(shape) > 1 else shape[:1],
    outermost_rows=False,
    single_layers=frozenset(("MultiheadAttention",)),
    merging_layers=frozenset(("TransformerEncoderLayer", "TransformerDecoderLayer")),
    checkpoints=Checkpointing("torch.utils.checkpoint", "checkpoint", "checkpoint_sequential", "use_reentrant=False"),
    optimizers_own=True,
    assumed_base=lambda run: MODULE,
    declares_inputs=True,
    is_model=is_model,
    own_inputs=lambda instance: None,
    doubts=doubts,
    untrained_doubts=lambda run, model: state_of_frozen(run, weights_of(model)) if run.data("optimizers") else (),
    keeps_for_all=keeps_for_all,
    optimizer_of=optimizer_of,
    updated_by=parameters_of,
    groups_of=groups_of,
    made_by_unfollowed=made_by_unfollowed,
    allocator=allocator_settings,
)
