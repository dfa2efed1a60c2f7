"""`enum`: a class statement's plain values become members, instances of the class, when it is made."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.evaluate.builtins.classes import TYPE
from flake8_cnnmem.evaluate.builtins.declare import Names, payload, special
from flake8_cnnmem.evaluate.builtins.formatting import format_value, to_repr, to_str
from flake8_cnnmem.evaluate.builtins.mappings import entries
from flake8_cnnmem.evaluate.builtins.numbers import INT
from flake8_cnnmem.evaluate.builtins.text import STR
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.modules import identity, native_class
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, ClassMethod, Instance, Native, Property, StaticMethod, Value

names = Names()

NOT_COMBINED = Unknown("what is made of an auto() within its enum is not followed")

AUTO = native_class(
    "auto",
    {
        f"__{side}{word}__": Native(word, lambda run, self, other: NOT_COMBINED)
        for word in ("or", "and", "xor", "add", "lshift")
        for side in ("", "r")
    },
    module="enum",
)
MEMBER = native_class(
    "member", {"__init__": Native("__init__", lambda run, self, value: wrap(self, value))}, module="enum"
)
NONMEMBER = native_class("nonmember", dict(MEMBER.namespace), module="enum")


def wrap(self: Instance, value: Value) -> None:
    """Keep a member's value."""
    self.attributes["value"] = value


# What the class itself answers: iteration, lookup, length

meta = Names()


def members_of(cls: Class) -> dict[str, Instance]:
    """All names of members, aliases included."""
    found: dict[str, Instance] = cls.facts.get("members", {})
    return found


def canonical(cls: Class) -> list[Instance]:
    """The members of an enum in order, aliases left out, and of flags those that are made up of others."""
    own = [member for name, member in members_of(cls).items() if member.attributes["_name_"] == name]
    return [member for member in own if is_single(member.attributes["_value_"])] if cls.derives_from(FLAG) else own


def is_single(value: Value) -> bool:
    """Whether a flag's value is one bit; one that is not known is taken for one."""
    return not isinstance(value, int) or value.bit_count() == 1


@meta.function("__iter__")
def iterate(run: Runtime, cls: Class) -> Value:
    """An iterator over an enum's members."""
    return iter(canonical(cls))


@meta.function("__reversed__")
def backwards(run: Runtime, cls: Class) -> Value:
    """An iterator over an enum's members, the last one first."""
    return reversed(canonical(cls))


@meta.function("__len__")
def length(run: Runtime, cls: Class) -> int:
    """How many members an enum has."""
    return len(canonical(cls))


@meta.function("__bool__")
def truth(run: Runtime, cls: Class) -> bool:
    """An enum is true."""
    return True


@meta.function("__getitem__")
def by_name(run: Runtime, cls: Class, name: Value) -> Value:
    """`Colour["RED"]`. KeyError for a name that it does not have."""
    return members_of(cls)[payload(name)]


@meta.function("__contains__")
def contains(run: Runtime, cls: Class, value: Value) -> Value:
    """`value in Colour`: a member or its value."""
    if isinstance(value, Instance) and value.cls.derives_from(cls):
        return True
    found = by_value(run, cls, value)
    return found if isinstance(found, Unknown) else found is not None


def by_value(run: Runtime, cls: Class, value: Value) -> Instance | Unknown | None:
    """The member of this value; None without one, unknown where a comparison is."""
    for member in members_of(cls).values():
        run.spend(1)
        own = member.attributes["_value_"]
        same = (own is value and not isinstance(own, Unknown)) or run.equal(own, value)
        if isinstance(same, Unknown):
            return same
        if same:
            return member
    return None


