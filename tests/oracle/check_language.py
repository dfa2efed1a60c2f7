"""Holds the expectations of fixtures/language against CPython: every file is run, `reveal` records what it is given.

Each file is run twice. What comes out of the package `missing` (there is none: to the evaluator it is unknown) is
true in one run and false in the other; a value that differs between the two must be expected to be `unknown`. Tensors
are shown by their shapes, where torch or keras is installed; files that need one that is not there are left out, and so
is unknown_values.py, in which CPython could do nothing.

    python tests/oracle/check_language.py            compare
    python tests/oracle/check_language.py --write    write what CPython says behind each `reveal(...)`
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import types
import warnings
from pathlib import Path
from typing import Any

LANGUAGE = Path(__file__).parents[2] / "fixtures" / "language"
REVEAL = re.compile(r"^(\s*reveal\(.*?\))(?:\s*#\s*(.+?))?\s*$")


class Answer:
    """What nobody knows: true in one run and false in the other, whatever it is asked."""

    def __init__(self, value: bool) -> None:
        self.value = value

    def __bool__(self) -> bool:
        return self.value

    def __repr__(self) -> str:
        return f"<{self.value}>"

    def __getattr__(self, name: str) -> Answer:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args: object, **kwargs: object) -> Answer:
        # A decorator that is not known is taken to keep what it decorates.
        if len(args) == 1 and isinstance(args[0], (types.FunctionType, type)):
            return args[0]  # type: ignore[return-value]
        return self

    def __eq__(self, other: object) -> bool:
        return self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __len__(self) -> int:
        return int(self.value)

    def __iter__(self) -> Any:
        return iter([self] * self.value)

    def __getitem__(self, key: object) -> Answer:
        return self

    def operate(self, other: object = None) -> Answer:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __floordiv__ = __mod__ = operate
    __gt__ = __lt__ = __ge__ = __le__ = __neg__ = operate

    def __enter__(self) -> Answer:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


def show(value: Any) -> str | list[str]:
    """As `reveal` shows a value; of a list or a tuple the items, so that one that is not known leaves the others."""
    shape = getattr(value, "shape", None)
    if shape is not None and not isinstance(value, (type, Answer)):
        sizes = ", ".join("N" if size is None else str(int(size)) for size in shape)
        return f"({sizes},)" if len(shape) == 1 else f"({sizes})"
    if type(value) in (list, tuple):
        return [repr(type(value)()), *(text if isinstance(text := show(item), str) else repr(item) for item in value)]
    return repr(value)


def agreed(yes: str | list[str], no: str | list[str] | None) -> str:
    if isinstance(yes, str) or not isinstance(no, list) or len(yes) != len(no):
        return str(yes) if yes == no else "unknown"
    inner = ", ".join(a if a == b else "unknown" for a, b in zip(yes[1:], no[1:], strict=True))
    return yes[0][0] + inner + ("," if len(yes) == 2 and yes[0] == "()" else "") + yes[0][1]


def run(path: Path, answer: bool) -> dict[int, str | list[str]]:
    revealed: dict[int, str | list[str]] = {}

    def reveal(value: Any) -> Any:
        frame = sys._getframe(1)
        if frame.f_code.co_filename == str(path):
            revealed[frame.f_lineno] = show(value)
        return value

    missing = types.ModuleType("missing")
    missing.__getattr__ = lambda name: Answer(answer)  # type: ignore[method-assign]
    before = set(sys.modules)
    sys.modules["missing"] = missing
    sys.path.insert(0, str(path.parent))
    arguments, sys.argv = sys.argv, [str(path)]
    code = compile(path.read_text(), str(path), "exec", dont_inherit=True)
    try:
        exec(code, {"__name__": "__main__", "__file__": str(path), "reveal": reveal})
    except (AssertionError, ValueError):
        # Where one side of a branch raises, the evaluator goes on with the other.
        if "guards" not in path.stem:
            raise
    finally:
        sys.path.pop(0)
        sys.argv = arguments
        for name in (set(sys.modules) - before) | {"missing"}:
            if name == "missing" or name.startswith("package"):
                del sys.modules[name]
    return revealed


def truth(path: Path) -> dict[int, str]:
    yes, no = run(path, True), run(path, False)
    if "guards" in path.stem:
        yes, no = {**no, **yes}, {**yes, **no}
    return {line: agreed(yes[line], no.get(line)) for line in yes}


def main(arguments: list[str]) -> int:
    wrong = 0
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    warnings.simplefilter("ignore")
    paths = sorted(LANGUAGE.glob("*.py"))
    names = [word for word in arguments if not word.startswith("-")]
    for path in paths:
        if (names and path.stem not in names) or path.stem == "unknown_values":
            continue
        text = path.read_text()
        needs = [word for word in ("torch", "keras") if re.search(rf"^\s*(import|from) {word}\b", text, re.M)]
        if any(importlib.util.find_spec(word) is None for word in needs):
            print(f"{path.stem}: left out, needs {' and '.join(needs)}")
            continue
        found = truth(path)
        lines = text.splitlines()
        for number, line in enumerate(lines, 1):
            match = REVEAL.match(line)
            if match is None:
                continue
            said = found.get(number, "never run")
            if "--write" in arguments:
                lines[number - 1] = f"{line.split('  # ')[0].rstrip()}  # {said}"
            elif match.group(2) != said:
                wrong += 1
                print(f"{path.name}:{number}: CPython gives {said}, not {match.group(2)}")
        if "--write" in arguments:
            path.write_text("\n".join(lines) + "\n")
    print(f"{len(paths)} files,", "written" if "--write" in arguments else f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
