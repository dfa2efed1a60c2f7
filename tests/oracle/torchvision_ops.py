"""Declares torchvision's compiled operators, so that its Python can be imported without its binary.

The classifiers call none of them. Import this before torchvision.
"""

from __future__ import annotations

import torch

LIBRARY = torch.library.Library("torchvision", "DEF")
TENSORS = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
for schema in (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({TENSORS}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({TENSORS}) -> (Tensor, Tensor)",
    f"ps_roi_align({TENSORS}, int sampling_ratio) -> (Tensor, Tensor)",
    f"ps_roi_pool({TENSORS}) -> (Tensor, Tensor)",
):
    LIBRARY.define(schema)
