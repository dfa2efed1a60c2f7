"""What `argparse`'s parsers make of their arguments: without any words, with a subcommand, with words of the code."""

from __future__ import annotations

import re
from dataclasses import field

from flake8_cnnmem.evaluate.builtins.concrete import concrete
from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class
from flake8_cnnmem.evaluate.stdlib.types import simple_equal, simple_repr
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Native, Value


@dataclass(frozen=True, slots=True)
class Argument:
    """One `add_argument`. `default` is MISSING where the code gives none."""

    flags: tuple[str, ...]
    dest: str
    action: Value
    default: Value
    type: Value
    nargs: Value
    const: Value
    required: bool
    choices: Value = None

    @property
    def positional(self) -> bool:
        """Whether the argument has no flags."""
        return not self.flags

    @property
    def shown(self) -> str:
        """As the command line has it: the longest flag, or the name of a positional argument."""
        return max(self.flags, key=len) if self.flags else self.dest


@dataclass(slots=True, eq=False)
class Options:
    """What a parser has been told. Groups share their parser's."""

    arguments: list[Argument]
    defaults: dict[str, Value]
    subparsers: list[Instance]
    subcommands: list[tuple[Value, bool]]
    """The `dest` of each `add_subparsers`, and whether one of its commands has to be given."""
    names: list[str] = field(default_factory=list)
    """The names of the subparsers, in their order."""
    lost: list[Unknown] = field(default_factory=list)
    """Why no default is what it was declared to be, if it is not."""
    abbreviated: bool = True
    """Whether `--wid` may stand for `--width`."""
    place: str = ""
    """Where the parser is made: what tells the questions of one from those of another, in every run."""


NAMESPACE = native_class("Namespace", {}, module="argparse")


def namespace_init(run: Runtime, self: Instance, /, **kwargs: Value) -> None:
    """`Namespace(**kwargs)`"""
    run.changed(self)
    self.attributes.update(kwargs)


NAMESPACE.namespace.update({
    "__init__": Native("__init__", namespace_init, propagate_unknown=False),
    "__contains__": Native("__contains__", lambda run, self, key: key in self.attributes),
    "__eq__": Native("__eq__", simple_equal),
    "__repr__": Native("__repr__", simple_repr),
    "_get_kwargs": Native("_get_kwargs", lambda run, self: list(self.attributes.items()), propagate_unknown=False),
    "_get_args": Native("_get_args", lambda run, self: [], propagate_unknown=False),
})  # fmt: skip


ACTION = native_class("Action", {"__init__": ignored("__init__")}, module="argparse")


BOOLEAN = native_class("BooleanOptionalAction", {}, ACTION, module="argparse")


def options(self: Instance) -> Options:
    """What an instance's parser has been told: nothing, if a subclass never initialised it."""
    if not isinstance(self.native, Options):
        self.native = Options([], {}, [], [])
    return self.native


def default_of(argument: Argument) -> Value:
    """The value of an argument that the command line does not give."""
    if argument.default is not MISSING:
        return argument.default
    return {"store_true": False, "store_false": True}.get(argument.action) if isinstance(argument.action, str) else None


def value_of(run: Runtime, argument: Argument, own: Options) -> Value:
    """What a run without this argument gives."""
    if argument.dest in own.defaults and (argument.default is MISSING or not argument.positional):
        return own.defaults[argument.dest]
    if own.lost and argument.flags:
        return own.lost[-1]
    if argument.default is MISSING and argument.required:
        return run.unknown(f"the argument {argument.shown} is not given")
    if argument.action == "store_true" and launches(run, argument, own):
        return True
    default = default_of(argument)
    if default is None and may_be_needed(run, argument, own):
        return run.unknown(f"the argument {argument.shown} is not given")
    if isinstance(default, str) and argument.type is not None:
        return run.call(argument.type, default)
    return [] if default is None and argument.positional and argument.nargs == "*" else default


LEFT_OUT, GIVEN = "left out", "given"


def may_be_needed(run: Runtime, argument: Argument, own: Options) -> bool:
    """Whether an option without a default is taken to be given: in a run of its own where the program stops without."""
    takes_a_value = argument.action == "store" and argument.nargs is None
    if not argument.flags or argument.required or not takes_a_value or argument.dest == "help":
        return False
    return run.choose(f"{own.place} options", (LEFT_OUT, GIVEN), only_if_stopped=True) == GIVEN


