"""The options: what each accepts, what it means when nobody sets it, and the Settings that they add up to.

flake8's adapter, the `cnnmem` command and the directives all read values with the parsers below, so that a
value means the same wherever it stands, and a bad one is refused with the same words.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flake8_cnnmem import units
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.training import Fact, Optimizer

DTYPES = ("float32", "float64", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16")
ACCOUNTINGS = ("framework", "cs231n")

LARGEST_NUMBER = 2**31 - 1
"""Of a batch or a side of an input: what a 32-bit index reaches."""

MOST_SIZES = 16
"""Of one input: layers take five axes, and code that folds windows or heads works with eight."""

_DTYPE_ALIASES = {
    "float": "float32",
    "single": "float32",
    "fp32": "float32",
    "double": "float64",
    "fp64": "float64",
    "half": "float16",
    "fp16": "float16",
    "bf16": "bfloat16",
}
_OPTIMIZER_ALIASES = {
    "amsgrad": Optimizer("adam", (("amsgrad", True),)),
    "centeredrmsprop": Optimizer("rmsprop", (("centered", True),)),
    "rmspropcentered": Optimizer("rmsprop", (("centered", True),)),
    "nesterov": Optimizer("momentum", (("nesterov", True),)),
}


class BadValue(ValueError):
    """A value that makes no sense; the message says what would."""


@dataclass(frozen=True, slots=True)
class Limit:
    """Bytes of a GPU. `gpu` is its name where the user gave that, `count` how many of them there are."""

    bytes: int
    gpu: str = ""
    count: int = 1


def parse_limit(text: str) -> Limit | None:
    """A size or a GPU's name, of several `2xT4`; `none` or nothing for no limit."""
    word = text.strip()
    if word.lower() in ("", "none"):
        return None
    from flake8_cnnmem.memory import gpus

    several = gpus.SEVERAL.fullmatch(word)
    if several is not None:
        one = parse_limit(several[2])
        if one is None or one.count != 1 or int(several[1]) < 1:
            raise BadValue(f"{quote(text)} is no number of GPUs: say 2xT4")
        return replace(one, count=int(several[1]))
    if gpus.normalise(word) in gpus.names():
        gpu = gpus.find(word)
        return Limit(gpu.mib * units.MIB, gpu.name)
    try:
        size = units.parse(word)
    except units.BadSize as error:
        if re.match(r"[+-]?\.?\d", word):
            raise BadValue(str(error)) from None
        try:
            gpu = gpus.find(word)
        except gpus.UnknownGpu as unknown:
            raise BadValue(str(unknown)) from None
        return Limit(gpu.mib * units.MIB, gpu.name)
    if size == 0:
        raise BadValue("a limit of nothing cannot be kept: say none for no limit")
    if size < units.MIB and word.isdigit():
        raise BadValue(f"{word} bytes are no GPU's memory: say {word}GiB or {word}MiB")
    return Limit(size)


def parse_overhead(text: str) -> int:
    """A size, 0 included."""
    try:
        return units.parse(text)
    except units.BadSize as error:
        raise BadValue(str(error)) from None


def parse_batch_size(text: str) -> int:
    word = text.strip()
    if not re.fullmatch(r"\d{1,10}", word, re.ASCII) or not 1 <= int(word) <= LARGEST_NUMBER:
        raise BadValue(f"{quote(text)} is not a batch size: use a whole number from 1")
    return int(word)


def parse_devices(text: str) -> int:
    word = text.strip()
    if not re.fullmatch(r"\d{1,6}", word, re.ASCII) or int(word) < 1:
        raise BadValue(f"{quote(text)} is not a number of devices: use a whole number from 1")
    return int(word)


def parse_input_shape(text: str) -> tuple[int | None, ...] | None:
    """`3,224,224` or `3x224x224`, without the batch; `None` or `?` for a size that is not known; `none`: no shape.

    `3,64,64; 1; 77,768` are the shapes of several inputs, `()` that of one value a sample.
    """
    parts = [part.strip() for part in text.split(";")]
    if len(parts) == 1:
        return parse_one_shape(text)
    shapes = [() if re.fullmatch(r"\(\s*\)", part) else parse_one_shape(part) for part in parts]
    known = [shape for shape in shapes if shape is not None]
    if len(known) < len(shapes) or len(known) > MOST_SIZES:
        raise BadValue(
            f"{quote(text)} is not an input shape: use the sizes of each input without the batch, such as "
            "3,224,224; 77,768"
        )
    return InputShapes(known)


