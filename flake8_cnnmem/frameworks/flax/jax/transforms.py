"""What JAX does to functions: compiling leaves them as they are, gradients are those of a backward pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flake8_cnnmem.dims import Shape
from flake8_cnnmem.frameworks.flax import trees
from flake8_cnnmem.frameworks.flax.arrays import as_array, plain
from flake8_cnnmem.graph import Tensor, Weight
from flake8_cnnmem.ops.given import Given
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Native, Value


def unchanged(run: Runtime, fun: Value = None, *args: Value, **options: Value) -> Value:
    """`jax.jit` and its like, also as `@jax.jit(static_argnums=0)`."""
    if fun is None:
        return Native("jit", unchanged, propagate_unknown=False)
    return fun


def checkpoint(run: Runtime, fun: Value = None, **options: Value) -> Value:
    """`jax.checkpoint`: what the function holds is computed again on the way back."""
    if fun is None:
        return Native("checkpoint", checkpoint, propagate_unknown=False)

    def again(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        with run.enter(None, checkpoint=True):
            return run.call(fun, *args, **kwargs)

    return Native("checkpoint", again, propagate_unknown=False)


def of_gradient(with_value: bool, first_is_state: bool = False) -> Callable[..., Value]:
    """`jax.grad` and `jax.value_and_grad`; those of nnx are the same, of an object in the place of a tree."""

    def transform(
        run: Runtime, fun: Value = None, argnums: Value = 0, has_aux: Value = False, **options: Value
    ) -> Value:
        if fun is None:
            return Native("grad", lambda run, fun: transform(run, fun, argnums, has_aux), propagate_unknown=False)

        def differentiated(run: Runtime, *args: Value, **kwargs: Value) -> Value:
            result = run.call(fun, *args, **kwargs)
            pair = result if isinstance(result, tuple) and len(result) == 2 and has_aux is True else None
            loss = pair[0] if pair is not None else result
            run.note("backward", loss)
            wanted = plain(argnums)
            places = wanted if isinstance(wanted, (list, tuple)) else (wanted,)
            found = [gradients(run, args[at]) for at in places if isinstance(at, int) and -len(args) <= at < len(args)]
            grads: Value = tuple(found) if isinstance(wanted, (list, tuple)) else found[0] if found else UNSEEN
            if with_value:
                return (result, grads)
            return (grads, pair[1]) if pair is not None else grads

        return Native("grad", differentiated, propagate_unknown=False)

    return transform


UNSEEN = Unknown("what a gradient is taken of is not known")


def gradients(run: Runtime, of: Value) -> Value:
    """The gradients of a tree of parameters: a tree of their shapes."""
    return of if isinstance(of, Unknown) else trees.stand_ins(of)


def vmap(run: Runtime, fun: Value, in_axes: Value = 0, out_axes: Value = 0, *args: Value, **options: Value) -> Value:
    """A function of one row for all rows at once. Only the shapes of what it gives are followed."""

    def mapped(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        along = plain(in_axes)
        which = along if isinstance(along, (list, tuple)) else (along,) * len(args)
        if out_axes != 0 or len(which) != len(args) or any(axis not in (0, None) for axis in which):
            return run.unknown("a function that is mapped over other axes is not followed")
        length, rows, given = None, [], []
        for value, axis in zip(args, which, strict=True):
            row = value
            if axis == 0:
                cause = next((leaf for leaf in trees.leaves(value) if isinstance(leaf, Unknown)), None)
                if cause is not None:
                    return cause
                arrays = [leaf for leaf in trees.leaves(value) if isinstance(leaf, Tensor)]
                if any(not isinstance(leaf.shape, tuple) or not leaf.shape for leaf in arrays):
                    return run.unknown("the rows of an array are not known")
                length = next((leaf.shape[0] for leaf in arrays if isinstance(leaf.shape, tuple)), length)
                given += arrays
                row = trees.mapped(one_row, value)
            rows.append(row)
        if length is None:
            return run.unknown("over what a function is mapped is not known")
        # A model that is called on a row is not fed with it.
        result = run.make_data(lambda_of(fun, kwargs), *rows)
        return trees.mapped(lambda leaf: all_rows(run, leaf, (length,), given), result)

    return Native("vmap", mapped, propagate_unknown=False)


def lambda_of(fun: Value, kwargs: dict[str, Value]) -> Native:
    """The function with its arguments by name."""
    return Native("mapped", lambda run, *args: run.call(fun, *args, **kwargs), propagate_unknown=False)


def pmap(run: Runtime, fun: Value = None, *args: Value, **options: Value) -> Value:
    """`jax.pmap` on one device: arrays have an axis for the devices, parameters are told without one."""
    if fun is None:
        return Native("pmap", pmap, propagate_unknown=False)

    def on_a_device(run: Runtime, *args: Value, **kwargs: Value) -> Value:
        return run.call(fun, *(trees.mapped(of_a_device, value) for value in args), **kwargs)

    return Native("pmap", on_a_device, propagate_unknown=False)


def of_a_device(leaf: Value) -> Value:
    """What `pmap` gives each device of an argument: one row; weights and numbers as they are."""
    return leaf if isinstance(leaf, Weight) or getattr(leaf, "shape", ()) == () else one_row(leaf)


def shard(run: Runtime, tree: Value) -> Value:
    """`common_utils.shard`: each array with an axis for the devices, of which there is one."""

    def sharded(leaf: Value) -> Value:
        if not isinstance(leaf, Tensor) or isinstance(leaf.shape, Unknown):
            return leaf
        return Tensor((1, *leaf.shape), leaf.dtype, framework="flax")

    return tree if isinstance(tree, Unknown) else trees.mapped(sharded, tree)


def one_row(leaf: Value) -> Value:
    """An array without its first axis."""
    if not isinstance(leaf, Tensor) or isinstance(leaf.shape, Unknown):
        return leaf
    return Tensor(leaf.shape[1:], leaf.dtype, framework="flax")


def all_rows(run: Runtime, leaf: Value, rows: Shape, given: Sequence[Tensor]) -> Value:
    """What `vmap` gives of one row's result: the mapped axis in front of it."""
    array = as_array(run, leaf)
    if isinstance(array, Unknown) or isinstance(array.shape, Unknown):
        return run.unknown("what a mapped function gives is not known")
    op = Given("vmap", ((*rows, *array.shape),))
    return run.apply(op, *given, function="vmap", dtypes=[array.dtype], framework="flax")


