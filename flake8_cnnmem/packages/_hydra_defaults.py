"""How hydra composes a configuration: a file over those that its `defaults` name, group by group.

Packages, overrides and their order as https://hydra.cc/docs/advanced/defaults_list/ has them.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from flake8_cnnmem.evaluate.builtins.declare import payload
from flake8_cnnmem.evaluate.builtins.files import text
from flake8_cnnmem.evaluate.stdlib.data import read_yaml
from flake8_cnnmem.packages._config_objects import fields_of, held, merge_into, plain
from flake8_cnnmem.packages.omegaconf import CONFIG
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

STORE = "hydra configs"
DEEPEST = 8
ROUNDS = 4
"""So often choices are gone through that other choices override."""

HEADER = re.compile(r"^\s*#\s*@package\s+(\S+)", re.MULTILINE)
SELF = "_self_"


class Composition:
    """One configuration in the making: the folder of its groups, and the choices that override those of its files."""

    def __init__(self, run: Runtime, base: str, choices: dict[str, Value]) -> None:
        self.run = run
        self.base = base
        self.choices = choices
        self.groups: set[str] = set()
        """The groups that were asked for, by path and, after an `@`, package."""
        self.result = Instance(CONFIG, payload={})

    def whole(self, name: str) -> Value:
        """The settings of a primary file as a dict, or why they are not known."""
        for _ in range(ROUNDS):
            before = dict(self.choices)
            self.result, self.groups = Instance(CONFIG, payload={}), set()
            cause = self.file("", name, "", 0)
            if cause is not None:
                return cause
            if self.choices == before:
                break
        return plain(self.result)

    def file(self, group: str, name: str, package: str, depth: int, missing_ok: bool = False) -> Unknown | None:
        """Take in one file of a group, and what it names; why that is not known, or None."""
        stored = self.run.data(STORE).get((group, name) if group else name)
        own, header = (self.stored(stored), "") if stored is not None else self.read(group, name)
        if isinstance(own, Unknown):
            return None if missing_ok else own
        if not isinstance(own, dict) or depth > DEEPEST:
            return None
        if header:
            package = self.absolute(header, group)
        own = dict(own)
        listed = own.pop("defaults", [])
        entries = [each for each in listed if each is not None] if isinstance(listed, list) else []
        if SELF not in entries:
            entries = [*entries, SELF]
        for entry in entries:
            if entry == SELF:
                self.take(package, own)
                continue
            cause = self.entry(entry, group, package, depth)
            if cause is not None:
                return cause
        return None

    def entry(self, entry: Value, group: str, package: str, depth: int) -> Unknown | None:
        """One line of a defaults list: a file beside, a choice of a group, or one that overrides another choice."""
        if isinstance(entry, str):
            path, _, where = entry.partition("@")
            folder, name = posixpath.split(path)
            inside = folder.strip("/") if path.startswith("/") else posixpath.join(group, folder).strip("/")
            at = self.joined(package, where) if where else package
            return self.file(inside, name, at, depth + 1)
        parts: Any = payload(entry)
        for key, choice in parts.items() if isinstance(parts, dict) else ():
            words = str(key).split()
            path, _, where = words[-1].partition("@")
            if "hydra" in (path, path.partition("/")[0]):
                continue
            inside = path.strip("/") if path.startswith("/") else posixpath.join(group, path).strip("/")
            at = self.joined(package, where or path.strip("/").replace("/", "."))
            asked = f"{inside}@{where}" if where else inside
            if words[0] == "override":
                self.choices.setdefault(asked, choice)
                continue
            self.groups.add(asked)
            chosen = self.choices.get(asked, choice)
            for each in chosen if isinstance(chosen, list) else [chosen]:
                if each is None:
                    continue
                if not isinstance(each, str) or "${" in each or each == "???":
                    return self.run.unknown(f"which settings of {path} hydra loads is not known")
                cause = self.file(inside, each, at, depth + 1, words[0] == "optional")
                if cause is not None:
                    return cause
        return None

    def read(self, group: str, name: str) -> tuple[Value, str]:
        """A file's settings, and the package that its first comment names."""
        file = name if name.endswith((".yaml", ".yml")) else f"{name}.yaml"
        found = text(self.run, posixpath.join(self.base, group, file))
        if isinstance(found, Unknown):
            return found, ""
        header = HEADER.search(found) if isinstance(found, str) else None
        return read_yaml(self.run, found), header[1] if header is not None else ""

    def stored(self, node: Value) -> Value:
        """What a program has put into hydra's store: a dict, a dataclass or an object of one."""
        return fields_of(plain(self.run.attempt(node) if isinstance(node, Class) else node))

    def joined(self, package: str, inner: str) -> str:
        """A package within another one; `_global_` begins anew, `_here_` is the other one."""
        if inner.startswith("_global_"):
            return inner.removeprefix("_global_").strip(".")
        inner = inner.removeprefix("_here_").strip(".")
        return f"{package}.{inner}".strip(".") if inner else package

    def absolute(self, header: str, group: str) -> str:
        """The package that a file's header names."""
        if header == "_group_":
            return group.replace("/", ".")
        return header.removeprefix("_global_").strip(".")

    def take(self, package: str, own: dict[Value, Value]) -> None:
        """Merge a file's own settings under a package."""
        inner: Any = own
        for word in reversed(package.split(".") if package else []):
            inner = {word: inner}
        merge_into(self.result, held(CONFIG, inner))
