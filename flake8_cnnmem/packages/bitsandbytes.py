"""bitsandbytes.optim: states of 8 bits in blocks, and paged ones. By its Python source, bitsandbytes 0.50.2
(optim/optimizer.py: Optimizer2State.init_state, Optimizer1State.init_state, get_state_buffer; optim/ademamix.py).

A parameter of at least `min_8bit_size` (4096) values has states of one byte a value, each with the largest value of
every block of 256 as a float32; a smaller one has float32 states. The two tables of 256 values that the bytes stand for
are there once. A paged optimizer puts states of at least 1e5 values into unified memory (cudaMallocManaged): it is no
memory of PyTorch's allocator, and the driver moves it to the host where the GPU is full, so that it is not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flake8_cnnmem import dims
from flake8_cnnmem.frameworks.torch.optim.kernel_state import Keeps, Options, Shared, declare
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Value

BLOCK = 256
PAGED_FROM = 100_000
TABLE = 256
"""Values of a quantisation map, of float32."""

COMMON: dict[str, Value] = {
    "lr": 1e-3, "optim_bits": 32, "args": None, "min_8bit_size": 4096, "skip_zeros": False, "is_paged": False,
}  # fmt: skip

STATES = {"Adam": 2, "AdamW": 2, "LAMB": 2, "AdEMAMix": 2, "Lion": 1, "SGD": 1, "RMSprop": 1, "Adagrad": 1, "LARS": 1}
"""How many states each family keeps."""

PAGED = ("Adam", "AdamW", "Lion", "AdEMAMix")
NORMS = {"LAMB": 1.0, "LARS": 0.02}
"""`max_unorm` where it is not 0: the norm of the update is kept, too."""

DOUBLE = ("AdEMAMix",)
"""Whose first state holds two averages."""


def is_8bit(weight: Weight, options: Options) -> bool:
    values = dims.product(weight.shape) if isinstance(weight.shape, tuple) else 0
    least = options["min_8bit_size"]
    return options["optim_bits"] == 8 and isinstance(values, int) and isinstance(least, int) and values >= least


def keeps(states: int, double: bool) -> Keeps:
    def kept(weight: Weight, options: Options) -> Mapping[str, Tensor]:
        shape = weight.shape
        if isinstance(shape, Unknown):
            return {"state1": Tensor(shape)}
        values = dims.product(shape)
        small = is_8bit(weight, options)
        found: dict[str, Tensor] = {}
        for number in range(1, states + 1):
            times: tuple[int, ...] = (2,) if double and number == 1 else ()
            if not (options["is_paged"] and isinstance(values, int) and values >= PAGED_FROM):
                found[f"state{number}"] = Tensor((*times, *shape), "uint8" if small else "float32")
            if small and isinstance(values, int):
                found[f"absmax{number}"] = Tensor((*times, -(-values // BLOCK)), "float32")
        if options["max_unorm"]:
            found["unorm_vec"] = Tensor((1,), "float32")
        return found

    return kept


def tables(states: int, bits: int | None) -> Shared:
    """One table for each state, where a parameter is large enough for any."""

    def kept(weights: Sequence[Weight], options: Options) -> Sequence[Tensor]:
        if not any(is_8bit(weight, of_bits(options, bits)) for weight in weights):
            return ()
        return [Tensor((TABLE,), "float32") for _ in range(states)]

    return kept


def family(name: str) -> dict[str, Class]:
    """`Adam`, `Adam8bit`, `Adam32bit`, `PagedAdam`, ..."""
    states, double = STATES[name], name in DOUBLE
    found: dict[str, Class] = {}
    for front, paged in (("", False), ("Paged", True)) if name in PAGED else (("", False),):
        for suffix, bits in (("", None), ("8bit", 8), ("32bit", 32)):
            defaults = {**COMMON, "is_paged": paged, "max_unorm": NORMS.get(name, 0.0)}
            made = declare(
                f"{front}{name}{suffix}",
                "bitsandbytes.optim",
                defaults,
                fixed(keeps(states, double), bits),
                tables(states, bits),
                ("optim_bits", "min_8bit_size", "is_paged", "max_unorm"),
            )
            found[made.name] = made
    return found


def of_bits(options: Options, bits: int | None) -> Options:
    """The options of a class that says how many bits its states have."""
    return options if bits is None else {**options, "optim_bits": bits}


def fixed(kept: Keeps, bits: int | None) -> Keeps:
    return lambda weight, options: kept(weight, of_bits(options, bits))


OPTIM: dict[str, Class] = {name: cls for each in STATES for name, cls in family(each).items()}

MODULES = {"bitsandbytes.optim": OPTIM}
STAND_INS: dict[str, dict[str, Value]] = {"bitsandbytes": {}}