def collective(run: Runtime, x: Value, *args: Value, **options: Value) -> Value:
    """`jax.lax.pmean` and its like: as many values on each device as before."""
    return x


def device_count(run: Runtime, *args: Value) -> Value:
    """`jax.device_count()`: 1."""
    return 1


def with_own_rule(run: Runtime, fun: Value = None, *args: Value, **options: Value) -> Value:
    """`jax.custom_vjp`, `jax.custom_jvp`: the function as it is; what its own rule keeps is XLA's to decide."""
    if fun is None:
        return Native("custom_vjp", with_own_rule, propagate_unknown=False)
    return Instance(CUSTOM, {"fun": fun})


def call_custom(run: Runtime, self: Instance, *args: Value, **kwargs: Value) -> Value:
    """A call of a function with a derivative of its own."""
    return run.call(self.attributes["fun"], *args, **kwargs)


def told(run: Runtime, self: Instance, *rules: Value, **options: Value) -> Value:
    """`f.defvjp(...)`: rules that are not followed."""
    return None


CUSTOM = Class(
    "custom_vjp",
    namespace={
        "__call__": Native("__call__", call_custom, propagate_unknown=False),
        **{word: Native(word, told, propagate_unknown=False) for word in ("defvjp", "defjvp", "defjvps")},
    },
    module="jax",
)

DEVICE = Class("Device", namespace={"platform": "gpu", "id": 0, "process_index": 0}, module="jax")


def devices(run: Runtime, *args: Value, **options: Value) -> Value:
    """`jax.devices()`: one."""
    return [Instance(DEVICE)]
