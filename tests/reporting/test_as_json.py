"""The report for programs: the form that interfaces promise."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

import flake8_cnnmem
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.reporting import as_json
from flake8_cnnmem.results import ModelReport
from flake8_cnnmem.unknown import Unknown

Make = Callable[..., ModelReport]
MIB = 2**20


def test_a_model_in_full(make_report: Make) -> None:
    document = json.loads(as_json.render([make_report(rows=make_report().rows[:1])]))
    assert document == {
        "cnnmem": flake8_cnnmem.__version__,
        "schema": 2,
        "versions": {"torch": "2.13"},
        "models": [
            {
                "target": "vgg.py::VGG16()",
                "name": "VGG16",
                "path": "vgg.py",
                "line": 12,
                "column": 9,
                "kind": "model",
                "phase": None,
                "times": 1,
                "framework": "torch",
                "status": "exact",
                "causes": [],
                "mismatches": [],
                "input_shape": [3, 224, 224],
                "training": {
                    "batch_size": 64,
                    "batch_size_per_device": 64,
                    "dtype": "float32",
                    "optimizer": "adam",
                    "sources": {
                        "batch_size": "train.py:41",
                        "dtype": "default",
                        "optimizer": "option",
                        "input_shape": "directive",
                    },
                    "written": {
                        "batch_size": "train.py:41",
                        "dtype": "default",
                        "optimizer": "option",
                        "input_shape": "directive",
                    },
                    "passed_over": {},
                },
                "parameters": {"total": 138357544, "trainable": 138357544},
                "activations": 15087080,
                "layers": [
                    {
                        "name": "features.0",
                        "type": "Conv2d",
                        "line": 14,
                        "output_shape": [64, 224, 224],
                        "parameters": 1792,
                        "activations": 3211264,
                        "kept": None,
                        "depth": 1,
                    }
                ],
                "memory": {
                    "accounting": "framework",
                    "parameters": 512 * MIB,
                    "gradients": 512 * MIB,
                    "optimizer": 1024 * MIB,
                    "activations": 10240 * MIB,
                    "input": 37 * MIB,
                    "overhead": 0,
                    "total": 12325 * MIB,
                    "saved": 9216 * MIB,
                    "tensor_peak": 12325 * MIB,
                    "peak_at": {
                        "phase": "backward",
                        "layer": "features.2",
                        "path": None,
                        "line": None,
                        "kept": 0,
                        "temporaries": 0,
                    },
                    "growth": 0,
                    "growth_turns": None,
                    "overhead_parts": {},
                    "workspaces": None,
                    "allocated": None,
                    "reserved": None,
                    "convolution_workspaces": None,
                    "convolution_workspaces_usual": None,
                },
                "limit": 12288 * MIB,
                "fits": False,
                "too_close_to_call": None,
                "largest_batch_size": 63,
                "remedies": [],
                "parts": [],
                "models": [{"name": "VGG16", "parameters": 138357544, "trainable": 138357544}],
                "also_in_memory": [],
                "growths": [],
                "evaluation": None,
            }
        ],
    }


@pytest.mark.parametrize(("spare", "close"), [(8000, False), (400, True), (-400, True), (-8000, False)])
def test_a_cards_verdict_is_too_close_to_call_within_three_percent(
    make_report: Make, make_estimate: Callable[..., Estimate], spare: int, close: bool
) -> None:
    limit = 15360 * MIB
    estimate = make_estimate(
        total=limit - spare * MIB,
        overhead_parts=(("cuda_context", 140 * MIB),),
        convolutions=900 * MIB,
        convolutions_usual=300 * MIB,
    )
    (model,) = json.loads(as_json.render([make_report(estimate=estimate, limit=limit, fits=spare > 0)]))["models"]
    assert model["too_close_to_call"] is close
    assert model["memory"]["convolution_workspaces"] == 900 * MIB
    assert model["memory"]["convolution_workspaces_usual"] == 300 * MIB


def test_what_is_not_known_is_null(make_report: Make) -> None:
    report = make_report(
        status="unresolved",
        causes=(Unknown("the input size is not known", "vgg.py", 12),),
        training=replace(make_report().training, input_shape=None),
        parameters=None,
        trainable=None,
        activations=None,
        rows=(),
        estimate=None,
        limit=None,
        fits=None,
        largest_batch_size=None,
    )
    model = as_json.model(report)
    assert model["causes"] == [{"reason": "the input size is not known", "path": "vgg.py", "line": 12}]
    assert model["input_shape"] is None
    assert model["parameters"] == {"total": None, "trainable": None}
    assert set(model["memory"].values()) == {None}
    assert (model["activations"], model["limit"], model["fits"], model["largest_batch_size"]) == (None,) * 4
    assert model["layers"] == []


def test_no_models_are_an_empty_list() -> None:
    assert json.loads(as_json.render([]))["models"] == []
