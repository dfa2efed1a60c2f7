"""Fixes over the bugs as people make them: what is mended is the right twin's network, the rest is left as it is."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import FileReport, analyse
from flake8_cnnmem.fixes import Mended, mended
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load

BUGS = Path(__file__).resolve().parent.parent.parent / "fixtures" / "bugs"
NAMES = sorted(path.stem.removesuffix("_wrong") for path in BUGS.glob("*_wrong.py"))
ON = {check.code for check in checks.every() if check.default}

MENDED = {
    "torch_adaptive_pool",
    "torch_attention_width",
    "torch_batch_norm_width",
    "torch_bidirectional_head",
    "torch_channels_chain",
    "torch_collate",
    "torch_config_width",
    "torch_conv3d_clip",
    "torch_flatten_width",
    "torch_fusion_width",
    "torch_gan_width",
    "torch_inherit",
    "torch_linear_features",
    "torch_lstm_width",
    "torch_pixel_shuffle_width",
    "torch_pool_then_linear",
    "torch_seq2seq_cat",
    "torch_siamese_head",
    "torch_stn",
    "torch_textcnn",
    "torch_transformer_width",
    "torch_true_division",
    "torch_view",
}
"""Of 132 bugs 23: those whose message names the one size that is right, written as a number. In the others two things
have to agree, and which one is meant is not in the code: 16 + 32 channels, the order of axes, an input's size."""

OTHERWISE = {"torch_stack_states"}
"""Mended by the size that the message names, where the twin joins other tensors instead."""


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


@cache
def after(name: str) -> Mended:
    return mended(load(str(BUGS / f"{name}_wrong.py")), Settings())


def found_in(report: FileReport) -> set[tuple[int, str]]:
    return {(finding.line, finding.code) for finding in checks.run(report, Settings(), ON)}


def networks(report: FileReport) -> list[list[tuple[str, tuple[int | None, ...], int]]]:
    return [[(row.type, row.output_shape, row.parameters) for row in model.rows] for model in report.reports]


def test_how_many_are_mended() -> None:
    assert {name for name in NAMES if after(name).fixes} == MENDED | OTHERWISE
    assert (len(MENDED), len(NAMES)) == (23, 132)


@pytest.mark.parametrize("name", NAMES)
def test_no_file_has_a_finding_more(name: str) -> None:
    source = load(str(BUGS / f"{name}_wrong.py"))
    report = analyse(Source(source.path, after(name).text), Settings())
    assert found_in(report) <= found_in(analyse(source, Settings()))


@pytest.mark.parametrize("name", sorted(MENDED))
def test_what_is_mended_is_the_right_network(name: str) -> None:
    result = analyse(Source(f"{name}_wrong.py", after(name).text), Settings())
    right = analyse(load(str(BUGS / f"{name}_right.py")), Settings())
    assert found_in(result) == set()
    assert networks(result) == networks(right)
    assert [model.status for model in result.reports] == [model.status for model in right.reports]


@pytest.mark.parametrize("name", sorted(MENDED))
def test_a_second_time_nothing_is_changed(name: str) -> None:
    again = mended(Source(f"{name}_wrong.py", after(name).text), Settings())
    assert (again.fixes, again.left, again.text) == ((), (), after(name).text)


@pytest.mark.parametrize("name", sorted(MENDED))
def test_one_line_is_changed_and_on_it_one_argument(name: str) -> None:
    before, now = (BUGS / f"{name}_wrong.py").read_text().split("\n"), after(name).text.split("\n")
    changed = [at for at, (left, right) in enumerate(zip(before, now, strict=True)) if left != right]
    edits = [edit for fix in after(name).fixes for edit in fix.edits]
    assert [edit.line - 1 for edit in edits] == changed
    for edit in edits:
        old, new = before[edit.line - 1], now[edit.line - 1]
        assert old[: edit.column - 1] + edit.text + old[edit.end_column - 1 :] == new


@pytest.mark.parametrize("name", sorted(set(NAMES) - MENDED - OTHERWISE))
def test_what_is_not_certain_is_left(name: str) -> None:
    assert after(name).text == (BUGS / f"{name}_wrong.py").read_text()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_changed_in_what_is_right(name: str) -> None:
    source = load(str(BUGS / f"{name}_right.py"))
    assert mended(source, Settings()).text == source.text
