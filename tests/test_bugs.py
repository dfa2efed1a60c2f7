"""Shape bugs as people make them: each wrong file has its one finding on the marked line, its right twin has none.

Of whole programs the right one stands there with the lines that make it wrong (tests/changed_lines.py): each is found,
and those that are found at the line itself stay so.
fixtures/truth/bugs.json holds what the frameworks themselves say to both; tests/oracle/confirm_bugs.py asks them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import FileReport, analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load
from tests.changed_lines import Bug, bugs_of
from tests.conftest import by_hand, not_followed

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
CONFIRMED = {bug["name"]: bug for bug in json.loads((FIXTURES / "truth" / "bugs.json").read_text())["bugs"]}
NAMES = sorted(path.stem.removesuffix("_wrong") for path in (FIXTURES / "bugs").glob("*_wrong.py"))
PROGRAMS = sorted((FIXTURES / "bugs" / "programs").glob("*.py"))
CHANGED = [bug for path in PROGRAMS for bug in bugs_of(path)]
MARK = re.compile(r"# (CNM20[12])$")
ELSEWHERE = {
    "keras_add_widths", "keras_attention_query_width", "keras_autoencoder_odd", "keras_bidirectional_residual",
    "keras_copied_weights", "keras_dataset_unbatched", "keras_dot_attention", "keras_dot_similarity",
    "keras_embedding_matrix_width", "keras_fit_lengths", "keras_flatten_gap_dense", "keras_functional_resize",
    "keras_gate_product", "keras_inception_valid_pool", "keras_pool_small", "keras_pooled_away",
    "keras_seq2seq_states", "keras_sparse_ce_axis", "keras_unet_odd_size", "keras_vae_decoder_shape",
    "torch_bag_then_mean", "torch_cgan_label_embedding", "torch_config_width",
    "torch_conv1d_channels_last", "torch_dataclass", "torch_dataset_getitem", "torch_dataset_grayscale",
    "torch_feature_extractor_children", "torch_gate_split", "torch_grid_last",
    "torch_gru_no_batch_first_head", "torch_heads_not_divided", "torch_instance_norm_single",
    "torch_lstm_unpacked_wrong", "torch_memory_width", "torch_mha_mask_shape",
    "torch_moe_expert_out", "torch_mse_sizes", "torch_packed_lengths", "torch_pooled_away",
    "torch_positions_odd_width", "torch_positions_without_token", "torch_relative_bias_window",
    "torch_se_block_reduction", "torch_shifted_labels_only", "torch_siamese_cat_once", "torch_stack_states",
    "torch_text_cnn_filters", "torch_unflatten", "torch_upsample_odd",
    "torch_view_mixes_batch", "torch_wavenet_dilation",
}  # fmt: skip
"""Pairs whose bug is found, and told at another line than the marked one."""

ON_BY_DEFAULT = [check.code for check in checks.every() if check.default]


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


def report_of(name: str) -> FileReport:
    return analyse(load(str(FIXTURES / "bugs" / f"{name}.py")), Settings())


def found_in(report: FileReport) -> set[tuple[int, str]]:
    return {(finding.line, finding.code) for finding in checks.run(report, Settings(), ON_BY_DEFAULT)}


def marked_in(name: str) -> set[tuple[int, str]]:
    lines = (FIXTURES / "bugs" / f"{name}.py").read_text().splitlines()
    return {(number, mark[1]) for number, line in enumerate(lines, 1) if (mark := MARK.search(line))}


@pytest.mark.parametrize("name", NAMES)
def test_the_framework_refuses_the_wrong_file_and_runs_the_right_one(name: str) -> None:
    assert CONFIRMED[name]["wrong"] is not None
    assert CONFIRMED[name]["right"] is None


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_file_has_its_finding_on_the_marked_line_and_no_other(name: str) -> None:
    marks = marked_in(f"{name}_wrong")
    assert len(marks) == 1
    found = found_in(report_of(f"{name}_wrong"))
    assert {code for _, code in found} == {code for _, code in marks}
    assert (found != marks) == (name in ELSEWHERE), found


@pytest.mark.parametrize("name", NAMES)
def test_the_right_twin_is_understood_and_has_no_finding(name: str) -> None:
    report = report_of(f"{name}_right")
    assert found_in(report) == set()
    assert report.reports
    assert [reason for model in report.reports for reason in not_followed(model)] == []


# Each is a whole program, evaluated once more for every edit that is tried: every fourth runs each time.
@pytest.mark.parametrize(
    "bug", [pytest.param(bug, id=bug.name, marks=by_hand if at % 4 else ()) for at, bug in enumerate(CHANGED)]
)
def test_a_changed_line_of_a_program_is_found(bug: Bug) -> None:
    assert CONFIRMED[bug.name]["wrong"] is not None
    assert CONFIRMED[bug.name]["right"] is None
    found = found_in(analyse(Source(f"{bug.name}.py", bug.text), Settings()))
    assert {code for _, code in found} == bug.codes
    # The truth is the changed line. Where another one is told, nothing is held but that the bug is found.
    assert not bug.placed or {line for line, _ in found} == {bug.line}


BOUNDED = {
    "keras_digit_autoencoder": {"what the loss keeps beside what the model gives"},
    "keras_gan_generator_side": {"what the step that trains generator keeps of the other models that it calls"},
    "keras_translate_states": {"the input's size is not stated"},
}
"""Right programs that are followed, and whose figure is a bound."""


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_a_right_program_is_understood_and_has_no_finding(path: Path) -> None:
    report = analyse(load(str(path)), Settings())
    assert found_in(report) == set()
    assert report.reports
    assert {reason for model in report.reports for reason in not_followed(model)} == BOUNDED.get(path.stem, set())


WRONG_TARGET = """\
import torch
from torch import nn

