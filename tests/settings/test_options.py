"""What each option accepts, and the Settings that the options add up to."""

from __future__ import annotations

import argparse
import re
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flake8_cnnmem.cli.options import add_settings
from flake8_cnnmem.frameworks.keras.optimizer_states import STATES as KERAS
from flake8_cnnmem.frameworks.torch.optim.states import STATES as TORCH
from flake8_cnnmem.settings import configuration, options
from flake8_cnnmem.settings.options import DTYPES, OPTIONS, BadValue, Limit, Option, Settings
from flake8_cnnmem.training import Fact, Optimizer
from flake8_cnnmem.units import GIB, KIB, MIB


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("3,224,224", (3, 224, 224)),
        ("3,64,64; 1; 77,768", (3, 64, 64)),
        ("3x224x224", (3, 224, 224)),
        ("3 x 224 x 224", (3, 224, 224)),
        ("(3, 224, 224)", (3, 224, 224)),
        ("[224, 224, 3]", (224, 224, 3)),
        ("784", (784,)),
        ("784,", (784,)),
        ("None,None,3", (None, None, 3)),
        ("?x?x3", (None, None, 3)),
        ("none", None),
        ("", None),
    ],
)
def test_input_shapes(text: str, shape: tuple[int | None, ...] | None) -> None:
    assert options.parse_input_shape(text) == shape


@pytest.mark.parametrize(
    "text", ["3,,224", "0,32,32", "3,-1", "a,b", "3.5", "1e3", "3;;224", "3;b", "9" * 5000, "3,224,99999999999"]
)
def test_what_is_no_input_shape_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match=r"is not an input shape: .*3,224,224"):
        options.parse_input_shape(text)


def test_several_input_shapes() -> None:
    found = options.parse_input_shape("3,64,64; (); None,768")
    assert isinstance(found, options.InputShapes)
    assert found.each == ((3, 64, 64), (), (None, 768))


@pytest.mark.parametrize(("text", "number"), [("32", 32), (" 1 ", 1), ("2147483647", 2**31 - 1)])
def test_batch_sizes(text: str, number: int) -> None:
    assert options.parse_batch_size(text) == number


@pytest.mark.parametrize("text", ["", "0", "-1", "1.5", "many", "32 images", "2147483648", "9" * 5000, "٣", "1_000"])
def test_what_is_no_batch_size_is_refused(text: str) -> None:
    with pytest.raises(BadValue, match="is not a batch size: use a whole number from 1"):
        options.parse_batch_size(text)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        *((name, name) for name in DTYPES),
        ("Float16", "float16"),
        ("mixed-bfloat16", "mixed_bfloat16"),
        ("fp32", "float32"),
        ("half", "float16"),
        ("bf16", "bfloat16"),
    ],
)
def test_dtypes(text: str, dtype: str) -> None:
    assert options.parse_dtype(text) == dtype


@pytest.mark.parametrize("text", ["", "float8", "int8", "complex64", "mixed"])
def test_what_is_no_dtype_is_refused_with_those_that_are(text: str) -> None:
    with pytest.raises(BadValue, match=r"is not a dtype: use float32, .* or mixed_bfloat16"):
        options.parse_dtype(text)


@pytest.mark.parametrize(
    ("text", "optimizer"),
    [
        ("Adam", Optimizer("adam")),
        ("sgd", Optimizer("sgd")),
        ("momentum", Optimizer("momentum")),
        ("RMSprop", Optimizer("rmsprop")),
        ("AMSGrad", Optimizer("adam", (("amsgrad", True),))),
        ("centered-rmsprop", Optimizer("rmsprop", (("centered", True),))),
    ],
)
def test_optimizers(text: str, optimizer: Optimizer) -> None:
    assert options.parse_optimizer(text) == optimizer


@pytest.mark.parametrize("name", sorted({*TORCH, *KERAS}))
def test_every_optimizer_of_the_frameworks_is_accepted(name: str) -> None:
    assert options.parse_optimizer(name).name == name


def test_what_is_no_optimizer_is_refused_with_those_that_are() -> None:
    with pytest.raises(BadValue, match=r"'adamm' is not an optimizer: use .*adam, .*momentum"):
        options.parse_optimizer("adamm")


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("12GiB", Limit(12 * GIB)),
        ("T4", Limit(15360 * MIB, "T4")),
        ("rtx3090", Limit(24576 * MIB, "RTX 3090")),
        ("3090", Limit(24576 * MIB, "RTX 3090")),
        ("1KiB", Limit(KIB)),
        ("1048576", Limit(MIB)),
        ("none", None),
        ("", None),
    ],
)
def test_limits(text: str, limit: Limit | None) -> None:
    assert options.parse_limit(text) == limit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("12", "12 bytes are no GPU's memory: say 12GiB"),
        ("0GiB", "say none for no limit"),
        ("-5GiB", "is not a size such as 12GiB"),
        ("12 gallons", "is not a size such as 12GiB"),
        ("RTX 9090", "the nearest known ones are"),
        ("A100", "A100-80GB or A100-40GB"),
    ],
)
def test_what_is_no_limit_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadValue, match=message):
        options.parse_limit(text)


