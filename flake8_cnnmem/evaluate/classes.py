"""What class a value is of, and what a new class inherits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.evaluate import (
    builtins,
)
from flake8_cnnmem.evaluate.functions import IS_ABSTRACT, Function
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Bound, Class, ClassMethod, Instance, Namespace, Property, StaticMethod, Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.interpreter import Interpreter


def class_made(run: Interpreter, cls: Class, options: dict[str, Value]) -> Value:
    """A new class: `__init_subclass__` and `__set_name__` as far as natives and users define them."""
    run.spend(len(cls.mro))
    abstract = [name for name, member in cls.namespace.items() if is_abstract(member)]
    if abstract:
        cls.facts[IS_ABSTRACT] = abstract
    metaclass = options.pop("metaclass", None)
    if isinstance(metaclass, Class):
        cls.facts["metaclass"] = metaclass
    else:
        inherited = next((base.facts["metaclass"] for base in cls.mro[1:] if "metaclass" in base.facts), None)
        if inherited is not None:
            cls.facts["metaclass"] = inherited
    for base in cls.mro[1:]:
        hook = base.namespace.get("__init_subclass__", MISSING)
        if hook is not MISSING:
            function = hook.function if isinstance(hook, ClassMethod) else hook
            result = run.invoke(function, (cls,), options)
            return result if isinstance(result, Class) else cls
    return cls


def is_abstract(member: Value) -> bool:
    """Whether a member of a class is a function, or is made of one, that a class below has to have anew."""
    function = member.fget if isinstance(member, Property) else member
    function = function.function if isinstance(function, (ClassMethod, StaticMethod)) else function
    return isinstance(function, Function) and IS_ABSTRACT in function.attributes


def refuse_abstract(run: Interpreter, cls: Class) -> None:
    """TypeError for an instance of a class that lacks what its abstract classes ask for (`object.__new__`)."""
    asked = [name for base in cls.mro for name in base.facts.get(IS_ABSTRACT, ())]
    if not asked or cls.any_unknown_base() is not None:
        return
    metas = [base.facts.get("metaclass") for base in cls.mro]
    checked = any(base.name == "ABC" for base in cls.mro) or any(meta is not None for meta in metas)
    lacking = next((name for name in asked if is_abstract(cls.find(name))), None)
    if checked and lacking is not None:
        raise run.error("TypeError", f"Can't instantiate abstract class {cls.name} with abstract method {lacking}")


REGISTERED = "registered"
"""Among the facts of a class: what was registered as a subclass of it (`ABCMeta.register`)."""


def told_by_class(run: Interpreter, cls: Class, own: Class, value: Value) -> bool | Unknown | None:
    """What the program itself says of whether a value is an instance of a class: `__instancecheck__` of its metaclass,
    `__subclasshook__`, what is registered. None where it says nothing."""
    metaclass = cls.facts.get("metaclass")
    check = metaclass.find("__instancecheck__") if isinstance(metaclass, Class) else MISSING
    if isinstance(check, Function):
        return run.truth(run.invoke(Bound(check, cls), (value,), {}))
    hook = cls.find("__subclasshook__")
    if isinstance(hook, ClassMethod) and isinstance(hook.function, Function):
        answer = run.invoke(hook.function, (cls, own), {})
        if answer is not NotImplemented:
            return run.truth(answer)
    registered = cls.facts.get(REGISTERED)
    return True if registered and any(own.derives_from(each) for each in registered) else None


def type_of(run: Interpreter, value: Value) -> Class | Unknown:
    """The class of a value, an unknown's cause."""
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Instance):
        return value.cls
    if isinstance(value, Tensor):
        return frameworks.of(value).type_of(value)
    if isinstance(value, Batch):
        whole: Class = builtins.BUILTINS["int"]
        return whole
    return builtins.class_of(value) or run.unknown("the type of a value is not followed")


def type_name(run: Interpreter, value: Value) -> str:
    """What the class of a value is called, for messages."""
    if isinstance(value, (Module, Namespace)):
        return f"module '{value.name}'"
    if isinstance(value, Class):
        return f"type object '{value.name}'"
    cls = run.type_of(value)
    return f"'{cls.name}' object" if isinstance(cls, Class) else "value"


def is_instance(run: Interpreter, value: Value, cls: Value) -> bool | Unknown:
    """`isinstance(value, cls)`, also for a tuple of classes."""
    if isinstance(cls, (tuple, list)):
        results = [run.is_instance(value, each) for each in cls]
        if any(result is True for result in results):
            return True
        return next((result for result in results if isinstance(result, Unknown)), False)
    if isinstance(cls, Unknown):
        return cls
    own = value.cls if type(value) is Instance else run.type_of(value)
    if own is cls:
        return True
    if isinstance(own, Unknown):
        return own
    if cls is None:
        return value is None
    if not isinstance(cls, Class):
        return run.unknown("isinstance() of something that is not a class")
    told = told_by_class(run, cls, own, value)
    if told is not None:
        return told
    if own.derives_from(cls) or cls.name == "object":
        return True
    hook = cls.find("__instancecheck__")
    if hook is not MISSING:
        return run.truth(run.invoke(Bound(hook, cls), (value,), {}))
    if any(base.name == "Protocol" for base in cls.bases if isinstance(base, Class)):
        return run.unknown(f"whether an object has what {cls.name} asks for is not known")
    unknown_base = own.any_unknown_base()
    return False if unknown_base is None else unknown_base
