"""Command lines beside `argparse`: click, typer, fire. A script is taken to be run without arguments.

An option without a default that has to be given is unknown. Of a group's commands each is run: nobody can tell which
one a user means, and those that train say so themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import Any, cast

from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.stdlib.modules import identity, ignored, native_class
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.values import MISSING, Bound, Class, Instance, Native, Value, native


@dataclass(frozen=True, slots=True)
class CommandOption:
    """One parameter: the name that the function takes it by, and what it is without being given."""

    name: str
    default: Value
    type: Value
    required: bool
    flag: bool
    several: bool
    argument: bool

    @property
    def shown(self) -> str:
        """As the command line has it."""
        return self.name if self.argument else f"--{self.name.replace('_', '-')}"


@dataclass(slots=True, eq=False)
class Command:
    """A function with its options; a group has commands of its own."""

    function: Value
    options: list[CommandOption] = field(default_factory=list)
    commands: list[Instance] = field(default_factory=list)
    context: bool = False
    group: bool = False


def one_command(run: Runtime, question: str, commands: Mapping[str, Callable[[], Value]]) -> Value:
    """Run the command that this run of the program is for; where it is not run as one, each in turn."""
    if len(commands) == 1:
        return next(iter(commands.values()))()
    site = run.here()
    place = f"{site.path}:{site.line}:{site.column}" if site is not None else ""
    chosen = run.choose(f"{place} {question}", list(commands)) if commands else None
    if chosen is not None:
        return commands[chosen]()
    results = [run.attempt(native("command", lambda run, each=each: each())) for each in commands.values()]
    return next((result for result in results if result is not None), None)


def numbered(functions: Sequence[Value]) -> list[str]:
    """A name for each of several commands, the same in every run."""
    return [f"{at} {getattr(function, 'name', '')}" for at, function in enumerate(functions)]


# click


def option_of(flags: tuple[Value, ...], settings: dict[str, Value], argument: bool) -> CommandOption | None:
    """What `click.option(*flags, **settings)` declares; None where its name is not known."""
    texts = [payload(flag) for flag in flags]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    plain = [text for text in texts if not text.startswith("-")]
    flagged = [text.partition("/")[0] for text in texts if text.startswith("-")]
    longest = sorted(flagged, key=lambda text: -(len(text) - len(text.lstrip("-"))))
    name = (plain[0] if plain else longest[0].lstrip("-")).replace("-", "_").lower()
    flag = settings.get("is_flag") is True or any("/" in text for text in texts if text.startswith("-"))
    several = settings.get("multiple") is True or settings.get("nargs") == -1
    default = settings.get("default", MISSING)
    required = settings.get("required", argument and default is MISSING) is True
    kind = settings.get("type")
    return CommandOption(name, default, kind, required, flag or isinstance(default, bool), several, argument)


def value_of(run: Runtime, option: CommandOption) -> Value:
    """What a run without this option gives."""
    if option.default is not MISSING:
        default = option.default
        if isinstance(default, Function):
            default = run.call(default)
        converts = isinstance(option.type, Class) and option.type.host in (int, float, str)
        return run.call(option.type, default) if converts and isinstance(default, (str, int, float)) else default
    if option.required:
        return run.unknown(f"the argument {option.shown} is not given")
    return () if option.several else False if option.flag else None


def decorating(change: Any) -> Native:
    """A decorator that works on a command, made of the function where it is not one yet."""

    def decorate(run: Runtime, function: Value) -> Value:
        if isinstance(function, Instance) and isinstance(function.native, Command):
            command = function
        else:
            command = Instance(COMMAND, {"callback": function}, native=Command(function), site=run.here())
        change(command.native)
        return command

    return native("decorator", decorate)


def declaring(argument: bool) -> Native:
    def declare(run: Runtime, *flags: Value, **settings: Value) -> Value:
        option = option_of(flags, settings, argument)

        def add(command: Command) -> None:
            if option is not None:
                command.options.append(option)

        return decorating(add)

    return native("argument" if argument else "option", declare)


def making(group: bool) -> Native:
    """`click.command()`, also without parentheses."""

    def make(run: Runtime, name: Value = None, *args: Value, **settings: Value) -> Value:
        def mark(command: Command) -> None:
            command.group = group

        made = decorating(mark)
        return made.function(run, name) if isinstance(name, (Function, Instance, Native)) else made

    return native("group" if group else "command", make)


def with_context(run: Runtime, function: Value) -> Value:
    def mark(command: Command) -> None:
        command.context = True

    return decorating(mark).function(run, function)


def command_of(self: Instance) -> Command:
    """What a command was told: nothing, if the code made it by its class."""
    if not isinstance(self.native, Command):
        self.native = Command(None)
    return self.native


def run_command(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A command that is called as the program. Called by its callback's arguments it is the callback."""
    command = command_of(self)
    kwargs.pop("standalone_mode", None)
    kwargs.pop("prog_name", None)
    given = {word: value for word, value in kwargs.items() if word in {option.name for option in command.options}}
    values = {option.name: value_of(run, option) for option in command.options}
    context = Instance(CONTEXT, {"obj": kwargs.get("obj"), "invoked_subcommand": None, "params": values})
    leading = (context,) if command.context else ()
    result = run.call(command.function, *leading, **{**values, **given}) if command.function is not None else None
    if not command.commands:
        return result
    names = numbered(command.commands)
    inner = {
        name: partial(run_command, run, each, **kwargs) for name, each in zip(names, command.commands, strict=True)
    }
    inner_result = one_command(run, "click", inner)
    return inner_result if result is None else result


