"""What the rest of the program asks of a framework: one `Framework` object each, and nothing else.

Attribute access and operators on tensors, the weights and names of a model, and the facts in which
frameworks differ (allocation size, default layout) are answered here, so that no room above has to
know which framework it deals with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from flake8_cnnmem.dims import Shape, Size
from flake8_cnnmem.frameworks.device_terms import DeviceTerms
from flake8_cnnmem.frameworks.rules import Lowered, Rules
from flake8_cnnmem.frameworks.spelling import ARRAYS, Spelling
from flake8_cnnmem.graph import Model, Site, Tensor, Weight
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.training import Optimizer
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Class, Instance, Value

NUMBER_OF_GPUS = "number of GPUs"
"""The question that a program asks of its machine, as `Run.choose` knows it."""

GPUS_COUNTED = "GPUs counted"
"""Scratch of the run: by id the sites of the calls that asked it."""

IN_CHARGE = "in charge of a training"
"""Scratch of the run: what runs a training while it does, under the word for it ("trainer"). The program may have no
name that leads there (`Trainer(callbacks=[...]).fit(model)`)."""

LOADED_STATES = "states read from files"
"""Scratch of the run: by id what a program has read from a file, or out of what a file holds, and put into a model."""

BY_NAME = "losses by their name"
"""Scratch of the run: by id results that stand for the loss that a model is compiled with, whose name tells what it
keeps."""

BACKWARD_PASSES = "backward passes"
"""The scratch dict in which `number` counts the backward passes that the program has run."""

UNKNOWN_STEPS = "unknown steps"
"""Scratch of the run: by the call's site, what was stepped after a backward pass though nobody knows what it is (the
cause), and where."""

UNKNOWN_FITS = "unknown fits"
"""The same of what is fitted though nobody knows what it is, with the call as a `Fit`."""

TO_COMPILE_WITH = "optimizers to compile with"
"""Scratch of the run: by id the optimizers that code makes for models which train themselves."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One call that trains a model by itself (`fit`, `train_on_batch`): what it is told, None where it is told nothing,
    and what held of the model then.

    `data` is what it trains on. `usual` is the batch size that it takes for arrays when it is told none. The event
    "fit" of the same number among the model's own tells when it was.
    """

    data: Value
    batch_size: Value
    site: Site | None
    usual: int | None = None
    batch: Value = None
    """One batch as a step gets it, tensors in it as they are nested; Unknown where it was not followed."""
    trainable: frozenset[int] | None = None
    """The weights, by id, that it trained; None where that is not known."""
    optimizer: Value = None
    loss: Value = None
    compiled_site: Site | None = None
    """What the `compile` in force then had said, and where; Unknown where it is not known which one it was."""
    epochs: Value = None
    with_targets: bool = False
    """Whether it is given the targets beside the data."""
    replicas: int = 1
    """How many devices share each batch."""
    doubts: tuple[Unknown, ...] = ()
    """Why what is known of it is not all, and what a step of it does that is counted otherwise."""
    unfollowed: tuple[Unknown, ...] = ()
    """Further ones, of a step that is not known as a whole."""
    weights: frozenset[int] | None = None
    """All weights, by id, that the model had then; None where it was not built whole."""
    structure: Any = None
    """What else the framework keeps of the model as it was then, for `as_fitted`."""


@dataclass(frozen=True, slots=True)
class Look:
    """One call that runs a model without training it (`evaluate`, `predict`), and how many samples it takes at once."""

    batch_size: int
    site: Site | None
    with_loss: bool = False
    """Whether it computes the loss, too."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a model's `compile` says, None where it says nothing."""

    optimizer: Value
    loss: Value
    site: Site | None
    jit: Value = None
    """Whether it asks that the step be made into one compiled program."""


@dataclass(frozen=True, slots=True)
class Checkpointing:
    """How code runs blocks again instead of keeping what they hold: functions of `module`, for a block and for a
    container of blocks, and the argument that both take."""

    module: str
    call: str
    sequence: str
    option: str