@meta.function("__call__", propagate_unknown=False)
def call(
    run: Runtime, cls: Class, value: Value = MISSING, names: Value = MISSING, /, *rest: Value, **kwargs: Value
) -> Value:
    """`Color(2)` is the member of that value; `Enum("Color", "RED GREEN")` makes a class."""
    if isinstance(value, Unknown):
        return value
    if names is not MISSING or "names" in kwargs:
        if not members_of(cls):
            return functional(run, cls, value, kwargs.get("names", names))
        value = (value, names, *rest)
    if isinstance(value, Instance) and value.cls is cls:
        return value
    found = by_value(run, cls, value)
    if found is not None:
        return found
    missing = run.find(cls, "_missing_")
    if missing is not MISSING:
        made = run.call(missing, value)
        if made is not None:
            return made
    if cls.derives_from(FLAG):
        return combination(run, cls, value)
    text = to_repr(run, value)
    raise run.error("ValueError", f"{text if isinstance(text, str) else 'the value'} is not a valid {cls.name}")


meta["__members__"] = Property(Native("__members__", lambda run, cls: dict(members_of(cls))))
META = Class("EnumType", (TYPE,), dict(meta), module="enum")


def functional(run: Runtime, cls: Class, name: Value, members: Value) -> Value:
    """`Enum("Colour", "RED GREEN")`: a new enum."""
    plain = payload(members)
    if isinstance(plain, str):
        plain = plain.replace(",", " ").split()
    if isinstance(plain, dict):
        pairs: Any = entries(run, plain)
    else:
        found = run.items(plain)
        if isinstance(found, Unknown):
            return found
        pairs = [each if isinstance(each, (tuple, list)) else (each, at) for at, each in enumerate(found, 1)]
    if isinstance(pairs, Unknown):
        return pairs
    words = {payload(word): value for word, value in pairs}
    if not all(isinstance(word, str) for word in (payload(name), *words)):
        raise TypeError("the names of an enum and of its members are text")
    made = Class(payload(name), (cls,), words, site=run.here())
    made.facts["metaclass"] = cls.facts.get("metaclass", META)
    make_members(run, made)
    return made


# Making members


def is_member(cls: Class, name: str, value: Value) -> bool:
    """Whether a name of a class statement is a member: no dunder, no `_sunder_`, no method or property."""
    if (name.startswith("_") and name.endswith("_")) or name.startswith(f"_{cls.name.lstrip('_')}__"):
        return False
    if isinstance(value, Instance):
        return value.cls is not NONMEMBER and (value.cls is MEMBER or special(value, "__get__") is None)
    return not (
        isinstance(value, (Native, Property, StaticMethod, ClassMethod, Class)) or type(value).__name__ == "Function"
    )


