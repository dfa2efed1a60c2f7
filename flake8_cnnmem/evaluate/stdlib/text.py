"""`re`, `fnmatch`, `string`, `textwrap`, `pickle`: what works on text that the code holds."""

from __future__ import annotations

import fnmatch
import re
import string
import textwrap
from collections.abc import Callable
from typing import Any

from flake8_cnnmem.evaluate.builtins.concrete import concrete, pure
from flake8_cnnmem.evaluate.builtins.declare import Names, payload
from flake8_cnnmem.evaluate.builtins.exceptions import EXCEPTIONS
from flake8_cnnmem.evaluate.stdlib import regex_cost
from flake8_cnnmem.evaluate.stdlib.modules import ignored, native_class, unfollowed
from flake8_cnnmem.evaluate.stdlib.regex_cost import WIDEST, spans
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Property, Value

PATTERN_LENGTH = 200
WORDS_LENGTH = 8_000
TEXT_LENGTH = 1000
"""Beyond these a regular expression is not matched."""

ASKED_STEPS = 20
"""What a match costs beside the places that it tries."""


patterns = Names()
matches = Names()
PATTERN = native_class("Pattern", patterns, module="re")
MATCH = native_class("Match", matches, module="re")
ERROR = Class("error", (EXCEPTIONS["Exception"],), module="re")
regular = Names({"Pattern": PATTERN, "Match": MATCH, "error": ERROR, "PatternError": ERROR})
for _name in ("A", "ASCII", "I", "IGNORECASE", "L", "LOCALE", "M", "MULTILINE", "S", "DOTALL", "U", "UNICODE", "X",
              "VERBOSE", "NOFLAG"):  # fmt: skip
    if hasattr(re, _name):
        regular[_name] = int(getattr(re, _name))


def compiled(run: Runtime, pattern: Value, flags: Value = 0) -> Any:
    """The host's pattern, or Unknown for one that is not known, too long or may not end."""
    if isinstance(pattern, Instance) and pattern.cls is PATTERN:
        return pattern.native
    plain = concrete(run, (pattern, flags))
    if isinstance(plain, Unknown):
        return plain
    source, bits = plain
    # A choice of many words is long, and matched in no time.
    repeats = any(sign in source for sign in ("*+?{" if isinstance(source, str) else b"*+?{"))
    if len(source) > (PATTERN_LENGTH if repeats else WORDS_LENGTH):
        return run.unknown("a regular expression is too long to be matched safely")
    bits = int(bits) & ~re.DEBUG
    try:
        tree = regex_cost.parsed(source, bits)
        if spans(tree) > WIDEST and tree.state.flags & re.IGNORECASE:
            return run.unknown("a regular expression takes too long to be compiled")
        run.spend(len(source))
        return re.compile(source, bits)
    except (RecursionError, OverflowError):
        return run.unknown("a regular expression is too complex to be compiled")
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None