@dataclass(frozen=True, slots=True)
class Framework:
    """A framework's answers. `alignment` is what the allocator rounds every tensor up to, in bytes."""

    name: str
    """The value of `Tensor.framework`."""
    alignment: int
    channels_last: bool
    """The layout that layers assume when the code says nothing."""

    get: Callable[[Runtime, Tensor, str], Value]
    """`tensor.attribute`, or MISSING."""
    set: Callable[[Runtime, Tensor, str, Value], None]
    """`tensor.attribute = value` (`p.requires_grad = False`)."""
    type_of: Callable[[Tensor], Class]
    """The class that user code sees: `torch.Tensor`, `torch.nn.Parameter`, `KerasTensor`."""
    operate: Callable[[Runtime, str, Value, Value], Value]
    """A binary operator by its symbol with a tensor on either side, or a unary one ("neg", "pos", "invert") with
    the right side None. In-place forms have their own symbols ("+=")."""
    index: Callable[[Runtime, Tensor, Value], Value]
    """`tensor[key]`."""
    set_index: Callable[[Runtime, Tensor, Value, Value], Tensor]
    """`tensor[key] = value`: the tensor that the name holds afterwards."""
    iterate: Callable[[Runtime, Tensor], list[Value] | Unknown]
    """The items along the first axis."""
    length: Callable[[Runtime, Tensor], Size]
    """`len(tensor)`."""

    is_layer: Callable[[Value], bool]
    """Whether a value is a layer, module or model of this framework."""
    weights: Callable[[Instance], list[Weight]]
    """All weights and buffers that a model owns, each once, parameters in the framework's own order, then buffers."""
    children: Callable[[Instance], list[tuple[str, Instance]]]
    """The layers directly inside a layer, with the names that the framework gives them."""
    paths: Callable[[Instance], dict[int, str]]
    """The dotted name ("layer1.0.conv1") of every layer inside a model, by the instance's id. The root is ""."""
    call_root: Callable[[Runtime, Instance, Sequence[Value]], Value]
    """Call a model on its inputs, as user code would."""
    lower: Callable[[Model], Lowered]
    """A model as its backend runs it, with the rules of that."""
    rules: Callable[[], Rules]
    """What training holds by its own default backend."""
    computes: str
    """What computes for it where the code does not say."""
    device: Mapping[str, DeviceTerms]
    """What each backend takes of a GPU beside the tensors."""
    versions: Mapping[str, str]
    """Whose rules are used: its own version first, then that of what computes for it."""
    class_targets: Callable[[Shape], Shape]
    """The shape of class numbers for an output of this shape."""
    outermost_rows: bool
    """Whether a row of the layer table is the outermost layer inside a model, or else the innermost."""
    checkpoints: Checkpointing | None
    """How it can run blocks again instead of keeping what they hold; None where it cannot."""
    optimizers_own: bool
    """Whether an optimizer is made for parameters: one that has none of a model's is not the model's."""
    declares_inputs: bool
    """Whether layers state what they take at their construction (torch), or learn it at their first call (Keras)."""
    is_model: Callable[[Instance], bool]
    """Whether an instance may be a model of its own: a user's class or a container, not a framework's single layer."""
    own_inputs: Callable[[Instance], list[Tensor] | None]
    """The input tensors that a model states itself (a functional Keras model), or None."""
    refuse_copy: Callable[[Runtime, Tensor], None] = lambda run, tensor: None
    """Raises what a deep copy of a tensor is refused with, where it is."""
    moved: Callable[[Instance], list[Weight]] | None = None
    """All weights of a model in the order in which they come to the device; None for that of `weights`."""
    spelling: Callable[[], Spelling] = lambda: ARRAYS
    """How its programs write what decides sizes."""
    single_layers: frozenset[str] = frozenset()
    """Layers that are built of other layers, and are one layer all the same: their result is their volume."""
    merging_layers: frozenset[str] = frozenset()
    """Layers whose own forward pass merges maps between their sublayers: each merge is one more volume."""
    half_region: str = ""
    """The expression whose `with` block runs in mixed precision, in a loop that has its scaler; "" for none."""
    made_anew: frozenset[str] = frozenset()
    """The attributes of a tensor that are another tensor each time they are asked for: what is set on them is lost."""
    gradless_region: str = ""
    """The expression whose `with` block computes without gradients; "" for none."""
    tensor_methods: bool = False
    """Whether tensors have methods for other orders and numbers of axes (`transpose`, `permute`, `expand`)."""
    shape_error: str = "ValueError"
    """The exception that it raises for sizes that cannot be right, where a problem names no other."""
    as_fitted: Callable[[Runtime, Instance, Fit | None], AbstractContextManager[None]] = lambda run, model, fit: (
        nullcontext()
    )
    """The model as it was when a fit trained it, for as long as the block runs."""
    network: Callable[[Instance], Instance] = lambda model: model
    """What tensors go through: the model itself, or the network that a class around it holds."""
    lost: Callable[[Instance], Unknown | None] = lambda model: None
    """Why a model that states its inputs is not followed from there to its outputs; None where it is."""
    optimizer_of: Callable[[Value], Optimizer | None] = lambda value: None
    """What an optimizer object, or the name of one, is; None for what is no optimizer, or not known."""
    updated_by: Callable[[Instance], list[Weight] | None] = lambda optimizer: None
    """The parameters that an optimizer was made for; None where it does not say."""
    groups_of: Callable[[Instance], Sequence[frozenset[int]]] = lambda optimizer: ()
    """The weights, by id, that an optimizer updates one after the other, in groups, where it does so."""
    keeps_for_all: Callable[[Instance], bool] = lambda optimizer: False
    """Whether an optimizer makes its state when it is constructed, for parameters that get no gradient as well."""
    untrained_doubts: Callable[[Runtime, Instance], tuple[Unknown, ...]] = lambda run, model: ()
    """What of a model's training is not known where none is followed."""
    made_by_unfollowed: Callable[[Runtime, Unknown, tuple[Value, ...], dict[str, Value]], Value] = (
        lambda run, cause, args, kwargs: cause
    )
    """What a call of a function gives that nobody can follow."""
    equal_by_value: bool = False
    """Whether a tensor without axes is, as a dict's key, whatever is equal to it (numpy's scalars)."""
    keeps_graphs: bool = True
    """Whether a result that is held holds what leads back from it; else that is there only while a tape is."""
    compiled: Callable[[Instance], list[Compiled]] = lambda model: []
    fits: Callable[[Instance], list[Fit]] = lambda model: []
    """Each in the order in which the code calls them."""
    looks: Callable[[Instance], list[Look]] = lambda model: []
    """The calls that run a model without training it, as far as the size of their batches is known."""
    fit_followed: Callable[[Runtime, Fit], Fit | None] = lambda run, fit: None
    """A fit with what its step is given, where the model is not known that is fitted; None where no model has one."""
    doubts: Callable[[Runtime, Instance], tuple[Unknown, ...]] = lambda run, model: ()
    """What of a model's training is not known, or is counted otherwise than it is done."""
    input_stated: Callable[[Runtime, Instance], tuple[Site | None, int | None]] = lambda run, model: (None, None)
    """Where a model that states its inputs does so, and the batch size that it states there, if any."""
    policy: Callable[[Runtime, Instance], tuple[str, Site | None] | None] = lambda run, model: None
    """The dtype that the code asks for globally ("mixed_float16") where it makes a model, and where that stands."""
    allocator: Callable[[Runtime], str] = lambda run: ""
    """What the code asks of the allocator on the device, in the framework's own words."""
    assumed_base: Callable[[Runtime], Value] = lambda run: None
    """What a class with a `forward` derives from besides, where a base of it is not known; None for nothing."""
    version: Callable[[Runtime], str] = lambda run: ""
    """The version that a program is counted for, and who asks for it; "" for the one that `versions` names."""
    backend: Callable[[Runtime], str] = lambda run: ""
    """What computes for it, as far as the code says, a mode of it behind a comma; "" where it has just one."""
