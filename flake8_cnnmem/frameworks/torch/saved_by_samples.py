"""What PyTorch's autograd keeps of what makes maps larger or smaller, and reads them through a grid.

Known and measured as the rows of `saved_tensors.py`.
"""

from __future__ import annotations

from flake8_cnnmem.frameworks.rules import New, OpRule, Saved, rows
from flake8_cnnmem.frameworks.torch.op_rules import FULL, HALF, X

SAMPLES = [
    *rows("upsample_nearest upsample_nearest_exact upsample_bilinear",
          OpRule(layout="suggested", autocast=FULL, dense=True, gradient_layout="suggested")),
    # Of few channels they read and write contiguous maps, whatever lies otherwise.
    *(
        (f"upsample_{mode}/channels last, few",
         OpRule(layout="suggested", reads="contiguous", passing="forward", forward=(New("y"),), autocast=FULL,
                dense=True, gradient_layout="suggested"))
        for mode in ("nearest", "nearest_exact")
    ),
    # Their kernels read a contiguous input, or a copy of it.
    *rows("upsample_nearest/line upsample_nearest_exact/line",
          OpRule(layout="contiguous", reads="contiguous", passing="forward", autocast=FULL, dense=True,
                 gradient_layout="contiguous")),
    # So do those of volumes, which write into a contiguous result, too.
    *(
        (f"upsample_{mode}/{variant}",
         OpRule(layout="suggested", reads="contiguous", passing="forward", forward=made, autocast=FULL, dense=True,
                gradient_layout="suggested"))
        for mode in ("nearest", "nearest_exact", "trilinear")
        for variant, made in (("volumes", ()), ("channels last, volumes", (New("y"),)))
    ),
    *rows("upsample_linear upsample_bicubic upsample_trilinear",
          OpRule(layout="suggested", autocast=FULL, dense=True, gradient_layout="contiguous")),
    # It reads contiguous maps and writes such.
    *(
        (f"upsample_{mode}/{variant}",
         OpRule(layout="suggested", reads="contiguous", passing="forward", forward=made, autocast=FULL,
                gradient_layout="contiguous"))
        for mode in ("bilinear", "bicubic")
        for variant, made in (("antialiased", ()), ("channels last, antialiased", (New("y"),)))
    ),
    # The grid that the matrices are applied to is made anew for the backward pass.
    # It is a product of batches of matrices.
    ("affine_grid", OpRule(forward=(New("y"),), backward=(New("y"),), layout="contiguous", autocast=HALF)),
    ("upsample_area", OpRule((X,), layout="suggested")),
    ("upsample_area/volumes", OpRule((X,), layout="contiguous", dense=True)),
    # Result and gradient are contiguous, whatever the map is; the grid's gradient is made, wanted or not ("fixed").
    *((f"grid_sample{at}", OpRule((Saved("inputs"),), backward=made, layout="contiguous", autocast="widest",
                                   gradient_layout="contiguous")) for at, made in (("", ()), ("/fixed", (New("x1"),)))),
]  # fmt: skip