def subcommand(group: bool) -> Native:
    """`@cli.command()`."""

    def make(run: Runtime, self: Instance, name: Value = None, *args: Value, **settings: Value) -> Value:
        def enter(run: Runtime, function: Value) -> Value:
            # What it makes is a decorator.
            decorator = cast("Native", making(group).function(run))
            made = decorator.function(run, function)
            commands = command_of(self).commands
            run.changed(commands)
            if isinstance(made, Instance):
                commands.append(made)
            return made

        plain = isinstance(name, (Function, Instance))
        return enter(run, name) if plain else native("decorator", enter)

    return native("command", make)


def add_command(run: Runtime, self: Instance, cmd: Value, name: Value = None) -> None:
    if isinstance(cmd, Instance) and isinstance(cmd.native, Command):
        commands = command_of(self).commands
        run.changed(commands)
        commands.append(cmd)


COMMAND = native_class(
    "Command",
    {
        "__call__": native("__call__", run_command),
        "main": native("main", run_command),
        "command": subcommand(False),
        "group": subcommand(True),
        "add_command": native("add_command", add_command),
    },
    module="click",
)
CONTEXT = native_class(
    "Context",
    {
        "ensure_object": native("ensure_object", lambda run, self, kind: ensured(run, self, kind)),
        "invoke": native("invoke", lambda run, self, function, *args, **kwargs: run.call(function, *args, **kwargs)),
        "exit": ignored("exit"),
        "abort": ignored("abort"),
    },
    module="click",
)


def ensured(run: Runtime, self: Instance, kind: Value) -> Value:
    if self.attributes.get("obj") is None:
        run.changed(self)
        self.attributes["obj"] = run.call(kind)
    return self.attributes["obj"]


def kind_of(name: str) -> Native:
    """click's types, none of which changes a default."""
    return native(name, lambda run, *args, **kwargs: None)


clicks: dict[str, Value] = {
    "option": declaring(False), "argument": declaring(True), "command": making(False), "group": making(True),
    "pass_context": native("pass_context", with_context), "Context": CONTEXT, "Command": COMMAND, "Group": COMMAND,
    **{name: kind_of(name) for name in ("Choice", "Path", "File", "IntRange", "FloatRange", "Tuple", "DateTime")},
    **dict.fromkeys(("INT", "FLOAT", "STRING", "BOOL", "UUID")),
    **{name: ignored(name) for name in ("echo", "secho", "clear", "pause", "open_file")},
    "style": identity("style"), "progressbar": identity("progressbar"),
    "version_option": native("version_option", lambda run, *args, **kwargs: identity("decorator")),
    "help_option": native("help_option", lambda run, *args, **kwargs: identity("decorator")),
    "confirmation_option": native("confirmation_option", lambda run, *args, **kwargs: identity("decorator")),
    "pass_obj": identity("pass_obj"),
}  # fmt: skip


