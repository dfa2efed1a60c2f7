"""OmegaConf's interpolations: `${a.b}`, `${.sibling}`, `${dir}/x`, `${resolver:argument, ...}`, nested in each other.

A reference stands for what the other setting is when it is read, so each is noted with its place, and all are worked
out anew when a setting changes. https://omegaconf.readthedocs.io/en/latest/grammar.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.functions import functions
from flake8_cnnmem.evaluate.calls import evaluate_text
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Value, native

REFERENCES = "settings that refer to others"
RESOLVERS = "resolvers of settings"

DEEPEST = 12
"""So many references behind each other are followed."""

MOST = 2_000
"""So many references of a program are followed."""

RESOLVER = re.compile(r"\s*([A-Za-z_][\w.]*)\s*:(.*)", re.DOTALL)
KEY = re.compile(r"\[?([^.\[\]]+)\]?\.?")


@dataclass(slots=True, eq=False)
class Reference:
    """One setting whose text refers to others: the container that holds it, and those above, the outermost first."""

    container: Any
    key: Value
    text: str
    above: tuple[Any, ...]
    value: Value = None
    """What it was worked out to last: another value there is one that the program has put in its place."""


def noted(run: Runtime, root: Value) -> Value:
    """Settings whose references are noted and worked out."""
    if isinstance(payload(root), (dict, list)):
        found = run.data(REFERENCES)
        for container, key, text, above in referring(run, payload(root), ()):
            if len(found) >= MOST:
                container[key] = run.unknown("too many settings refer to others")
                continue
            run.changed(found)
            found[id(container), key] = Reference(container, key, text, above, text)
        refresh(run)
    return root


def referring(
    run: Runtime, container: Any, above: tuple[Any, ...]
) -> Iterator[tuple[Any, Value, str, tuple[Any, ...]]]:
    """The texts below a container that refer to other settings."""
    entries = list(container.items()) if isinstance(container, dict) else list(enumerate(container))
    for key, item in entries:
        run.spend(1)
        inner = payload(item)
        if isinstance(inner, str) and "${" in inner:
            yield container, key, inner, (*above, container)
        elif isinstance(inner, (dict, list)) and len(above) < DEEPEST:
            yield from referring(run, inner, (*above, container))


def refresh(run: Runtime) -> None:
    """Work all references out anew: a setting has changed."""
    found = run.data(REFERENCES)
    for at, reference in list(found.items()):
        run.spend(1)
        now = item_of(reference.container, reference.key)
        if now is not reference.value:
            # The program has put something else in its place.
            run.changed(found)
            del found[at]
            continue
        value = Resolution(run).of(reference, 0)
        if value is not now:
            run.changed(found)
            run.changed(reference.container)
            reference.container[reference.key] = value
            found[at] = Reference(reference.container, reference.key, reference.text, reference.above, value)


def text_of(run: Runtime, container: Any, key: Value) -> str | None:
    """The text of a setting that refers to others, and None of any other one."""
    reference = run.data(REFERENCES).get((id(container), key))
    if reference is None or item_of(container, key) is not reference.value:
        return None
    text: str = reference.text
    return text


def raw(run: Runtime, value: Value) -> Value:
    """Settings as plain containers, with the texts of what refers to others."""
    inner = payload(value)
    if isinstance(inner, dict):
        return {key: text_of(run, inner, key) or raw(run, item) for key, item in inner.items()}
    if isinstance(inner, (list, tuple)):
        return [text_of(run, inner, at) or raw(run, item) for at, item in enumerate(inner)]
    return value


def item_of(container: Any, key: Value) -> Value:
    """What a dict or list holds there, or MISSING."""
    if isinstance(container, dict):
        return container.get(key, MISSING)
    return container[key] if isinstance(key, int) and key < len(container) else MISSING


class Resolution:
    """What references stand for now."""

    def __init__(self, run: Runtime) -> None:
        self.run = run

    def of(self, reference: Reference, depth: int) -> Value:
        """What one reference stands for, or why that is not known."""
        if depth > DEEPEST:
            return self.run.unknown("settings refer to each other")
        return self.text(reference.text, reference.above, depth)

    def text(self, text: str, above: Sequence[Any], depth: int) -> Value:
        """The value of a text that is one reference; of one with others in it the text that comes out."""
        parts: list[Value] = []
        at = 0
        while at < len(text):
            if text.startswith("${", at):
                end = closing(text, at + 2)
                if end is None:
                    return self.run.unknown("a setting is made of others")
                parts.append(self.inner(text[at + 2 : end], above, depth))
                at = end + 1
            else:
                until = text.find("${", at)
                parts.append(text[at : until if until >= 0 else len(text)])
                at = until if until >= 0 else len(text)
        if len(parts) == 1:
            return parts[0]
        unknown = next((part for part in parts if isinstance(part, Unknown)), None)
        if unknown is not None:
            return unknown
        if any(not isinstance(part, (str, int, float, type(None))) for part in map(payload, parts)):
            return self.run.unknown("a setting is made of others")
        return "".join(str(payload(part)) for part in parts)

    def inner(self, text: str, above: Sequence[Any], depth: int) -> Value:
        """What stands between `${` and `}`: a resolver with its arguments, or the path of another setting."""
        call = RESOLVER.fullmatch(text)
        if call is not None:
            given = [self.argument(each, above, depth) for each in arguments_of(call[2])]
            return self.resolved(call[1], given, above, depth)
        path = self.text(text, above, depth) if "${" in text else text
        return path if isinstance(path, Unknown) else self.setting(str(payload(path)).strip(), above, depth)

    def setting(self, path: str, above: Sequence[Any], depth: int) -> Value:
        """The setting of a path: from the root, or, with dots before it, from where the reference stands."""
        dots = len(path) - len(path.lstrip("."))
        if dots > len(above):
            return self.run.unknown(f"the setting {path} is not known")
        through = list(above[: len(above) - dots + 1]) if dots else [above[0]]
        last: Value = MISSING
        for word in KEY.findall(path[dots:]):
            container = through[-1]
            key: Value = int(word) if isinstance(container, list) and word.isdigit() else word
            if isinstance(container, dict) and key not in container and word.isdigit():
                key = int(word)
            found = item_of(container, key) if isinstance(container, (dict, list)) else MISSING
            if found is MISSING:
                return self.run.unknown(f"the setting {path.strip('.')} is not known")
            reference = self.run.data(REFERENCES).get((id(container), key))
            if reference is not None and found is reference.value:
                found = self.of(reference, depth + 1)
            if isinstance(found, Unknown):
                return found
            through.append(payload(found))
            last = found
        return self.run.unknown(f"the setting {path} is not known") if last is MISSING else last

    def argument(self, text: str, above: Sequence[Any], depth: int) -> Value:
        """A resolver's argument: a reference, a quoted text, or what YAML makes of it."""
        if "${" in text:
            return self.text(text.strip("'\"") if text[:1] in "'\"" else text, above, depth)
        if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
            return text[1:-1]
        return read_yaml(self.run, text) if text else ""

    def resolved(self, name: str, given: list[Value], above: Sequence[Any], depth: int) -> Value:
        """What a resolver gives: OmegaConf's own ones, and those that the program has registered."""
        unknown = next((each for each in given if isinstance(each, Unknown)), None)
        own = self.run.data(RESOLVERS).get(name)
        first = given[0] if given else None
        if own is functions["eval"] and unknown is None and isinstance(first, str):
            return self.run.attempt(native("eval", lambda run: evaluate_text(run.frame, first, ())))
        if own is not None:
            return unknown or self.run.attempt(own, *given)
        if name in ("oc.select", "oc.dict.keys", "oc.dict.values") and given and isinstance(payload(given[0]), str):
            found = self.setting(payload(given[0]), above, depth)
            if name == "oc.select":
                return given[1] if isinstance(found, Unknown) and len(given) > 1 else found
            items = payload(found)
            if isinstance(items, dict):
                return list(items) if name == "oc.dict.keys" else list(items.values())
        if name in ("oc.env", "env") and len(given) > 1:
            # As for `os.environ.get`: where the program runs elsewhere, it says so itself.
            return given[1]
        if name in ("oc.decode", "oc.create") and given and unknown is None:
            return read_yaml(self.run, given[0]) if isinstance(given[0], str) else given[0]
        return unknown or self.run.unknown(f"what {name} gives for a setting is not known")


def closing(text: str, at: int) -> int | None:
    """Where the brace is closed that was opened before `at`."""
    ends = list(outside(text, at, lambda letter, depth: letter == "}" and depth == 0))
    return ends[0] if ends else None


def arguments_of(text: str) -> list[str]:
    """The arguments of a resolver, as they are written."""
    if not text.strip():
        return []
    cuts = [-1, *outside(text, 0, lambda letter, depth: letter == "," and depth == 0), len(text)]
    return [text[start + 1 : end].strip() for start, end in pairwise(cuts)]


def outside(text: str, at: int, wanted: Callable[[str, int], bool]) -> Iterator[int]:
    """The places of wanted letters outside of quotes, by how deep they lie in brackets."""
    depth, quote = 0, ""
    for place in range(at, len(text)):
        letter = text[place]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif wanted(letter, depth):
            yield place
        elif letter in "{[(":
            depth += 1
        elif letter in "}])":
            depth -= 1