net = nn.Linear(8, 3)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    loss = nn.functional.cross_entropy(net(torch.zeros(4, 8)), torch.zeros(5, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


LABELS_BY_ITEM = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.randn(10), torch.randint(0, 8, (1,)).item()


net = nn.Linear(10, 8)
criterion = nn.CrossEntropyLoss(weight=torch.ones({weights}))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x, y in DataLoader(Rows(), batch_size=4):
    loss = criterion(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("weights", "count"), [(8, 0), (7, 1)])
def test_labels_that_item_gives_are_a_batch_of_numbers(weights: int, count: int) -> None:
    """torch: `weight tensor should be defined either for all 8 classes or no classes but got [...] shape: [7]`."""
    report = analyse(Source("train.py", LABELS_BY_ITEM.format(weights=weights)), Settings())
    assert len(found_in(report)) == count
    assert count or [reason for model in report.reports for reason in not_followed(model)] == []


UNLIKE = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 16

    def __getitem__(self, index):
        return torch.randn({length}), torch.tensor(0.0)


net = nn.LazyLinear(1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x, y in DataLoader(Rows(), batch_size={size}):
    loss = (net(x)[:, 0] - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("length", "size", "count"), [("8 + index % 3", 4, 1), ("8 + index // 16", 4, 0), ("8 + index % 3", 1, 0)]
)
def test_samples_of_other_sizes_are_not_stacked(length: str, size: int, count: int) -> None:
    """torch: `stack expects each tensor to be equal size, but got [8] at entry 0 and [9] at entry 1`."""
    report = analyse(Source("train.py", UNLIKE.format(length=length, size=size)), Settings())
    assert len(found_in(report)) == count


LABELS_DRAWN = """\
import torch
from torch import nn

net = nn.Linear(8, 4)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(2):
    labels = torch.randint(0, 10, (256,))
    CHANGE
    loss = nn.functional.cross_entropy(net(torch.zeros(256, 8)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


# As PyTorch has it: "Target 9 is out of bounds" of the first alone.
@pytest.mark.parametrize(
    ("change", "count"),
    [("pass", 1), ("labels[labels > 3] = 0", 0), ("labels.clamp_(max=3)", 0), ("labels = labels % 4", 0)],
)
def test_labels_that_are_drawn_are_too_large_unless_they_are_changed(change: str, count: int) -> None:
    report = analyse(Source("train.py", LABELS_DRAWN.replace("CHANGE", change)), Settings())
    assert len(found_in(report)) == count


def test_a_wrong_target_leaves_the_network_known() -> None:
    (report,) = analyse(Source("train.py", WRONG_TARGET), Settings()).reports
    assert [each.problem.code for each in report.problems] == ["CNM201"]
    assert (report.status, report.estimate) == ("unresolved", None)
    assert (report.parameters, report.trainable) == (8 * 3 + 3, 8 * 3 + 3)


ONE_TENSOR = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 8, num_layers=2, batch_first=True)

    def forward(self, x):
        state = torch.zeros({shape})
        return self.rnn(x, state)[0]


Net()(torch.zeros(3, 5, 4))
"""


@pytest.mark.parametrize(("shape", "count"), [("2, 3, 8", 1), ("2, 2, 3, 8", 0)])
def test_an_lstm_takes_two_parts_of_one_tensor_for_its_states(shape: str, count: int) -> None:
    """torch: `For batched 3-D input, hx and cx should also be 3-D but got (2-D, 2-D) tensors`."""
    assert len(found_in(analyse(Source("train.py", ONE_TENSOR.format(shape=shape)), Settings()))) == count