# typer, fire: a function's own signature is the command line


def called_bare(run: Runtime, function: Value) -> Value:
    """A function or class with what its signature says, and Unknown for what has to be given."""
    own: Value = function
    skip = 0
    if isinstance(function, Bound):
        own, skip = function.function, 1
    if isinstance(function, Class):
        own, skip = function.find("__init__"), 1
    if not isinstance(own, Function):
        return run.call(function)
    names = own.parameters.positional[skip:]
    first = len(own.parameters.positional) - len(own.defaults) - skip
    given: dict[str, Value] = {}
    for at, name in enumerate(names):
        default = own.defaults[at - first] if at >= first else MISSING
        given[name] = declared(run, name, default)
    for name in own.parameters.keywords:
        given[name] = declared(run, name, own.keyword_defaults.get(name, MISSING))
    return run.call(function, **given)


def declared(run: Runtime, name: str, default: Value) -> Value:
    """A parameter's default: as it stands, or in `typer.Option(default)`."""
    if isinstance(default, Instance) and default.cls is PARAMETER:
        default = default.native
    if default is MISSING or default is ...:
        return run.unknown(f"the argument --{name.replace('_', '-')} is not given")
    return default


def parameter_new(run: Runtime, cls: Class, default: Value = ..., *args: Value, **kwargs: Value) -> Value:
    factory = kwargs.get("default_factory")
    return Instance(PARAMETER, native=run.call(factory) if factory is not None else default)


PARAMETER = native_class("ParameterInfo", {"__new__": native("__new__", parameter_new)}, module="typer")

apps = Names()


@apps.function("__init__", propagate_unknown=False)
def app_init(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> None:
    self.native = []


@apps.function("command", propagate_unknown=False)
def app_command(run: Runtime, self: Instance, name: Value = None, **kwargs: Value) -> Value:
    def enter(run: Runtime, function: Value) -> Value:
        run.changed(self.native)
        self.native.append(function)
        return function

    return native("decorator", enter)


apps["callback"] = native("callback", lambda run, self, *args, **kwargs: identity("decorator"))
apps["add_typer"] = native("add_typer", lambda run, self, typer_instance, **kwargs: self.native.append(typer_instance))


@apps.function("__call__", propagate_unknown=False)
def app_call(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    names = numbered(self.native)
    commands = {name: partial(each_command, run, each) for name, each in zip(names, self.native, strict=True)}
    return one_command(run, "typer", commands)


def each_command(run: Runtime, function: Value) -> Value:
    return run.call(function) if isinstance(function, Instance) else called_bare(run, function)


typers: dict[str, Value] = {
    "Typer": native_class("Typer", dict(apps), module="typer"),
    "Option": PARAMETER, "Argument": PARAMETER, "run": native("run", called_bare),
    **{name: ignored(name) for name in ("echo", "secho")}, "style": identity("style"),
}  # fmt: skip


def fire(run: Runtime, component: Value = None, command: Value = None, name: Value = None, **kwargs: Value) -> Value:
    """`fire.Fire(main)`. Of a dict, an object, a class that is made, and the module itself one function is run."""
    if component is None:
        frame: Any = getattr(run, "frame", None)
        component = functions_of(frame.module.variables) if frame is not None else {}
    if isinstance(component, Class):
        component = called_bare(run, component)
    if isinstance(component, Instance) and component.cls.site is not None:
        words = [word for cls in component.cls.mro for word in functions_of(cls.namespace)]
        component = {word: run.get(component, word) for word in words}
    if isinstance(component, dict):
        commands = {str(word): partial(called_bare, run, each) for word, each in component.items()}
        return one_command(run, "fire", commands)
    return called_bare(run, component)


def functions_of(names: Mapping[str, Value]) -> dict[str, Function]:
    """What fire makes commands of: functions without an underscore in front."""
    return {name: each for name, each in names.items() if isinstance(each, Function) and not name.startswith("_")}


fires: dict[str, Value] = {"Fire": native("Fire", fire)}