def subject(run: Runtime, pattern: re.Pattern[Any], text: Value) -> Any:
    """The text to be matched, or Unknown if matching could take too long."""
    plain = concrete(run, text)
    if isinstance(plain, Unknown):
        return plain
    if len(plain) > TEXT_LENGTH:
        return run.unknown("a text is too long to be matched safely")
    run.spend(ASKED_STEPS)
    tried = regex_cost.places(pattern, len(plain))
    if tried is None:
        return run.unknown("a regular expression may take too long to match")
    run.spend(tried // 64 + 1)
    return plain


def as_value(found: re.Match[Any] | None) -> Instance | None:
    """A host's match as a value of the program; None for no match."""
    return None if found is None else Instance(MATCH, native=found)


@regular.function("compile")
def compile_(run: Runtime, pattern: Value, flags: Value = 0) -> Value:
    """`re.compile(pattern, flags)`, or why the pattern is not followed."""
    made = compiled(run, pattern, flags)
    return made if isinstance(made, Unknown) else Instance(PATTERN, native=made)


def operation(word: str, function: Callable[..., Any], arguments: int) -> None:
    """A function of `re` and the method of the same name on patterns. `function(run, pattern, text, *rest)`.

    `arguments` are those before the flags, which only the function of the module takes.
    """

    @regular.function(word)
    def from_module(run: Runtime, pattern: Value, *args: Value, flags: Value = 0, **kwargs: Value) -> Value:
        args, flags = args[:arguments], args[arguments] if len(args) > arguments else flags
        made = compiled(run, pattern, flags)
        return made if isinstance(made, Unknown) else function(run, made, *args, **kwargs)

    @patterns.function(word)
    def from_pattern(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
        return function(run, self.native, *args, **kwargs)


def matcher(word: str) -> Callable[..., Value]:
    """`pattern.match` and its like: a match or None."""

    def match(run: Runtime, pattern: re.Pattern[Any], string: Value, *span: Value) -> Value:
        text = subject(run, pattern, string)
        return text if isinstance(text, Unknown) else as_value(getattr(pattern, word)(text, *span))

    return match


for _name in ("match", "search", "fullmatch"):
    operation(_name, matcher(_name), 1)


def find_all(run: Runtime, pattern: re.Pattern[Any], string: Value, *span: Value) -> Value:
    """`pattern.findall(string)`"""
    text = subject(run, pattern, string)
    return text if isinstance(text, Unknown) else pattern.findall(text, *map(payload, span))


def find_iter(run: Runtime, pattern: re.Pattern[Any], string: Value, *span: Value) -> Value:
    """`pattern.finditer(string)`"""
    text = subject(run, pattern, string)
    if isinstance(text, Unknown):
        return text
    return iter([as_value(each) for each in pattern.finditer(text, *map(payload, span))])


def split(run: Runtime, pattern: re.Pattern[Any], string: Value, maxsplit: int = 0) -> Value:
    """`pattern.split(string, maxsplit)`"""
    text = subject(run, pattern, string)
    return text if isinstance(text, Unknown) else pattern.split(text, maxsplit)


def expanded(run: Runtime, found: re.Match[Any], template: Any) -> Any:
    """A template with the groups in it, each of which may be as long as the text."""
    references = template.count("\\" if isinstance(template, str) else b"\\")
    run.check_size(len(template) + references * len(found.string))
    return found.expand(template)


def substitute(run: Runtime, pattern: re.Pattern[Any], repl: Value, string: Value, count: int = 0) -> Value:
    """`pattern.sub(repl, string, count)`: the replacement a text or a function of the match."""
    text = subject(run, pattern, string)
    if isinstance(text, Unknown):
        return text
    pieces: list[Any] = []
    at = 0
    for number, found in enumerate(pattern.finditer(text)):
        if count and number >= count:
            break
        plain = payload(repl)
        if isinstance(plain, (str, bytes)):
            piece = expanded(run, found, plain)
        else:
            piece = payload(run.call(repl, as_value(found)))
        if isinstance(piece, Unknown):
            return piece
        pieces += [text[at : found.start()], piece]
        at = found.end()
        run.check_size(sum(map(len, pieces)))
    return (text[:0]).join([*pieces, text[at:]])


operation("findall", find_all, 1)
operation("finditer", find_iter, 1)
operation("split", split, 2)
operation("sub", substitute, 3)
regular["escape"] = pure("escape", re.escape, lambda pattern: 2 * len(pattern))
regular["purge"] = ignored("purge")


def native_property(word: str) -> Property:
    """A property that the host's object answers."""
    return Property(Native(word, lambda run, self, /: getattr(self.native, word)))


def match_method(word: str) -> Native:
    """A method that the host's match answers."""
    return Native(word, lambda run, self, /, *args: getattr(self.native, word)(*map(payload, args)))


for _name in ("pattern", "flags", "groups"):
    patterns[_name] = native_property(_name)
for _name in ("group", "groups", "groupdict", "start", "end", "span", "__getitem__"):
    matches[_name] = match_method(_name)
for _name in ("string", "pos", "endpos", "lastindex", "lastgroup"):
    matches[_name] = native_property(_name)


@matches.function("expand")
def expand(run: Runtime, self: Instance, template: Value, /) -> Value:
    """`match.expand(template)`"""
    return expanded(run, self.native, payload(template))


strings: dict[str, Value] = {
    word: getattr(string, word)
    for word in (
        "ascii_letters",
        "ascii_lowercase",
        "ascii_uppercase",
        "digits",
        "hexdigits",
        "octdigits",
        "punctuation",
        "printable",
        "whitespace",
    )
}
strings["capwords"] = pure("capwords", string.capwords)
strings["Template"] = native_class("Template", {"__init__": ignored("__init__")}, module="string")
strings["Formatter"] = native_class("Formatter", {}, module="string")

wrapping: dict[str, Value] = {"dedent": pure("dedent", textwrap.dedent)}
for _name in ("wrap", "fill", "shorten", "indent"):
    wrapping[_name] = unfollowed(f"textwrap.{_name}")

# Names that a pattern of the shell fits

shell: dict[str, Value] = {"translate": pure("translate", fnmatch.translate)}


def fits(run: Runtime, name: Value, pattern: Value) -> Value:
    """`fnmatch.fnmatch(name, pat)`; where a GPU is, capitals count."""
    text = concrete(run, pattern)
    made = text if isinstance(text, Unknown) else compiled(run, fnmatch.translate(text), 0)
    if isinstance(made, Unknown):
        return made
    plain = subject(run, made, name)
    return plain if isinstance(plain, Unknown) else made.match(plain) is not None


def fitting(run: Runtime, names: Value, pattern: Value) -> Value:
    """`fnmatch.filter(names, pat)`: those that fit, in order."""
    items = run.items(names)
    if isinstance(items, Unknown):
        return items
    found: list[Value] = []
    for name in items:
        fit = fits(run, name, pattern)
        if isinstance(fit, Unknown):
            return fit
        found += [name] if fit else []
    return found


for _name in ("fnmatch", "fnmatchcase"):
    shell[_name] = Native(_name, fits)
shell["filter"] = Native("filter", fitting)

# What is pickled

pickling: dict[str, Any] = {
    "load": unfollowed("pickle.load"), "loads": unfollowed("pickle.loads"), "dump": ignored("dump"),
    "dumps": unfollowed("pickle.dumps"), "HIGHEST_PROTOCOL": 5, "DEFAULT_PROTOCOL": 4,
    "PickleError": Class("PickleError", (EXCEPTIONS["Exception"],), module="pickle"),
}  # fmt: skip
pickling["UnpicklingError"] = Class("UnpicklingError", (pickling["PickleError"],), module="pickle")

MODULES: dict[str, dict[str, Value]] = {
    "re": regular, "string": strings, "textwrap": wrapping, "pickle": pickling, "fnmatch": shell,
}  # fmt: skip
