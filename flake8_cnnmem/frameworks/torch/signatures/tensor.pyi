"""torch.Tensor: the methods that torch has no function of the same name for, or one that takes something else.

Signatures of PyTorch 2.13; the tensor itself is `input`, as in torch's functions.
"""

from torch import Tensor

from flake8_cnnmem.frameworks.torch.applying import apply
from flake8_cnnmem.frameworks.torch.functions.arithmetic import matrix_product, where
from flake8_cnnmem.frameworks.torch.functions.complex import addbmm_, addmm_, addmv_, baddbmm_, lerp_in_place
from flake8_cnnmem.frameworks.torch.functions.creation import copy_, make_new
from flake8_cnnmem.frameworks.torch.functions.joining import tril_in_place
from flake8_cnnmem.frameworks.torch.functions.reductions import numel
from flake8_cnnmem.frameworks.torch.functions.repetition import expand_as
from flake8_cnnmem.frameworks.torch.functions.shapes import squeeze, swap, t, unsqueeze, view_as
from flake8_cnnmem.frameworks.torch.functions.splitting import split_into
from flake8_cnnmem.frameworks.torch.tensor_casts import type_, type_as
from flake8_cnnmem.frameworks.torch.tensors import (
    contiguous,
    dim,
    element_size,
    get_device,
    is_contiguous,
    is_same_size,
    item,
    length,
    numpy,
    record_stream,
    register_hook,
    register_post_accumulate_grad_hook,
    requires_grad_,
    size,
    storage,
    stride,
    tolist,
)
from flake8_cnnmem.ops import Matmul, Windows

@matrix_product(Matmul(), function="matmul")
def __matmul__(input: Tensor, other: Tensor) -> Tensor: ...
@where
def where(input: Tensor, condition: Tensor, other: Tensor) -> Tensor: ...
@numel
def nelement(input: Tensor) -> int: ...

# Complex numbers, and comparisons of a kind.

@lerp_in_place
def lerp_(input: Tensor, end, weight) -> Tensor: ...
@addmm_
def addmm_(input: Tensor, mat1, mat2, *, beta=1, alpha=1) -> Tensor: ...
@addmv_
def addmv_(input: Tensor, mat, vec, *, beta=1, alpha=1) -> Tensor: ...
@baddbmm_
def baddbmm_(input: Tensor, batch1, batch2, *, beta=1, alpha=1) -> Tensor: ...
@addbmm_
def addbmm_(input: Tensor, batch1, batch2, *, beta=1, alpha=1) -> Tensor: ...

# Joining and picking.

@tril_in_place
def tril_(input: Tensor, diagonal=0) -> Tensor: ...

triu_ = tril_

# Creation.

@make_new
def new_tensor(input: Tensor, data, *, dtype=None, **options) -> Tensor: ...
@copy_
def copy_(input: Tensor, other, non_blocking=False) -> Tensor: ...

# Parts.

@split_into(each=split_size)
def split(input: Tensor, split_size, dim=0) -> tuple[Tensor, ...]: ...

# Shapes.

@view_as
def view_as(input: Tensor, other) -> Tensor: ...

reshape_as = view_as

@swap(first=dim0, second=dim1)
def transpose_(input: Tensor, dim0, dim1) -> Tensor: ...
@t
def t_(input: Tensor) -> Tensor: ...
@squeeze
def squeeze_(input: Tensor, dim=None) -> Tensor: ...
@unsqueeze
def unsqueeze_(input: Tensor, dim) -> Tensor: ...
@expand_as
def expand_as(input: Tensor, other) -> Tensor: ...
@Windows(dimension, size, step)
def unfold(input: Tensor, dimension, size, step) -> Tensor: ...

# The tensor itself.

@size
def size(input: Tensor, dim=None): ...
@dim
def dim(input: Tensor) -> int: ...

ndimension = dim

@stride
def stride(input: Tensor, dim=None): ...
@element_size
def element_size(input: Tensor) -> int: ...
@item
def item(input: Tensor): ...
@tolist
def tolist(input: Tensor): ...
@type_
def type(input: Tensor, dtype=None, non_blocking=False): ...
@type_as
def type_as(input: Tensor, other) -> Tensor: ...
@contiguous
def contiguous(input: Tensor, memory_format=None) -> Tensor: ...
@is_contiguous
def is_contiguous(input: Tensor, memory_format=None) -> bool: ...
@of_values
@requires_grad_
def requires_grad_(input: Tensor, mode=True) -> Tensor: ...
@numpy
def numpy(input: Tensor, *, force=False): ...
@record_stream
def record_stream(input: Tensor, stream): ...
@register_hook
def register_hook(input: Tensor, hook): ...
@register_post_accumulate_grad_hook
def register_post_accumulate_grad_hook(input: Tensor, hook): ...
@get_device
def get_device(input: Tensor) -> int: ...
@storage
def data_ptr(input: Tensor) -> int: ...

storage = data_ptr
untyped_storage = data_ptr
storage_offset = data_ptr

@length(input)
def __len__(input: Tensor) -> int: ...
@is_same_size
def is_set_to(input: Tensor, other) -> bool: ...