def make_members(run: Runtime, cls: Class, **kwargs: Value) -> None:
    """Turn the plain values of a class statement into members, in order."""
    if not cls.derives_from(ENUM):
        return
    found: dict[str, Instance] = {}
    cls.facts["members"] = found
    # Methods of enums that make other ones ask a member for it.
    cls.namespace["_member_map_"] = found
    cls.facts["atomic"] = True
    before: list[Value] = []
    ignored = cls.namespace.get("_ignore_", ())
    left_out = ignored.split() if isinstance(ignored, str) else list(ignored)
    run.changed(cls.namespace)
    for name, value in list(cls.namespace.items()):
        if name in left_out or not is_member(cls, name, value):
            if isinstance(value, Instance) and value.cls is NONMEMBER:
                cls.namespace[name] = value.attributes["value"]
            continue
        # It is held against each of those before it.
        run.spend(2 + len(found) // 8)
        if isinstance(value, Instance) and value.cls is MEMBER:
            value = value.attributes["value"]
        value = with_automatic(run, cls, name, value, before)
        member = make_member(run, cls, name, value, found)
        before.append(member.attributes["_value_"])
        found[name] = member
        cls.namespace[name] = member
    own = {word for each in cls.mro for word in each.namespace if isinstance(each.namespace[word], Function)}
    shown = next((each.namespace[word] for each in cls.mro for word in SHOWN if word in each.namespace), MISSING)
    if isinstance(shown, Function) and shown is cls.find("__str__"):
        # A text or number that is mixed in is put into a text as the program's own `__str__` says.
        cls.namespace["__format__"] = Native("__format__", as_own_text)
    if any(each.host is not None and "__repr__" in each.namespace for each in cls.mro) and "__repr__" not in own:
        # Before that of the text or number.
        cls.namespace["__repr__"] = ENUM.namespace["__repr__"]


SHOWN = ("__format__", "__str__")


def as_own_text(run: Runtime, self: Instance, spec: str) -> Value:
    """`format(member, spec)` by `__str__`."""
    plain = to_str(run, self)
    return plain if isinstance(plain, Unknown) else format_value(run, plain, spec)


def with_automatic(run: Runtime, cls: Class, name: str, value: Value, before: list[Value]) -> Value:
    """The value that `auto()` stands for, also inside a tuple."""
    if isinstance(value, Instance) and value.cls is AUTO:
        return automatic(run, cls, name, before)
    if isinstance(value, tuple) and any(isinstance(part, Instance) and part.cls is AUTO for part in value):
        made = automatic(run, cls, name, before)
        return tuple(made if isinstance(part, Instance) and part.cls is AUTO else part for part in value)
    return value


def automatic(run: Runtime, cls: Class, name: str, before: list[Value]) -> Value:
    """The value of `auto()`: what `_generate_next_value_` says, else the next number."""
    hook = cls.find("_generate_next_value_")
    if hook is not MISSING:
        function = hook.function if isinstance(hook, (StaticMethod, ClassMethod)) else hook
        return run.call(function, name, 1, len(before), list(before))
    if cls.derives_from(STR_ENUM):
        return name.lower()
    numbers = [value for value in before if isinstance(value, int)]
    if cls.derives_from(FLAG):
        return 1 << max((number.bit_length() for number in numbers), default=0)
    return max(numbers) + 1 if numbers else 1


def make_member(run: Runtime, cls: Class, name: str, value: Value, found: dict[str, Instance]) -> Instance:
    """The member, or the earlier one of the same value, whose alias this name then is."""
    args = value if isinstance(value, tuple) else (value,)
    maker = next((base.namespace["__new__"] for base in cls.mro if user_defined(base, "__new__")), None)
    if maker is not None:
        maker = maker.function if isinstance(maker, StaticMethod) else maker
        member = run.call(maker, cls, *args)
        if not isinstance(member, Instance):
            member = Instance(cls, {"_value_": member if isinstance(member, Unknown) else value})
    else:
        host = next((base for base in cls.mro if base.host is not None), None)
        inner = run.construct(host, *args) if host is not None else None
        member = Instance(cls, payload=inner, site=run.here())
        if host is not None and not isinstance(value, tuple):
            value = inner
    member.attributes.setdefault("_value_", value)
    for other in found.values():
        if run.equal(other.attributes["_value_"], member.attributes["_value_"]) is True:
            return other
    member.attributes.update({"_name_": name, "__objclass__": cls, "_sort_order_": len(found)})
    initialiser = next((base.namespace["__init__"] for base in cls.mro if user_defined(base, "__init__")), None)
    if initialiser is not None:
        run.call(initialiser, member, *args)
    return member


def user_defined(cls: Class, name: str) -> bool:
    """A method of the program's own, or of a dataclass mixed in."""
    own = cls.namespace.get(name, MISSING)
    if own is MISSING or cls.module in ("builtins", "enum"):
        return False
    return not isinstance(own, Native) or "dataclass fields" in cls.facts


# What members have

enum = Names()
enum["__init_subclass__"] = ClassMethod(Native("__init_subclass__", make_members, propagate_unknown=False))
enum["name"] = Property(Native("name", lambda run, self: self.attributes["_name_"]))
enum["value"] = Property(Native("value", lambda run, self: self.attributes["_value_"]))


@enum.function("__str__")
def string(run: Runtime, self: Instance) -> str:
    """`str(member)`: "Colour.RED"."""
    return f"{self.cls.name}.{self.attributes['_name_']}"


@enum.function("__repr__")
def representation(run: Runtime, self: Instance) -> Value:
    """`repr(member)`: "<Colour.RED: 1>"."""
    text = to_repr(run, self.attributes["_value_"])
    return text if isinstance(text, Unknown) else f"<{self.cls.name}.{self.attributes['_name_']}: {text}>"


ENUM = native_class("Enum", dict(enum), module="enum", metaclass=META)

plain_text: dict[str, Value] = {
    "__str__": Native("__str__", lambda run, self: to_str(run, self.payload)),
    "__format__": Native("__format__", lambda run, self, spec: format_value(run, self.payload, spec)),
}
INT_ENUM = Class("IntEnum", (INT, ENUM), dict(plain_text), module="enum", facts={"metaclass": META})
STR_ENUM = Class("StrEnum", (STR, ENUM), dict(plain_text), module="enum", facts={"metaclass": META})

# Flags

flags = Names()


def combination(run: Runtime, cls: Class, value: Value) -> Value:
    """The flag of this value, made up of the members' bits."""
    if not isinstance(value, int):
        return run.unknown("a flag's value is not known")
    exact = by_value(run, cls, value)
    if isinstance(exact, Instance):
        return exact
    members = canonical(cls)
    open_value = next((v for each in members if isinstance(v := each.attributes["_value_"], Unknown)), None)
    if open_value is not None:
        return open_value
    parts = [each.attributes["_name_"] for each in members if each.attributes["_value_"] & value]
    made = Instance(cls, {"_name_": "|".join(parts) or None, "_value_": value, "__objclass__": cls})
    made.payload = value if cls.derives_from(INT) else None
    return made


def bitwise(symbol: str) -> Native:
    """`|`, `&` or `^` of two flags, by the symbol."""

    def method(run: Runtime, self: Instance, other: Value) -> Value:
        right = other.attributes["_value_"] if isinstance(other, Instance) and other.cls is self.cls else other
        if not isinstance(right, int):
            return NotImplemented
        return combination(run, self.cls, run.operate(symbol, self.attributes["_value_"], right))

    return Native(symbol, method)


for _word, _symbol in (("__or__", "|"), ("__and__", "&"), ("__xor__", "^")):
    flags[_word] = flags[f"__r{_word[2:]}"] = bitwise(_symbol)


@flags.function("__invert__")
def invert(run: Runtime, self: Instance) -> Value:
    """`~flag`: all flags of the enum that it has not."""
    everything = 0
    for member in canonical(self.cls):
        everything |= member.attributes["_value_"]
    return combination(run, self.cls, everything & ~self.attributes["_value_"])


@flags.function("__contains__")
def has_flag(run: Runtime, self: Instance, other: Value) -> Value:
    """`other in flag`: whether all of the other's flags are set."""
    if not isinstance(other, Instance) or other.cls is not self.cls:
        raise TypeError("unsupported operand type(s) for 'in'")
    wanted, own = other.attributes["_value_"], self.attributes["_value_"]
    unknown = next((each for each in (wanted, own) if isinstance(each, Unknown)), None)
    return bool(wanted & own == wanted) if unknown is None else unknown


@flags.function("__bool__")
def flag_truth(run: Runtime, self: Instance) -> Value:
    """Whether a flag has any bit."""
    own = self.attributes["_value_"]
    return own if isinstance(own, Unknown) else bool(own)


@flags.function("__iter__")
def flag_members(run: Runtime, self: Instance) -> Value:
    """An iterator over the members whose bits a flag shares."""
    return iter([each for each in canonical(self.cls) if each.attributes["_value_"] & self.attributes["_value_"]])


FLAG = Class("Flag", (ENUM,), dict(flags), module="enum", facts={"metaclass": META})
INT_FLAG = Class("IntFlag", (INT, FLAG), dict(flags), module="enum", facts={"metaclass": META})

names.update({
    "Enum": ENUM, "IntEnum": INT_ENUM, "StrEnum": STR_ENUM, "Flag": FLAG, "IntFlag": INT_FLAG, "auto": AUTO,
    "EnumMeta": META, "EnumType": META, "member": MEMBER, "nonmember": NONMEMBER, "unique": identity("unique"),
    "verify": Native("verify", lambda run, *args: identity("verify")), "property": Native(
        "property", lambda run, fget=None, fset=None, *rest: Property(fget, fset)),
})  # fmt: skip

MODULES: dict[str, dict[str, Value]] = {"enum": names}