@pytest.mark.parametrize("text", ["framework", "CS231n"])
def test_accountings(text: str) -> None:
    assert options.parse_accounting(text) == text.lower()


def test_what_is_no_accounting_is_refused() -> None:
    with pytest.raises(BadValue, match="use framework or cs231n"):
        options.parse_accounting("guess")


def test_the_overhead_may_be_nothing_but_not_a_gpu() -> None:
    assert options.parse_overhead("0") == 0
    assert options.parse_overhead("600 MiB") == 600 * MIB
    with pytest.raises(BadValue, match="is not a size"):
        options.parse_overhead("T4")


def test_a_search_path_is_a_list_of_folders() -> None:
    assert options.parse_search_path("src, vendor/models ,\n  ../lib") == ("src", "vendor/models", "../lib")
    assert options.parse_search_path(" , ") is None


def test_a_search_path_that_is_given_again_adds_up() -> None:
    command = argparse.ArgumentParser()
    add_settings(command)
    given = command.parse_args(["--search-path", "a,b", "--gpu-limit", "T4", "--search-path=c", "--batch-size", "3"])
    assert given.search_path == ("a", "b", "c")
    assert command.parse_args(["--search-path", "d"]).search_path == ("d",)
    assert not hasattr(command.parse_args([]), "search_path")


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
@given(text=st.text(max_size=60))
def test_any_text_at_all_is_read_or_refused_in_one_line(option: Option, text: str) -> None:
    refusal = "refused"
    try:
        option.parse(text)
    except BadValue as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert 0 < len(refusal) < 600


def test_settings_know_what_was_set_and_what_was_not() -> None:
    values: dict[str, Any] = {"batch_size": 8, "dtype": None, "input_shape": (3, 32, 32), "overhead": 5}
    assert Settings.of(values) == Settings(
        batch_size=Fact(8, "option"), input_shape=Fact((3, 32, 32), "option"), overhead=5
    )
    assert Settings().dtype == Fact("float32", "default")


def test_every_option_is_a_setting() -> None:
    names = {"gpu_limit", "batch_size", "input_shape", "optimizer", "dtype", "accounting", "overhead", "search_path"}
    names |= {"devices", "per_file_limits", "cache_dir", "stubs"}
    assert {option.field for option in OPTIONS} == {field.name for field in fields(Settings)} == names


def test_a_limit_goes_by_its_gpus_name_unless_a_directive_set_another() -> None:
    limited = Settings(gpu_limit=Limit(15360 * MIB, "T4"))
    assert limited.gpu_named(15360 * MIB, "net.py") == "T4"
    assert limited.gpu_named(GIB, "net.py") == ""
    assert Settings().gpu_named(GIB, "net.py") == ""


BUDGETS = "edge/*.py: 2GiB, *.py: T4\nedge/net.py, edge/other.py: 1GiB, net.py: none"


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        pytest.param("edge/net.py", Limit(GIB), id="a path before everything"),
        pytest.param("edge/other.py", Limit(GIB), id="patterns that share a limit"),
        pytest.param("edge/small.py", Limit(2 * GIB), id="a pattern of a folder before one of any file"),
        pytest.param("train/net.py", None, id="a name before a pattern, and no limit for it"),
        pytest.param("train/big.py", Limit(15360 * MIB, "T4"), id="the widest pattern"),
        pytest.param("train/big.ipynb", Limit(5 * GIB), id="no pattern: the general limit"),
    ],
)
def test_the_most_specific_pattern_sets_a_files_limit(path: str, limit: Limit | None) -> None:
    values = {"gpu_limit": Limit(5 * GIB), "per_file_limits": options.parse_per_file_limits(BUDGETS)}
    found = Settings.of(configuration.against(values, "/project")).limit_for(f"/project/{path}")
    assert found == limit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("edge/*.py", "'edge/*.py' has no limit: write PATTERN: LIMIT"),
        ("edge/*.py:", "'edge/*.py:' has no limit"),
        (": 2GiB", "': 2GiB' is not PATTERN: LIMIT"),
        ("a.py: 2GiB b.py: 3GiB", "is not PATTERN: LIMIT, such as edge/*.py: 2GiB, with commas between"),
        ("a.py: 2GiB, b.py: RTX 9090", "b.py: 'RTX 9090' is neither a size such as 12GiB nor a known GPU"),
    ],
)
def test_what_is_no_list_of_limits_is_refused(text: str, message: str) -> None:
    with pytest.raises(BadValue, match=re.escape(message)):
        options.parse_per_file_limits(text)
