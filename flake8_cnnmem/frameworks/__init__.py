"""The frameworks that we know, found by module name or by tensor. Each is imported when it is first asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import TypeGuard

from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.stubs.reading import Imported, StubModule
from flake8_cnnmem.supported import FRAMEWORKS
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Namespace, Native, Value

PACKAGES = {package: folder for folder, each in FRAMEWORKS.items() for package in each.packages}


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


def has_member(cls: Class, name: str) -> bool:
    """Whether objects of a framework's own class have an attribute of this name, as far as that is written down."""
    own = members_of(cls.module.partition(".")[0])
    return own is not None and own(cls, name)


@cache
def members_of(package: str) -> Callable[[Class, str], bool] | None:
    """What a framework's folder says of the attributes of its classes, by the package that they are in."""
    folder = PACKAGES.get(package)
    return getattr(importlib.import_module(f"{__name__}.{folder}"), "has_member", None) if folder else None


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


def in_use() -> tuple[Framework, ...]:
    """The frameworks that something has been asked of, in their order."""
    global used, looked_at
    if len(sys.modules) == looked_at:
        return used
    # A module that is being imported has its framework when no further module comes.
    begun = [module for module in waiting if module in sys.modules]
    if not begun:
        looked_at = len(sys.modules)
        return used
    if not any(hasattr(sys.modules[module], "FRAMEWORK") for module in begun):
        return used
    loaded = {module: name for name, module in MODULES if hasattr(sys.modules.get(module), "FRAMEWORK")}
    used = tuple(map(named, loaded.values()))
    waiting.difference_update(loaded)
    return used


MODULES = tuple((name, f"{__name__}.{name}") for name in FRAMEWORKS)
waiting = {module for _, module in MODULES}
"""The modules of frameworks that nothing has been asked of yet."""
used: tuple[Framework, ...] = ()
"""Those that were seen to be in use: nothing takes one away."""
looked_at = -1
"""How many modules there were when none of those that are waited for was among them."""


def is_tensor_method(native: Native) -> bool:
    """Whether it is a method of the tensors of a framework in use."""
    return any(each.type_of(Tensor((), framework=each.name)).find(native.name) is native for each in in_use())


def of_layer(value: Value) -> Framework | None:
    """The framework whose layer, module or model this value is, or None. Only frameworks in use are asked."""
    if not isinstance(value, Instance):
        return None
    for each in in_use():
        if each.is_layer(value):
            return each
    return None


def made_by_unfollowed(run: Runtime, cause: Unknown, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
    """What a call of a function gives that nobody can follow: the first framework in use that has an answer."""
    given = {value.framework for value in (*args, *kwargs.values()) if isinstance(value, Tensor)}
    own = {name for name in given if FRAMEWORKS[name].markers}
    for each in in_use() if args or kwargs else ():
        if own and each.name not in own:
            # It is given tensors of another framework, whichever others this process has met before.
            continue
        made = each.made_by_unfollowed(run, cause, args, kwargs)
        if made is not cause:
            return made
    return cause


def assumed_bases(run: Runtime, imported: Iterable[str]) -> list[Value]:
    """What a class with a `forward` derives from besides, where a base of it is not known and its module imports these
    packages."""
    folders = dict.fromkeys(PACKAGES[name] for name in imported if name in PACKAGES)
    return [base for folder in folders if (base := named(folder).assumed_base(run)) is not None]


def is_layer(value: Value) -> TypeGuard[Instance]:
    """Whether a value is a layer or model of some framework."""
    if isinstance(value, Instance):
        # Asked of every object that a variable holds: the common case of `in_use` is written out.
        for each in used if len(sys.modules) == looked_at else in_use():
            if each.is_layer(value):
                return True
    return False


def updated_by(optimizer: Instance) -> list[Weight] | None:
    """The weights that an optimizer of a framework in use was made for; None for what is no optimizer."""
    return next((found for each in in_use() if (found := each.updated_by(optimizer)) is not None), None)


def keeps_for_all(optimizer: Instance) -> bool:
    """Whether an optimizer of a framework in use keeps something for parameters that get no gradient as well."""
    return any(each.keeps_for_all(optimizer) for each in in_use())


def optimizer_of(optimizer: Value) -> Optimizer | None:
    """What an optimizer of a framework in use is, or the name of one; None for what is none, or not known."""
    return next((found for each in in_use() if (found := each.optimizer_of(optimizer)) is not None), None)