class InputShapes(tuple["int | None", ...]):
    """The shape of a model's first input, and those of the other ones behind it."""

    each: tuple[tuple[int | None, ...], ...]

    def __new__(cls, shapes: Sequence[tuple[int | None, ...]]) -> InputShapes:
        made = super().__new__(cls, shapes[0])
        made.each = tuple(shapes)
        return made


def parse_one_shape(text: str) -> tuple[int | None, ...] | None:
    words = text.strip().strip("()[]").strip()
    if words.lower() in ("", "none"):
        return None
    parts = [part.strip() for part in re.split("[,x×]", words.removesuffix(",").strip().lower())]
    shape: list[int | None] = []
    if len(parts) > MOST_SIZES:
        raise BadValue(
            f"{quote(text)} is not an input shape: it has {len(parts):,} sizes, at most {MOST_SIZES} make sense"
        )
    for part in parts:
        if part in ("none", "?"):
            shape.append(None)
        elif re.fullmatch(r"\d{1,10}", part, re.ASCII) and 1 <= int(part) <= LARGEST_NUMBER:
            shape.append(int(part))
        else:
            raise BadValue(
                f"{quote(text)} is not an input shape: use the sizes without the batch, such as 3,224,224 "
                "(None for one that is not known)"
            )
    return tuple(shape)


def parse_dtype(text: str) -> str:
    word = text.strip().lower().replace("-", "_")
    word = _DTYPE_ALIASES.get(word, word)
    if word not in DTYPES:
        raise BadValue(f"{quote(text)} is not a dtype: use {_alternatives(DTYPES)}{hint(word, DTYPES)}")
    return word


def parse_accounting(text: str) -> str:
    word = text.strip().lower()
    if word not in ACCOUNTINGS:
        raise BadValue(f"{quote(text)} is not an accounting: use {_alternatives(ACCOUNTINGS)}{hint(word, ACCOUNTINGS)}")
    return word


def parse_optimizer(text: str) -> Optimizer:
    """The name of an optimizer of PyTorch or Keras, `momentum` (SGD with it), `amsgrad`, `centered-rmsprop`."""
    from flake8_cnnmem.memory import optimizers

    word = re.sub(r"[\s_-]", "", text.lower())
    if word in _OPTIMIZER_ALIASES:
        return _OPTIMIZER_ALIASES[word]
    if word == "momentum" or word in optimizers.TEXTBOOK:
        return Optimizer(word)
    names = sorted({"momentum", "amsgrad", "centered-rmsprop", *optimizers.TEXTBOOK})
    raise BadValue(f"{quote(text)} is not an optimizer: use {_alternatives(names)}{hint(word, names)}")


def parse_search_path(text: str) -> tuple[str, ...] | None:
    """Comma-separated folders; None where there is none."""
    return tuple(folder.strip() for folder in re.split(r"[,\n]", text) if folder.strip()) or None


def parse_stubs(text: str) -> str | None:
    """The folder of the project's stubs; None for none."""
    word = text.strip()
    return None if word.lower() in ("", "none") else word


def parse_cache_dir(text: str) -> str:
    """The folder of the cache; empty for `none`."""
    word = text.strip()
    return "" if word.lower() in ("", "none") else word


@dataclass(frozen=True, slots=True)
class FileLimit:
    """A limit for the files that match a pattern, as flake8 matches those of `per-file-ignores`: a pattern with a
    slash is a path (absolute once the configuration is read), one without is the name of a file in any folder."""

    pattern: str
    limit: Limit | None

    def matches(self, path: str) -> bool:
        return any(fnmatch.fnmatch(name, self.pattern) for name in (os.path.basename(path), os.path.abspath(path)))

    @property
    def specificity(self) -> tuple[bool, int]:
        """A path without wildcards before all others, then the one with more letters of its own."""
        own = re.sub(r"\[[^]]*\]|[*?]", "", self.pattern)
        return own == self.pattern, len(own)


def parse_per_file_limits(text: str) -> tuple[FileLimit, ...] | None:
    """`edge/*.py: 2GiB, train/*.py: A100-40GB`; patterns without a limit of their own share that of the next one."""
    found: list[FileLimit] = []
    waiting: list[str] = []
    for entry in filter(None, (entry.strip() for entry in re.split(r"[,\n]", text))):
        pattern, colon, word = (part.strip() for part in entry.rpartition(":"))
        if not colon:
            waiting.append(entry)
            continue
        if not pattern or re.search(r":\s", pattern):
            raise BadValue(
                f"{quote(entry)} is not PATTERN: LIMIT, such as edge/*.py: 2GiB, with commas between several"
            )
        if not word:
            raise BadValue(f"{quote(entry)} has no limit: write a size or a GPU's name, or none, after the colon")
        try:
            limit = parse_limit(word)
        except BadValue as error:
            raise BadValue(f"{pattern}: {error}") from None
        found += [FileLimit(each, limit) for each in (*waiting, pattern)]
        waiting = []
    if waiting:
        raise BadValue(f"{quote(waiting[0])} has no limit: write PATTERN: LIMIT, such as edge/*.py: 2GiB")
    return tuple(found) or None