OF_LAUNCH = ("distributed", "ddp")
"""What flags are called that start a program on the GPUs of a machine."""


def launches(run: Runtime, argument: Argument, own: Options) -> bool:
    """Whether a flag that starts processes is taken to be given: in a run of its own where the program refuses to go on
    without ("Only DistributedDataParallel is supported.")."""
    if not any(word in argument.dest for word in OF_LAUNCH):
        return False
    return run.choose(f"{own.place} {argument.dest}", (LEFT_OUT, GIVEN), only_if_stopped=True) == GIVEN


def defaults(run: Runtime, self: Instance) -> dict[str, Value]:
    """By name what `parse_args([])` gives."""
    own = options(self)
    found = dict(own.defaults)
    for argument in own.arguments:
        if argument.action in ("help", "version") or argument.dest == "help":
            continue
        found[argument.dest] = value_of(run, argument, own)
    if subcommand_chosen(run, own, found):
        return found
    for dest, required in own.subcommands:
        if isinstance(payload(dest), str):
            found[payload(dest)] = run.unknown("the command line's subcommand has no default") if required else None
    add_subcommands(run, own, found)
    return found


NONE = "none"


def subcommand_chosen(run: Runtime, own: Options, found: dict[str, Value]) -> bool:
    """Take one subcommand with its options, another one in each run of the program; False where it is not run so."""
    if not own.subparsers:
        return False
    required = any(each for _, each in own.subcommands)
    answers = [*own.names, *(() if required else (NONE,))]
    chosen = run.choose(f"{own.place} subcommand", answers)
    if chosen is None:
        return False
    for dest, _ in own.subcommands:
        if isinstance(payload(dest), str):
            found[payload(dest)] = None if chosen == NONE else chosen
    if chosen != NONE:
        found.update(defaults(run, own.subparsers[own.names.index(chosen)]))
    return True


def add_subcommands(run: Runtime, own: Options, found: dict[str, Value]) -> None:
    """Options of subcommands count where all subcommands that have them agree."""
    results = [defaults(run, parser) for parser in own.subparsers]
    for dest in {dest: None for result in results for dest in result}:
        values = [result[dest] for result in results if dest in result]
        if len(values) > 1 and all(isinstance(value, Function) for value in values):
            found[dest] = each_command([(result[dest], result) for result in results if dest in result])
            continue
        agreed = all(values[0] is value or run.equal(values[0], value) is True for value in values[1:])
        found.setdefault(dest, values[0] if agreed else run.unknown(f"the subcommand that sets {dest} is not known"))


