"""What may be the key of a dict or the item of a set, and containers of which nothing certain is left."""

from __future__ import annotations

from flake8_cnnmem import frameworks
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Native, Value

PLAIN = frozenset((str, int, bool, float, type(None), bytes, complex))

ALONE = 2**61 - 1
COLLISION_STEPS = 1_000
"""Whole numbers that are no smaller share their hash with others, as many as one likes: each that is looked up may be
compared with all that are there."""

UNHASHABLE = (list, dict, set, bytearray)


def key(run: Runtime, value: Value) -> Value:
    """The value as a host container may hold it as a key, or Unknown where equality of keys is undecided.

    TypeError for an unhashable value. Instances are keys by identity, those of a subclass of str, int or
    tuple by their payload; those of a class with its own `__eq__` are not followed.
    """
    kind = type(value)
    if type(value) is int and not -ALONE < value < ALONE:
        run.spend(COLLISION_STEPS)
        return value
    if kind in PLAIN or kind is Unknown:
        return value
    if type(value) is tuple or type(value) is frozenset:
        run.spend(1 + len(value) // 8)
        parts = [key(run, part) if type(part) is int or type(part) not in PLAIN else part for part in value]
        return next((part for part in parts if type(part) is Unknown), value)
    if type(value) is Instance:
        return instance_key(run, value)
    if isinstance(value, UNHASHABLE):
        raise run.error("TypeError", f"unhashable type: '{kind.__name__}'")
    if isinstance(value, Batch):
        return run.unknown("the batch size has no value that could be looked up")
    if isinstance(value, Tensor) and frameworks.named(value.framework).equal_by_value:
        if value.shape == ():
            return run.unknown("the values of an array are not known")
        if not isinstance(value.shape, Unknown):
            raise run.error("TypeError", "unhashable type: 'ndarray'")
    return value


def instance_key(run: Runtime, value: Instance) -> Value:
    """An instance as a key of a host's dict; unknown where equality is the program's own. TypeError for what cannot be
    hashed."""
    hashes = False
    for cls in value.cls.mro:
        own_hash = cls.namespace.get("__hash__", MISSING)
        hashes = hashes or (own_hash is not MISSING and own_hash is not None and not isinstance(own_hash, Native))
        equality = cls.namespace.get("__eq__")
        frozen = cls.facts.get("hashable")
        if frozen is True or (hashes and equality is not None and not isinstance(equality, Native)):
            return run.unknown(f"instances of {value.cls.name} are equal by what they hold")
        if not hashes and (own_hash is None or frozen is False or unhashable(equality)):
            raise run.error("TypeError", f"unhashable type: '{value.cls.name}'")
    if isinstance(value.payload, UNHASHABLE):
        raise run.error("TypeError", f"unhashable type: '{value.cls.name}'")
    if isinstance(value.payload, tuple):
        inner = key(run, value.payload)
        return inner if isinstance(inner, Unknown) else value
    return value


def unhashable(equality: Value) -> bool:
    """A class of the program that defines `__eq__` alone has no hash."""
    return equality is not None and not isinstance(equality, Native)


def lose(run: Runtime, container: Value, cause: Unknown) -> None:
    """From now on the contents of a container are uncertain: something unknown was added or taken away.

    A list keeps its items and gets the Unknown behind them, the values of a dict become Unknown; that neither
    length nor keys are known, the interpreter notes as `havocked`.
    """
    run.changed(container)
    if isinstance(container, list):
        container.append(cause)
    elif isinstance(container, dict):
        for word in container:
            container[word] = cause
    run.havoc(container, cause)


def lost(run: Runtime, container: Value) -> Unknown | None:
    """The cause why a container's length and keys are uncertain, if they are."""
    havocked = run.havocked
    return havocked[id(container)][1] if havocked and id(container) in havocked else None
