"""The frameworks that we know, found by module name or by tensor. Each is imported when it is first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.stubs.reading import Imported, StubModule
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Namespace, Native, Runtime, Value

FRAMEWORKS: Mapping[str, tuple[str, ...]] = {
    "torch": ("torch",),
    "keras": ("keras", "tensorflow", "tf_keras", "keras_applications", "tensorflow_datasets"),
    "numpy": ("numpy",),
}
"""The folders here, and the top-level packages of imports that each answers for: the one line that a framework takes
outside of its folder. Where several could answer, the first one is asked first."""

PACKAGES = {package: folder for folder, packages in FRAMEWORKS.items() for package in packages}


def find_module(dotted: str) -> Namespace | None:
    """The native module of this dotted name (`torch.nn.functional`), or None where there is none."""
    package = PACKAGES.get(dotted.partition(".")[0])
    if package is None:
        return None
    module = importlib.import_module(f"{__name__}.{package}")
    found: Namespace | None = module.find_module(dotted)
    return found


def source_name(dotted: str) -> str | None:
    """Where the source of a module lies that code imports by another name: `tensorflow.keras.applications` is
    Keras' own. None where there is no other name."""
    folder = PACKAGES.get(dotted.partition(".")[0])
    own = getattr(importlib.import_module(f"{__name__}.{folder}"), "source_name", None) if folder else None
    return own(dotted) if own is not None else None


def bound_stub(stub: StubModule) -> Mapping[str, Value]:
    """What a project's stub describes, as values of the first framework that it imports and that takes stubs. Without
    one nobody knows of what framework its tensors are."""
    for folder in dict.fromkeys(PACKAGES[name] for name in stub.frameworks if name in PACKAGES):
        bind = getattr(importlib.import_module(f"{__name__}.{folder}"), "bind_stubs", None)
        if bind is not None:
            found: Mapping[str, Value] = bind(stub)
            return found
    cause = Unknown("the stub imports no framework whose functions stubs describe", stub.path)
    return {name: cause for name, each in stub.members.items() if not isinstance(each, Imported)}


def is_read(package: str) -> bool:
    """Whether anything of a package's own source is read: none of a framework's but what its folder says."""
    folder = PACKAGES.get(package)
    return folder is None or package in getattr(importlib.import_module(f"{__name__}.{folder}"), "READ", ())


def of(tensor: Tensor) -> Framework:
    """The framework that answers for this tensor."""
    return named(tensor.framework)


@cache
def named(name: str) -> Framework:
    """The framework of this name ("torch", "keras")."""
    framework: Framework = importlib.import_module(f"{__name__}.{name}").FRAMEWORK
    return framework


def in_use() -> Iterator[Framework]:
    """The frameworks that something has been asked of, in their order."""
    for name in FRAMEWORKS:
        found = sys.modules.get(f"{__name__}.{name}")
        if hasattr(found, "FRAMEWORK"):
            yield named(name)


def is_tensor_method(native: Native) -> bool:
    """Whether it is a method of the tensors of a framework in use."""
    return any(each.type_of(Tensor((), framework=each.name)).find(native.name) is native for each in in_use())


def of_layer(value: Value) -> Framework | None:
    """The framework whose layer, module or model this value is, or None. Only frameworks in use are asked."""
    if not isinstance(value, Instance):
        return None
    return next((each for each in in_use() if each.is_layer(value)), None)


def made_by_unfollowed(run: Runtime, cause: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a call of a function gives that nobody can follow: the first framework in use that has an answer."""
    for each in in_use() if args or kwargs else ():
        made = each.made_by_unfollowed(run, cause, args, kwargs)
        if made is not cause:
            return made
    return cause


def assumed_bases(run: Runtime, imported: Iterable[str]) -> list[Value]:
    """What a class with a `forward` derives from besides, where a base of it is not known and its module imports these
    packages."""
    folders = dict.fromkeys(PACKAGES[name] for name in imported if name in PACKAGES)
    return [base for folder in folders if (base := named(folder).assumed_base(run)) is not None]


def is_layer(value: Value) -> bool:
    return of_layer(value) is not None


def updated_by(optimizer: Instance) -> list[Weight] | None:
    """The weights that an optimizer of a framework in use was made for; None for what is no optimizer."""
    return next((found for each in in_use() if (found := each.updated_by(optimizer)) is not None), None)


def optimizer_of(optimizer: Value) -> Optimizer | None:
    """What an optimizer of a framework in use is, or the name of one; None for what is none, or not known."""
    return next((found for each in in_use() if (found := each.optimizer_of(optimizer)) is not None), None)