def quote(text: str) -> str:
    """A user's text for a message, cut where it is long."""
    word = text.strip()
    return repr(word if len(word) <= 40 else word[:37] + "...")


def _alternatives(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}"


def hint(word: str, known: Iterable[str]) -> str:
    """`; did you mean adam?`, where one of the known words is much alike."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]}?" if near else ""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `--cnnmem-NAME` of flake8, `--NAME` of `cnnmem`, `cnnmem-NAME` in a configuration file."""

    name: str
    parse: Callable[[str], Any]
    metavar: str
    help: str
    adds_up: bool = False
    """Whether giving it again adds to what was given before."""

    @property
    def field(self) -> str:
        return self.name.replace("-", "_")


OPTIONS = (
    Option(
        "gpu-limit",
        parse_limit,
        "LIMIT",
        "what a training step may need: a size (12GiB) or a GPU (T4, 2xT4)",
    ),
    Option(
        "per-file-limits",
        parse_per_file_limits,
        "LIMITS",
        "limits for some files, the most specific pattern first (edge/*.py: 2GiB, train/*.py: T4)",
    ),
    Option("batch-size", parse_batch_size, "N", "the batch size where the code does not say (32)"),
    Option(
        "input-shape",
        parse_input_shape,
        "A,B,C",
        "the input without the batch, as the framework orders it; several: A,B,C; D",
    ),
    Option("optimizer", parse_optimizer, "NAME", "the optimizer where the code does not say (momentum)"),
    Option("dtype", parse_dtype, "NAME", f"the dtype where the code does not say (float32): {_alternatives(DTYPES)}"),
    Option("devices", parse_devices, "N", "the GPUs that share a training where the code does not say (1)"),
    Option("accounting", parse_accounting, "NAME", f"how memory is counted: {_alternatives(ACCOUNTINGS)}"),
    Option(
        "overhead", parse_overhead, "SIZE", "kept free for the CUDA context and others, added to every estimate (0)"
    ),
    Option("search-path", parse_search_path, "DIRS", "comma-separated folders in which imports are looked up", True),
    Option("stubs", parse_stubs, "DIR", "the folder of .pyi files that say what modules without Python source do"),
    Option(
        "cache-dir", parse_cache_dir, "DIR", "where findings are kept from run to run (.cnnmem_cache); none keeps none"
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options as they stand. A Fact's source is "option" if somebody set it, else "default"."""

    gpu_limit: Limit | None = None
    batch_size: Fact[int] = Fact(32, "default")
    input_shape: Fact[tuple[int | None, ...]] | None = None
    optimizer: Fact[Optimizer] = Fact(Optimizer("momentum"), "default")
    dtype: Fact[str] = Fact("float32", "default")
    devices: int | None = None
    """How many devices share a training of which the code does not say; None where nobody does."""
    accounting: str = "framework"
    overhead: int = 0
    search_path: tuple[str, ...] | None = None
    """Looked through before the project's root and its `src`."""
    stubs: str | None = None
    """The folder of the project's stubs; None where it has none."""
    per_file_limits: tuple[FileLimit, ...] = ()
    cache_dir: str | None = None
    """Where findings are kept; None where nobody says, and empty where nothing is to be kept."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Settings from parsed values by field name; one that is absent or None was not set."""
        given = {name: value for name, value in values.items() if value is not None}
        for name in ("batch_size", "input_shape", "optimizer", "dtype"):
            if name in given:
                given[name] = Fact(given[name], "option")
        return replace(cls(), **given)

    def limit_for(self, path: str) -> Limit | None:
        """The limit of a file's models: that of the most specific pattern that matches, else the general one."""
        matching = [each for each in self.per_file_limits if each.matches(path)]
        if not matching:
            return self.gpu_limit
        return max(matching, key=lambda each: each.specificity).limit

    def devices_for(self, path: str) -> int | None:
        """How many devices share a training of this file where the code does not say it; None where nobody does."""
        own = self.limit_for(path)
        return own.count if self.devices is None and own is not None and own.count > 1 else self.devices

    def gpu_named(self, limit: int, path: str) -> str:
        """The GPU by whose name the limit of this file was set, or nothing: a directive may have set another one."""
        own = self.limit_for(path)
        return own.gpu if own is not None and own.bytes == limit else ""
