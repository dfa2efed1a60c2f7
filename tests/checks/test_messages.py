"""What each check says of made-up reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.finding import Finding
from flake8_cnnmem.graph import Problem
from flake8_cnnmem.memory.estimate import Estimate
from flake8_cnnmem.results import Drop, EvaluationReport, FileReport, Growth, LayerProblem, ModelReport
from flake8_cnnmem.settings.directives import DirectiveProblem, Directives
from flake8_cnnmem.settings.options import Limit, Settings
from flake8_cnnmem.training import Fact, Optimizer
from flake8_cnnmem.units import GIB, MIB
from flake8_cnnmem.unknown import Unknown

Make = Callable[..., ModelReport]


@dataclass(frozen=True)
class Place:
    path: str
    line: int
    column: int


def findings(report: ModelReport, settings: Settings | None = None, **file: Any) -> list[Finding]:
    return checks.run(FileReport(report.path, (report,), **file), settings or Settings())


def only(code: str, report: ModelReport, settings: Settings | None = None) -> str:
    [finding] = findings(report, settings)
    assert finding.code == code
    assert (finding.path, finding.line, finding.column) == ("vgg.py", 12, 9)
    return finding.message


def test_cnm101_says_what_is_needed_where_it_goes_and_what_would_fit(make_report: Make) -> None:
    assert only("CNM101", make_report()) == (
        "VGG16: training needs 12.04 GiB at batch 64 (train.py:41), over the 12.00 GiB limit "
        "(activations 10.0 GiB, parameters 512 MiB, gradients 512 MiB, optimizer state 1.0 GiB, "
        "input 37 MiB; adam, float32); fits up to batch 63"
    )


def test_cnm101_of_plain_options_names_no_sources(make_report: Make) -> None:
    training = replace(make_report().training, batch_size=Fact(64, "option"))
    assert "at batch 64, over" in only("CNM101", make_report(training=training))


def test_cnm101_names_the_line_of_an_optimizer_that_the_code_chose(make_report: Make) -> None:
    training = replace(make_report().training, optimizer=Fact(Optimizer("adam", (("amsgrad", True),)), "train.py:50"))
    assert "; adam with amsgrad (train.py:50), float32)" in only("CNM101", make_report(training=training))


def test_cnm101_of_a_lower_bound_says_at_least(make_report: Make) -> None:
    report = make_report(status="lower-bound", causes=(Unknown("num_classes is not known", "vgg.py", 30),))
    found = {finding.code: finding.message for finding in findings(report)}
    assert "training needs at least 12.04 GiB" in found["CNM101"]


def test_cnm101_names_the_gpu_whose_memory_the_limit_is(make_report: Make) -> None:
    message = only("CNM101", make_report(limit=12 * GIB), Settings(gpu_limit=Limit(12 * GIB, "RTX 3060 12GB")))
    assert "over the 12.00 GiB limit of the RTX 3060 12GB (" in message
    message = only("CNM101", make_report(limit=4 * GIB), Settings(gpu_limit=Limit(12 * GIB, "RTX 3060 12GB")))
    assert "over the 4.0 GiB limit (" in message


def test_cnm101_lists_an_overhead(make_report: Make, make_estimate: Callable[..., Estimate]) -> None:
    report = make_report(estimate=make_estimate(overhead=600 * MIB))
    assert "input 37 MiB, overhead 600 MiB; adam" in only("CNM101", report)


@pytest.mark.parametrize(
    ("changes", "limit", "message"),
    [
        pytest.param({}, GIB, "the parameters with gradients and optimizer state need 2.0 GiB alone", id="parameters"),
        pytest.param(
            {"activations": 640 * GIB}, 9 * GIB, "the activations of one sample need 10.0 GiB alone", id="activations"
        ),
        pytest.param({"overhead": 5 * GIB}, GIB, "the overhead takes 5.0 GiB alone", id="overhead"),
        pytest.param(
            {"overhead": GIB // 2},
            2 * GIB + MIB,
            "the parameters with gradients and optimizer state need 2.0 GiB",
            id="a sum",
        ),
    ],
)
def test_cnm101_names_the_largest_part_when_not_even_one_sample_fits(
    make_report: Make, make_estimate: Callable[..., Estimate], changes: dict[str, int], limit: int, message: str
) -> None:
    report = make_report(estimate=make_estimate(**changes), limit=limit, largest_batch_size=0)
    assert only("CNM101", report).endswith(f"; not even batch 1 fits: {message}")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"fits": True}, id="it fits"),
        pytest.param({"fits": None, "limit": None}, id="there is no limit"),
        pytest.param({"fits": None, "estimate": None}, id="there is no estimate"),
    ],
)
def test_cnm101_is_silent_where(make_report: Make, changes: dict[str, Any]) -> None:
    assert findings(make_report(**changes)) == []


def problem(code: str, what: str, advice: str = "", context: str = "") -> LayerProblem:
    return LayerProblem(Problem(code, what, advice), "fc1", Place("vgg.py", 12, 9), context)


def test_cnm201_names_layer_sizes_and_what_would_work(make_report: Make) -> None:
    report = make_report(
        fits=True,
        problems=(
            problem("CNM201", "takes 400 features, but is given 256", "Linear(256, ...) fits", "for the 28x28 input"),
        ),
    )
    assert only("CNM201", report) == (
        "fc1 takes 400 features, but is given 256 for the 28x28 input; Linear(256, ...) fits"
    )


def test_where_a_number_is_written_stands_behind_a_comma(make_report: Make) -> None:
    told = replace(
        problem("CNM201", "takes 256 features, but is given 512"),
        origin="by flatten (line 269)",
        written="512 is written in line 206",
    )
    assert only("CNM201", make_report(fits=True, problems=(told,))) == (
        "fc1 takes 256 features, but is given 512 by flatten (line 269), 512 is written in line 206"
    )


def test_a_layer_that_has_a_number_for_its_name_is_called_a_layer(make_report: Make) -> None:
    numbered = replace(problem("CNM201", "takes 100 features, but is given 7200"), layer="2")
    assert only("CNM201", make_report(fits=True, problems=(numbered,))).startswith("layer 2 takes 100 features")
    below = replace(numbered, layer="head.2")
    assert only("CNM201", make_report(fits=True, problems=(below,))).startswith("head.2 takes 100 features")


def test_cnm202_is_reported_at_the_layer(make_report: Make) -> None:
    report = make_report(fits=True, problems=(problem("CNM202", "shrinks its 1x1 input to 0x0"),))
    assert only("CNM202", report) == "fc1 shrinks its 1x1 input to 0x0"


def test_a_problem_that_two_models_share_is_reported_once(make_report: Make) -> None:
    report = make_report(fits=True, problems=(problem("CNM201", "takes 400 features, but is given 256"),))
    both = FileReport("vgg.py", (report, replace(report, name="VGG19")))
    assert len(checks.run(both, Settings())) == 1


@pytest.mark.parametrize(
    ("dropped", "message"),
    [
        ([("rows", 25, 1)], "pool2 drops 1 of 25 rows: its stride does not divide them"),
        (
            [("rows", 25, 1), ("columns", 25, 1)],
            "pool2 drops 1 of 25 rows and columns: its stride does not divide them",
        ),
        (
            [("rows", 25, 1), ("columns", 32, 2)],
            "pool2 drops 1 of 25 rows and 2 of 32 columns: its stride does not divide them",
        ),
    ],
)
def test_cnm203_says_how_much_is_dropped(make_report: Make, dropped: list[tuple[str, int, int]], message: str) -> None:
    drops = tuple(Drop("pool2", Place("vgg.py", 12, 9), axis, size, count) for axis, size, count in dropped)
    assert only("CNM203", make_report(fits=True, drops=drops)) == message


@pytest.mark.parametrize(
    ("causes", "message"),
    [
        (
            (Unknown("the input size is not known", "vgg.py", 12),),
            "VGG16 is not estimated: the input size is not known (line 12)",
        ),
        ((Unknown("timm is not found", "lib/net.py", 3),), "VGG16 is not estimated: timm is not found (lib/net.py:3)"),
        ((Unknown("it is too much"),), "VGG16 is not estimated: it is too much"),
        ((), "VGG16 is not estimated: something in it could not be followed"),
    ],
)
def test_cnm301_says_what_could_not_be_known(make_report: Make, causes: tuple[Unknown, ...], message: str) -> None:
    assert only("CNM301", make_report(status="unresolved", estimate=None, fits=None, causes=causes)) == message


def test_cnm301_says_why_a_file_was_not_followed() -> None:
    report = FileReport("a.py", failure=Unknown("the file is too large to be followed", "a.py"))
    assert checks.run(report, Settings()) == [
        Finding("a.py", 1, 1, "CNM301", "models of this file are not looked for: the file is too large to be followed")
    ]


def test_cnm302_lists_what_was_left_out(make_report: Make) -> None:
    causes = tuple(Unknown(f"size {number} is not known", "vgg.py", number) for number in range(1, 6))
    assert only("CNM302", make_report(status="lower-bound", fits=True, causes=causes)) == (
        "VGG16: 12.0 GiB at batch 64 is a lower bound, left out: size 1 is not known (line 1); "
        "size 2 is not known (line 2); size 3 is not known (line 3); and 2 more"
    )


def test_cnm901_stands_at_the_directive() -> None:
    report = FileReport("a.py", directives=Directives(problems=(DirectiveProblem(3, 5, "batch-size has no value"),)))
    assert checks.run(report, Settings()) == [Finding("a.py", 3, 5, "CNM901", "batch-size has no value")]


def test_only_the_codes_asked_for_are_looked_for(make_report: Make) -> None:
    report = make_report(problems=(problem("CNM201", "takes 400 features, but is given 256"),))
    found = checks.run(FileReport("vgg.py", (report,)), Settings(), {"CNM201"})
    assert [finding.code for finding in found] == ["CNM201"]


def test_findings_come_in_order_of_place(make_report: Make) -> None:
    reports = tuple(make_report(line=line) for line in (30, 4, 12))
    assert [finding.line for finding in checks.run(FileReport("vgg.py", reports), Settings())] == [4, 12, 30]


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "\x1b[31mred", "a\u2028b", "\udcff"])
def test_a_name_that_does_not_print_stays_in_its_line(make_report: Make, name: str) -> None:
    message = only("CNM101", make_report(name=name))
    assert message.isprintable()


def test_cnm101_of_several_trainings_is_the_one_that_needs_most(
    make_report: Make, make_estimate: Callable[..., Estimate]
) -> None:
    reports = tuple(
        make_report(place=(at, 3), trained_at=Place("vgg.py", 80 + at, 1), estimate=make_estimate(total=size * GIB))
        for at, size in ((1, 13), (2, 20), (3, 14))
    )
    (found,) = checks.run(FileReport("vgg.py", reports), Settings())
    assert found.message.startswith(
        "VGG16: the second of three trainings, its loop at line 82, needs 20.0 GiB at batch"
    )


def test_cnm101_of_models_at_one_line_is_one_each(make_report: Make) -> None:
    reports = (make_report(name="small"), make_report(name="large"))
    assert len(checks.run(FileReport("vgg.py", reports), Settings())) == 2


def test_cnm101_of_an_evaluation_says_what_evaluation_needs(
    make_report: Make, make_estimate: Callable[..., Estimate]
) -> None:
    report = make_report(
        estimate=make_estimate(total=730 * MIB, batch_size=1000),
        evaluation=EvaluationReport(1000, 730 * MIB, "vgg.py", 24, 800, 163 * MIB),
        limit=512 * MIB,
    )
    assert only("CNM101", report) == (
        "VGG16: evaluation needs 730 MiB at batch 1000 (vgg.py:24), over the 512 MiB limit "
        "(activations 10.0 GiB, parameters 512 MiB, gradients 512 MiB, optimizer state 1.0 GiB, "
        "input 37 MiB; float32); the training itself needs 163 MiB; "
        "evaluation fits up to batch 800"
    )


ITEMS, TURNS = "each item with its graph", "with the graphs of all turns before"


@pytest.mark.parametrize(
    ("gathers", "single", "use", "advice"),
    [
        (True, False, "evaluation", "keep it detached (.detach()), or run the loop under torch.no_grad()"),
        (True, True, "training", "keep the number alone (.item())"),
        (False, True, "evaluation", "add the number alone (.item()), or run the loop under torch.no_grad()"),
        (False, False, "training", "detach it (.detach()) before the next turn"),
        (False, True, "backward", "go back in each turn, the gradients add up all the same"),
        (
            True,
            False,
            "backward",
            "go back in each turn, the gradients add up all the same, or keep it detached (.detach())",
        ),
    ],
)
def test_cnm102_says_what_to_write(make_report: Make, gathers: bool, single: bool, use: str, advice: str) -> None:
    growth = Growth("kept", 72 * MIB, "vgg.py", 12, 9, "vgg.py", 10, gathers, single, use)
    said = only("CNM102", make_report(fits=True, growths=(growth,)))
    kept = ITEMS if gathers else TURNS
    assert said == f"kept keeps 72 MiB more with every turn of the loop at line 10, {kept}; {advice}"


def test_cnm102_names_the_file_of_a_loop_that_stands_elsewhere(make_report: Make) -> None:
    growth = Growth("meter.sum", 72 * MIB, "vgg.py", 12, 9, "lib/loop.py", 10, False, True, "evaluation")
    assert "of the loop at lib/loop.py:10, " in only("CNM102", make_report(fits=True, growths=(growth,)))


def test_many_findings_at_one_place_are_told_as_one() -> None:
    found = [Finding("net.py", 4, 2, "CNM201", f"conv{at} takes 8") for at in range(4)]
    beside = [Finding("net.py", 4, 2, "CNM203", "drops a row"), Finding("net.py", 9, 2, "CNM201", "fc takes 8")]
    assert checks.grouped([*found[:3], *beside]) == [*found[:3], *beside]
    [told, *others] = checks.grouped([*found, *beside])
    assert told.message == "conv0 takes 8; 3 more like it at this place"
    assert others == beside
