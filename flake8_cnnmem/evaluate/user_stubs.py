"""The modules that a project's stubs describe: they stand in the place of their source, which is not Python."""

from __future__ import annotations

from collections.abc import Mapping

from flake8_cnnmem import frameworks
from flake8_cnnmem.stubs.reading import BadStub, Imported, StubModule, located, read_stub
from flake8_cnnmem.text.files import DISK, Files
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Namespace, Value


class Stubs:
    """The stubs of one folder, each read once for an evaluation. Without a folder there are none."""

    def __init__(self, folder: str = "", files: Files = DISK) -> None:
        self.folder = folder
        self.files = files
        self.modules: dict[str, Namespace | None] = {}

    def find_module(self, dotted: str) -> Namespace | None:
        """The module that a stub of this name describes, or None."""
        if not self.folder:
            return None
        if dotted not in self.modules:
            place = located(self.folder, dotted, self.files)
            self.modules[dotted] = None if place is None else self.described(dotted, *place)
        return self.modules[dotted]

    def described(self, dotted: str, path: str, package: bool) -> Namespace:
        """The module that a stub describes; every name is unknown where the stub makes no sense."""
        try:
            stub = read_stub(path, dotted, package, self.files)
        except BadStub as error:
            cause = Unknown(f"a stub makes no sense: {error.reason}", path, error.line)
            return Namespace(dotted, lambda name: cause)
        values = frameworks.bound_stub(stub)
        return Namespace(dotted, lambda name: self.member(stub, values, name), holds=lambda name: True)

    def member(self, stub: StubModule, values: Mapping[str, Value], name: str) -> Value:
        """A name of a stub: its own, or that of the stub which it comes from."""
        if name in values:
            return values[name]
        if name in stub.constants:
            value = stub.constants[name]
            return Unknown("the stub does not say the value", stub.path) if value is Ellipsis else value
        source = stub.members.get(name)
        if isinstance(source, Imported):
            return self.imported(source.module, source.name)
        for module in stub.stars:
            found = self.imported(module, name) if not name.startswith("_") else MISSING
            if found is not MISSING:
                return found
        return self.find_module(f"{stub.dotted}.{name}") or MISSING

    def imported(self, module: str, name: str) -> Value:
        """A name of another stub's module, or MISSING."""
        inner = self.find_module(f"{module}.{name}")
        if inner is not None:
            return inner
        found = self.find_module(module)
        return MISSING if found is None else found.lookup(name)
