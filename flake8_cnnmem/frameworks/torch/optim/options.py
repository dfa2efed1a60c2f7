"""The options of torch's own optimizers (torch/optim/*.py of 2.13)."""

from __future__ import annotations

from typing import Any

OPTIONS: dict[str, dict[str, Any]] = {
    "SGD": {"lr": 1e-3, "momentum": 0, "dampening": 0, "weight_decay": 0, "nesterov": False, "maximize": False,
            "foreach": None, "differentiable": False, "fused": None},
    "Adam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "amsgrad": False, "foreach": None,
             "maximize": False, "capturable": False, "differentiable": False, "fused": None,
             "decoupled_weight_decay": False},
    "AdamW": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 1e-2, "amsgrad": False,
              "maximize": False, "foreach": None, "capturable": False, "differentiable": False, "fused": None},
    "Adamax": {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "foreach": None,
               "maximize": False, "differentiable": False, "capturable": False},
    "NAdam": {"lr": 2e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "momentum_decay": 4e-3,
              "decoupled_weight_decay": False, "foreach": None, "maximize": False, "capturable": False,
              "differentiable": False},
    "RAdam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0, "decoupled_weight_decay": False,
              "foreach": None, "maximize": False, "capturable": False, "differentiable": False},
    "RMSprop": {"lr": 1e-2, "alpha": 0.99, "eps": 1e-8, "weight_decay": 0, "momentum": 0, "centered": False,
                "capturable": False, "foreach": None, "maximize": False, "differentiable": False},
    "Adagrad": {"lr": 1e-2, "lr_decay": 0, "weight_decay": 0, "initial_accumulator_value": 0, "eps": 1e-10,
                "foreach": None, "maximize": False, "differentiable": False, "fused": None},
    "Adadelta": {"lr": 1.0, "rho": 0.9, "eps": 1e-6, "weight_decay": 0, "foreach": None, "capturable": False,
                 "maximize": False, "differentiable": False},
    "Adafactor": {"lr": 1e-2, "beta2_decay": -0.8, "eps": (None, 1e-3), "d": 1.0, "weight_decay": 0.0,
                  "foreach": None, "maximize": False},
    "ASGD": {"lr": 1e-2, "lambd": 1e-4, "alpha": 0.75, "t0": 1e6, "weight_decay": 0, "foreach": None,
             "maximize": False, "differentiable": False, "capturable": False},
    "LBFGS": {"lr": 1, "max_iter": 20, "max_eval": None, "tolerance_grad": 1e-7, "tolerance_change": 1e-9,
              "history_size": 100, "line_search_fn": None},
    "Rprop": {"lr": 1e-2, "etas": (0.5, 1.2), "step_sizes": (1e-6, 50), "capturable": False, "foreach": None,
              "maximize": False, "differentiable": False},
    "SparseAdam": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8, "maximize": False},
    "Muon": {"lr": 1e-3, "weight_decay": 0.1, "momentum": 0.95, "nesterov": True,
             "ns_coefficients": (3.4445, -4.775, 2.0315), "eps": 1e-7, "ns_steps": 5, "adjust_lr_fn": None},
}  # fmt: skip
"""Each optimizer's options after `params`, in their order."""

TELLING = (
    "momentum", "amsgrad", "centered", "weight_decay", "foreach", "fused", "history_size", "max_iter", "max_eval",
    "line_search_fn", "nesterov", "maximize",
)  # fmt: skip
"""Options that change the state or the step's temporaries, or that people know an optimizer by."""

STATES: dict[str, tuple[tuple[str, str], ...]] = {
    "SGD": (("momentum_buffer", "momentum"),),
    "Adam": (("exp_avg", ""), ("exp_avg_sq", ""), ("max_exp_avg_sq", "amsgrad")),
    "AdamW": (("exp_avg", ""), ("exp_avg_sq", ""), ("max_exp_avg_sq", "amsgrad")),
    "Adamax": (("exp_avg", ""), ("exp_inf", "")),
    "NAdam": (("exp_avg", ""), ("exp_avg_sq", "")),
    "RAdam": (("exp_avg", ""), ("exp_avg_sq", "")),
    "RMSprop": (("square_avg", ""), ("momentum_buffer", "momentum"), ("grad_avg", "centered")),
    "Adagrad": (("sum", ""),),
    "Adadelta": (("square_avg", ""), ("acc_delta", "")),
    "ASGD": (("ax", ""),),
    "Rprop": (("prev", ""), ("step_size", "")),
    "SparseAdam": (("exp_avg", ""), ("exp_avg_sq", "")),
    "Muon": (("momentum_buffer", ""),),
}
"""The names of the tensors like the parameter in the state of torch's own, each with the option that asks for it."""
