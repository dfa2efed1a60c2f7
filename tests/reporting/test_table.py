"""The report for people."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from flake8_cnnmem.memory.estimate import Estimate, Live, Moment
from flake8_cnnmem.reporting import table
from flake8_cnnmem.results import AlsoInMemory, EvaluationReport, Growth, ModelReport, Part, Remedy, Row
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.training import Fact
from flake8_cnnmem.units import GIB, MIB
from flake8_cnnmem.unknown import Unknown

Make = Callable[..., ModelReport]


def test_a_model_as_it_is_printed(make_report: Make) -> None:
    expected = """\
        VGG16  vgg.py:12  torch 2.13, exact
        input 3x224x224 (directive), batch 64 (train.py:41), adam (option), float32 (default)

        layer       type      line      output     values    parameters    written, MiB
        ----------  ------  ------  ----------  ---------  ------------  --------------
        input                        3x224x224    150,528             0           37.00
        features.0  Conv2d      14  64x224x224  3,211,264         1,792          784.00
        features.1  ReLU        14  64x224x224          0             0            0.00
        classifier  Linear      20        1000      1,000     4,097,000            0.24
        sum                                     3,362,792   138,357,544          821.24

        memory of a training step at batch 64, framework accounting, highest in the backward pass, at features.2
        parameters        512 MiB
        gradients         512 MiB
        optimizer state   1.0 GiB
        activations      10.0 GiB
        input              37 MiB
        total            12.0 GiB

        limit 12.00 GiB (RTX 3060 12GB): too close to call: over by 37 MiB of 12.0 GiB; fits up to batch 63"""
    printed = table.render([make_report()], Settings(gpu_limit=Limit(12 * GIB, "RTX 3060 12GB")))
    assert printed == textwrap.dedent(expected)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"limit": None, "fits": None}, "no limit is set"),
        (
            {"limit": 16 * GIB, "fits": True, "largest_batch_size": 89},
            "limit 16.0 GiB: fits, 4.0 GiB to spare; fits up to batch 89",
        ),
        (
            {"limit": 2 * GIB, "largest_batch_size": 0},
            "limit 2.0 GiB: does not fit: 10.0 GiB over; not even batch 1 fits",
        ),
        (
            {"status": "lower-bound", "limit": 2 * GIB},
            "limit 2.0 GiB: does not fit: at least 10.0 GiB over; fits up to at most batch 63",
        ),
        (
            {"status": "lower-bound", "fits": None, "limit": 16 * GIB, "largest_batch_size": None},
            "limit 16.0 GiB: it takes at least 12.0 GiB; whether it fits is not known",
        ),
        ({"status": "unresolved", "estimate": None}, "no estimate, no verdict"),
    ],
)
def test_the_verdict(make_report: Make, changes: dict[str, Any], line: str) -> None:
    assert table.model(make_report(**changes), Settings()).splitlines()[-1] == line


def test_what_is_not_known_is_listed_with_its_lines(make_report: Make) -> None:
    causes = tuple(Unknown(f"size {number} is not known", "vgg.py", number) for number in range(1, 8))
    printed = table.model(make_report(status="lower-bound", causes=causes), Settings())
    assert "torch 2.13, a lower bound" in printed
    assert "not known:\n  size 1 is not known (line 1)\n" in printed
    assert "  size 5 is not known (line 5)\n  and 2 more\n" in printed


def test_the_parts_of_the_overhead_have_their_names(make_report: Make, make_estimate: Callable[..., Estimate]) -> None:
    parts = (("cuda_context", 135 * 2**20), ("cublas_workspace", 8 * 2**20), ("allocator", 2**20))
    estimate = make_estimate(overhead=144 * 2**20, overhead_parts=parts)
    printed = table.model(make_report(estimate=estimate), Settings())
    rows = [line.rsplit("  ", 1)[0].strip() for line in printed[printed.index("\nparameters ") :].splitlines()]
    assert rows[rows.index("tensors") + 1 : rows.index("total")] == ["workspaces", "allocator", "CUDA context"]


@pytest.mark.parametrize(
    ("gpu", "spare", "said"),
    [
        ("T4", 463, "fits, 463 MiB to spare"),
        ("T4", 120, "too close to call: fits by 120 MiB of 15.0 GiB"),
        ("T4", -120, "too close to call: over by 120 MiB of 15.0 GiB"),
        ("T4", -463, "does not fit: 463 MiB over"),
        ("", 120, "fits, 120 MiB to spare"),
    ],
)
def test_a_verdict_near_the_size_of_a_card(
    make_report: Make, make_estimate: Callable[..., Estimate], gpu: str, spare: int, said: str
) -> None:
    limit = 15360 * 2**20
    estimate = make_estimate(total=limit - spare * 2**20)
    report = make_report(estimate=estimate, limit=limit, fits=spare >= 0, largest_batch_size=None)
    printed = table.model(report, Settings(gpu_limit=Limit(limit, gpu)))
    assert printed.splitlines()[-1].endswith(f": {said}")


@pytest.mark.parametrize(
    ("spare", "said"),
    [
        (2048, ""),
        (512, "; more than 512 MiB of them would not fit"),
        (-512, ""),
    ],
)
def test_workspaces_that_may_decide(
    make_report: Make, make_estimate: Callable[..., Estimate], spare: int, said: str
) -> None:
    limit = 16 * 2**30
    estimate = make_estimate(total=limit - spare * 2**20, convolutions=2**30, convolutions_usual=2**28)
    report = make_report(estimate=estimate, limit=limit, fits=spare >= 0)
    line = f"not counted: workspaces of convolutions, 0 to 1.0 GiB, usually about 256 MiB, as cuDNN decides{said}"
    assert line in table.model(report, Settings(gpu_limit=Limit(limit, "T4"))).splitlines()


def test_shapes_that_are_not_all_known(make_report: Make) -> None:
    rows = (Row("a", "Conv2d", 3, (64, None, None), 10, 0, 0), Row("b", "mean", 0, (), 0, 0, 0))
    printed = table.model(make_report(rows=rows), Settings())
    assert "64x?x?" in printed
    assert [line.split() for line in printed.splitlines() if line.startswith("b ")] == [
        ["b", "mean", "1", "0", "0", "0.00"]
    ]


@pytest.mark.parametrize("name", ["0", "1e5", "a|b", "<b>", "a\nb", "\x1b[31m", "名前", "\udcff"])
def test_any_layer_name_is_one_row(make_report: Make, name: str) -> None:
    rows = (Row(name, "Conv2d", 3, (64, 8, 8), 10, 0, 0),)
    plain = table.layers(make_report(), make_report().rows[:1]).splitlines()
    assert len(table.layers(make_report(), rows).splitlines()) == len(plain)
    if name.isascii() and name.isprintable():
        assert f"\n{name} " in table.layers(make_report(), rows)


def test_models_are_set_apart(make_report: Make) -> None:
    assert table.render([make_report(), make_report()], Settings()).count("\n\n\nVGG16") == 1


def test_a_long_module_path_loses_its_middle() -> None:
    name = "encoder.transformer.layers.11.attention.output.dropout.wrapped.projection"
    short = table.shortened(name)
    assert short == "encoder.transfor….dropout.wrapped.projection"
    assert table.shortened("layer1.0.conv1") == "layer1.0.conv1"
    assert len(table.shortened("x" * 300)) == table.NAME_WIDTH


def test_long_names_leave_the_numbers_in_sight(make_report: Make) -> None:
    rows = tuple(replace(row, name=f"{'very.' * 40}{row.name}", type="T" * 200) for row in make_report().rows)
    assert max(map(len, table.layers(make_report(), rows).splitlines())) < 155


def test_what_would_make_it_smaller_is_listed(make_report: Make) -> None:
    report = make_report(remedies=(Remedy("batch size 63", 12 * GIB, True), Remedy("mixed_float16", 13 * GIB, False)))
    assert table.model(report, Settings()).splitlines()[-3:] == [
        "what would make it smaller, each change alone",
        "batch size 63  12.0 GiB  fits",
        "mixed_float16  13.0 GiB  does not fit",
    ]


def test_models_trained_together_are_named(make_report: Make) -> None:
    parts = (Part("G", "gan.py", 3, 1, 1000, 1000, (100,)), Part("Critic", "gan.py", 9, 1, 20, 20, None))
    assert table.parts(parts).splitlines() == [
        "trained together in one step",
        "G       gan.py:3  1,000 parameters  input 100",
        "Critic  gan.py:9     20 parameters",
    ]
    assert "trained together" in table.model(make_report(parts=parts), Settings())


def test_evidence_that_was_not_taken_is_told(make_report: Make) -> None:
    training = replace(make_report().training, batch_size=Fact(64, "train.py:41", (("32", "option"),)))
    assert table.heading(make_report(training=training)).splitlines()[2] == "passed over: batch 32 (option)"


@dataclass(frozen=True)
class Place:
    path: str
    line: int
    column: int = 1


PLACE = Place("train.py", 88)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"place": (2, 3), "trained_at": PLACE}, "training 2 of 3, loop at train.py:88"),
        ({"place": (2, 3), "trained_at": PLACE, "times": 5}, "training 2 of 3, loop at train.py:88, 5 times"),
        ({"place": (1, 2)}, "training 1 of 2"),
        ({"place": (1, 1), "trained_at": PLACE}, "training, loop at train.py:88"),
        (
            {"place": (1, 1), "trained_at": PLACE, "trainable": 1000},
            "training, loop at train.py:88, 1,000 of 138,357,544 parameters train",
        ),
        ({"place": (1, 1)}, None),
        ({}, None),
    ],
)
def test_the_heading_says_which_training_it_is(make_report: Make, changes: dict[str, Any], line: str | None) -> None:
    lines = table.heading(make_report(**changes)).splitlines()
    assert lines[1:-1] == ([] if line is None else [line])


def test_what_is_also_in_memory_is_listed(make_report: Make) -> None:
    rows = (AlsoInMemory("teacher: weights", 12 * MIB, "train.py", 31), AlsoInMemory("optimizer: state", MIB, "", 0))
    assert table.also(make_report(also_in_memory=rows)).splitlines() == [
        "also in memory",
        "teacher: weights  train.py:31   12 MiB",
        "optimizer: state               1.0 MiB",
    ]
    assert "\n\nalso in memory\n" in table.model(make_report(also_in_memory=rows), Settings())


def evaluates(make_estimate: Callable[..., Estimate], **changes: Any) -> dict[str, Any]:
    moment = Moment("evaluation", "", None, Live())
    return {
        "estimate": make_estimate(batch_size=1000, total=730 * MIB, peak_at=moment, **changes),
        "evaluation": EvaluationReport(1000, 730 * MIB, "train.py", 24, 800, 163 * MIB, "train.py", 22),
    }


def test_an_evaluation_that_decides_is_told(make_report: Make, make_estimate: Callable[..., Estimate]) -> None:
    printed = table.model(make_report(**evaluates(make_estimate), limit=512 * MIB), Settings())
    assert "memory of an evaluation at batch 1000, framework accounting\n" in printed
    assert printed.splitlines()[-3:] == [
        "evaluation at batch 1000 (train.py:24) needs 730 MiB; the training itself 163 MiB",
        "",
        "limit 512 MiB: does not fit: 218 MiB over; evaluation fits up to batch 800",
    ]


def grown(what: str, line: int, loop: int) -> Growth:
    return Growth(what, 72 * MIB, "train.py", line, 9, "train.py", loop, True, False, "evaluation")


def test_what_every_turn_adds_stands_below_the_total(make_report: Make, make_estimate: Callable[..., Estimate]) -> None:
    changes = evaluates(make_estimate, growth=72 * MIB)
    report = make_report(**changes, growths=(grown("outputs", 26, 22), grown("total", 14, 12)))
    lines = table.model(report, Settings()).splitlines()
    at = lines.index("and 72 MiB more with every turn: outputs (train.py:26)")
    assert lines[at - 1].startswith("total ")
    assert lines[at + 1] == "total (train.py:14) keeps 72 MiB more with every turn of the loop at train.py:12"
    few = make_report(estimate=make_estimate(growth=4))
    assert "with every turn" not in table.model(few, Settings())