def each_command(commands: list[tuple[Value, dict[str, Value]]]) -> Native:
    """`args.func(args)` where each subcommand sets its own function: nobody can tell which one a user means, so each is
    run, with its own options."""

    def run_each(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        for function, own in commands:
            given = tuple(specialised(arg, own) for arg in args)
            run.attempt(function, *given, **kwargs)
        return run.unknown("which subcommand is run is not known")

    return Native("subcommand", run_each, propagate_unknown=False)


def specialised(arg: Value, own: dict[str, Value]) -> Value:
    """The namespace that a subcommand's own options give."""
    if not isinstance(arg, Instance) or arg.cls is not NAMESPACE:
        return arg
    return Instance(NAMESPACE, {**arg.attributes, **own}, site=arg.site)


def parse(run: Runtime, self: Instance, args: Value, namespace: Value) -> tuple[Value, list[Value]]:
    """A namespace and the words that are left. Without `args` the command line is not known: defaults, where no list is
    given."""
    result = namespace if isinstance(namespace, Instance) else Instance(NAMESPACE, site=run.here())
    found = defaults(run, self)
    words = [] if args is None else concrete(run, run.items(args))
    rest: list[Value] = []
    if isinstance(words, Unknown):
        found = dict.fromkeys(found, words)
    elif words:
        rest = read(run, options(self), [str(word) for word in words], found)
    run.changed(result)
    for dest, value in found.items():
        if namespace is None or dest not in result.attributes:
            result.attributes[dest] = value
    return result, rest


def read(run: Runtime, own: Options, words: list[str], found: dict[str, Value]) -> list[Value]:
    """Take the arguments that the code itself lists; gives those that no argument takes."""
    by_flag = {flag: argument for argument in own.arguments for flag in argument.flags}
    switched = [argument for argument in own.arguments if argument.action is BOOLEAN]
    by_flag.update({f"--no-{flag[2:]}": each for each in switched for flag in each.flags if flag.startswith("--")})
    positional = [argument for argument in own.arguments if argument.positional]
    rest: list[Value] = []
    at = 0
    while at < len(words):
        run.spend(1)
        if words[at] not in by_flag and SHORT.match(words[at]) and words[at][:2] in by_flag:
            # `-vv` is `-v -v`, `-n8` is `-n 8`.
            first, behind = words[at][:2], words[at][2:]
            words = [*words[:at], first, behind if takes_value(by_flag[first]) else f"-{behind}", *words[at + 1 :]]
        flag, equals, attached = words[at].partition("=")
        if own.abbreviated and flag.startswith("--") and len(flag) > len("--") and flag not in by_flag:
            meant = [each for each in by_flag if each.startswith(flag)]
            if len(meant) > 1:
                raise run.error("SystemExit", "2")
            flag = meant[0] if meant else flag
            words = [*words[:at], f"{flag}{equals}{attached}", *words[at + 1 :]]
        argument = by_flag.get(words[at]) or (by_flag.get(flag) if equals else None)
        if argument is None and not words[at].startswith("-") and positional:
            argument = positional.pop(0)
            at -= 1
        if argument is None and words[at] in own.names:
            return rest + read_subcommand(run, own, words[at:], found)
        if argument is None:
            rest.append(words[at])
            at += 1
            continue
        if argument.action is BOOLEAN:
            found[argument.dest] = not flag.startswith("--no-")
            at += 1
            continue
        if equals and flag in by_flag:
            taken, at = [attached], at + 1
        else:
            taken = follow(words[at + 1 :], argument)
            at += 1 + len(taken)
        found[argument.dest] = given(run, argument, taken, found.get(argument.dest))
    return rest


def read_subcommand(run: Runtime, own: Options, words: list[str], found: dict[str, Value]) -> list[Value]:
    """Take a subcommand and its arguments; gives those that no argument takes."""
    name, *others = words
    parser = own.subparsers[own.names.index(name)]
    found.update({payload(dest): name for dest, _ in own.subcommands if isinstance(payload(dest), str)})
    found.update(defaults(run, parser))
    return read(run, options(parser), others, found)


SHORT = re.compile(r"-[^-\d.=][^=]")
"""How several flags of one letter begin, or one with its value behind it."""


def takes_value(argument: Argument) -> bool:
    """Whether words belong to an argument behind its flag."""
    alone = ("store_true", "store_false", "store_const", "count", "append_const")
    return argument.action not in alone and argument.action is not BOOLEAN


def follow(words: list[str], argument: Argument) -> list[str]:
    """The words that belong to an argument."""
    if not takes_value(argument):
        return []
    limit = argument.nargs if isinstance(argument.nargs, int) else len(words)
    if argument.nargs is None or argument.nargs == "?":
        limit = 1
    taken: list[str] = []
    for word in words[:limit]:
        if word.startswith("-") and not word.lstrip("-").replace(".", "").isdigit():
            break
        taken.append(word)
    return taken


def given(run: Runtime, argument: Argument, words: list[str], before: Value) -> Value:
    """The value of an argument for the words behind its flag, converted by its `type`; `before` is what it has."""
    gathered: list[Value] = list(before) if isinstance(before, (list, tuple)) else []
    if argument.action == "count":
        return (before if isinstance(before, int) else 0) + 1
    if argument.action == "append_const":
        return [*gathered, argument.const]
    if argument.action in ("store_true", "store_false"):
        return argument.action == "store_true"
    if argument.action == "store_const" or (not words and argument.nargs == "?"):
        return argument.const
    if not isinstance(argument.action, str):
        return run.unknown(f"what the action of {argument.shown} makes of it is not followed")
    values = [run.call(argument.type, word) if argument.type is not None else word for word in words]
    for value in values if argument.choices is not None else ():
        if run.operate("in", value, argument.choices) is False:
            raise run.error("SystemExit", "2")
    if argument.action == "extend":
        return [*gathered, *values]
    single = argument.nargs in (None, "?") and bool(values)
    if argument.action == "append":
        return [*gathered, values[0] if single else values]
    return values[0] if single and argument.action == "store" else values
