"""Programs written to mislead a reader, by class, against what the frameworks themselves say of them.

fixtures/truth/misleading_*.json hold that; tests/oracle/measure_misleading.py measures it and says what each figure is.
Whatever is called exact has to be right in all of them, and no program that runs may have a finding. `FOLLOWED_IN_PART`
names those that run and are not exact here, with the reason: any other one has to be exact.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from flake8_cnnmem import checks
from flake8_cnnmem.analysis import ModelReport, analyse
from flake8_cnnmem.dims import Batch
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source, load
from flake8_cnnmem.training import Fact
from tests.conftest import not_followed

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
ON_BY_DEFAULT = [check.code for check in checks.every() if check.default]
BATCH = 2

PROGRAMS = [
    pytest.param(program, id=program["target"] + ("" if program["told"] else " of unstated input"))
    for path in sorted((FIXTURES / "truth").glob("misleading_*.json"))
    for program in json.loads(path.read_text())["programs"]
]

KEPT = "a result of forward is kept until the next step"
FOLDER = "what a folder holds is not known"
BUFFER = "what a buffer needs that asks for a gradient"
KEPT_BY = (
    "MutableDefaultForward",
    "KeepInClosure",
    "KeepInClassAttr",
    "KeepInPlainObject",
    "KeepInFunctionAttr",
    "KeepInDefaultDict",
    "KeepInDeque",
    "KeepInPartial",
    "KeepInGenerator",
    "KeepInMethodDefault",
    "KeepInLru",
    "KeepInNested",
    "KeepInSubclassDict",
    "KeepInNonlocal",
    "KeepInContextVar",
    "KeepInHookClosure",
    "KeepGradFn",
)

FOLLOWED_IN_PART: dict[str, str] = {
    "parameters_torch.py::Complex()": "what matmul keeps for its backward pass is not known",
    "parameters_torch.py::Fourier()": "what einsum keeps for its backward pass is not known",
    "written_torch.py::Fft()": "what loss keeps for its backward pass is not known",
    "details_keras.py::variables()": "whether a layer counts a tf.Variable among its weights depends on Keras' version",
    "details_torch.py::FlagsMade()": "what is made of an auto() within its enum is not followed",
    "details_torch.py::Grouped()": "except* is not followed",
    "details_torch.py::IsMeta()": "whether a tensor is on the meta device is not known",
    "exceptions_torch.py::Message()": "the text of a framework's error is not known",
    "functions_saved.py::Turned()": "what polar keeps for its backward pass is not known",
    "hooks_forward.py::Backward()": "what a backward hook of Conv2d holds",
    "hooks_forward.py::DictKept()": KEPT,
    "hooks_forward.py::Features()": KEPT,
    "hooks_forward.py::Wrapper()": KEPT,
    **{f"kept_torch.py::{name}()": KEPT for name in KEPT_BY},
    "sizes_torch.py::Bilinear()": "what Bilinear keeps for its backward pass is not known",
    "keras_models.py::Falls()": "the layer's input channels are not known before its first call",
    "lazy_layers.py::Own()": "Own is a lazy layer of its own",
    "methods_torch.py::Gone()": "whether an object is still there that is referred to weakly",
    "methods_torch.py::Handled()": "the exception that was handled before is not kept",
    "methods_torch.py::OtherCode()": "the code of first() was replaced",
    "methods_torch.py::OwnModules()": "OwnModules has a named_modules() of its own",
    "methods_torch.py::OwnNames()": "OwnNames has a named_parameters() of its own",
    "methods_torch.py::OwnParameters()": "OwnParameters has a parameters() of its own",
    "older_keras.py::asks_for_older()": "it depends on the version of keras.layers whether it has CuDNNLSTM",
    "older_keras.py::renormalised()": "what BatchNormalization keeps for its backward pass is not known",
    "older_keras.py::takes_older()": "it depends on the version of keras.layers whether it has CuDNNGRU",
    **{f"passed_torch.py::{name}()": "how many pairs a batch has" for name in ("PairsGiven", "PairsInDict")},
    "python_models.py::SDisp()": "a function is registered for a type by its annotation alone",
    "shared_keras.py::config_overridden()": "what a Projection was constructed with is not kept",
    "sizes_torch.py::EncoderFirst()": "a size of attention is not known",
    "sizes_torch.py::NoBatch()": "a window or slice cuts through the batch",
    "saved_normed.py::orthogonal()": "what an orthogonal parametrisation keeps",
    "saved_normed.py::orthogonal_householder()": "what an orthogonal parametrisation keeps",
    **{f"special_torch.py::{name}()": BUFFER for name in ("BufGrad", "BufComputed", "BufThenGrad", "BufLater")},
    "built_torch.py::BufferAsWeight()": BUFFER,
    "chosen_torch.py::Vmapped()": "what vmap keeps for its backward pass is not known",
    "surgery_torch.py::PackedHalf()": "what hooks keep in the place of saved tensors is not followed",
    "tracked_keras.py::quantised()": "what quantize() makes of weights is not followed",
    "told_torch.py::EnumFlag()": "what is made of an auto() within its enum is not followed",
    "told_torch.py::ProtocolCls()": "whether an object has what HasW asks for is not known",
    "told_torch.py::ReprBased()": "the text of a Linear is not known",
    "told_torch.py::SigDriven()": "the signature of __init__ is not known",
    "unreturned_torch.py::Detached()": KEPT,
    "unreturned_torch.py::KeptGlobally()": KEPT,
    "unreturned_torch.py::KeptInDict()": KEPT,
    "unreturned_torch.py::KeptOnSelf()": KEPT,
    "unreturned_torch.py::StoredInList()": KEPT,
    "written_torch.py::BufferReg()": KEPT,
    "written_torch.py::BufferUse()": KEPT,
    "written_torch.py::StateD()": KEPT,
    **{
        f"unsure_torch.py::{name}()": FOLDER
        for name in ("AddedUnderAny", "CalledByMap", "EitherBase", "EitherLayer", "ElseOfLoop", "FilledInList")
    },
    **{
        f"unsure_torch.py::{name}()": FOLDER
        for name in ("FlagAtBreak", "FrozenInList", "GivenAnyhow", "NamedOnTheWay", "SetInList")
    },
    **{
        f"left_early.py::{name}": FOLDER
        for name in ("Broken()", "BrokenFlag()", "ChangedAndReturned()", "Continued()", "ElseOfTry()", "Endless()")
    },
    **{
        f"left_early.py::{name}": FOLDER
        for name in ("FrozenAndBroken()", "RaisedAndTaken()", "RaisedInside()", "Returned()", "ReturnedDeep()")
    },
    **{f"left_early.py::{name}": FOLDER for name in ("ReturnedInLoop()", "built()")},
    **{
        f"among_torch.py::{name}()": FOLDER
        for name in ("BiasGone", "ByAttributeName", "ByHolder", "ByParameterName", "FlagSet", "FrozenByMethod")
    },
    **{
        f"among_torch.py::{name}()": FOLDER for name in ("LayerAdded", "ListOfOne", "OfDict", "OfSlice", "WeightsOfOne")
    },
    "among_torch.py::PickedAtRandom()": "the result of random.choice is not known",
    "left_early.py::DroppedPerhaps()": "whether values are dropped is not known",
    "unsure_torch.py::ByIdentity()": "the identity of an object changes from run to run",
    "unsure_torch.py::CopiedByPickle()": "the result of pickle.loads is not known",
    "unsure_torch.py::PickedAtRandom()": "the result of random.choice is not known",
    "library_python.py::BoundLate()": "what a generator expression reads was bound anew",
    "library_python.py::HookOnState()": "what a hook makes of a state_dict is not followed",
    "library_python.py::Narrow()": "what is computed with a number of uint8 is not followed",
    "saved_shared.py::inplace_many()": "Dropout writes into what ReLU has saved",
    "weights_torch.py::in_place_chain()": "Hardtanh writes into what ReLU has saved",
    "parts_torch.py::ByItself()": "setitem writes into what mul_ has saved",
    "written_torch.py::SavedChanged()": "add_ writes into what sigmoid has saved",
    "written_torch.py::SavedChanged2()": "mul_ writes into what mul has saved",
    "weights_torch.py::Bag()": "what embedding_bag keeps for its backward pass is not known",
}
"""By target the beginning of the first cause."""


@pytest.fixture(autouse=True)
def _strict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CNNMEM_STRICT", "1")


@cache
def source(name: str) -> Source:
    return load(str(FIXTURES / "misleading" / name))


def report_of(program: dict[str, Any]) -> tuple[ModelReport, set[str]]:
    """The report, and the sizes that are found to be wrong."""
    name, _, expression = program["target"].partition("::")
    told = Fact(tuple(program["input_shapes"][0]), "option") if program["told"] else None
    settings = Settings(input_shape=told, batch_size=Fact(BATCH, "option"))
    answer = analyse(source(name), settings, expression)
    found = {finding.message for finding in checks.run(answer, settings, ON_BY_DEFAULT) if "CNM20" in finding.code}
    return answer.reports[0], found


def at_batch(tensor: Tensor) -> list[int]:
    assert isinstance(tensor.shape, tuple)
    return [size.multiple * BATCH if isinstance(size, Batch) else size for size in tensor.shape]  # type: ignore[misc]


@pytest.mark.parametrize("program", PROGRAMS)
def test_exact_is_what_the_framework_says(program: dict[str, Any]) -> None:
    report, found = report_of(program)
    if "raises" in program:
        assert report.status != "exact" or refused(report, program)
        return
    assert not found
    if program["target"] in FOLLOWED_IN_PART:
        assert report.causes[0].reason.startswith(FOLLOWED_IN_PART[program["target"]])
    if report.status != "exact" and (not report.causes or not_followed(report)):
        assert program["target"] in FOLLOWED_IN_PART or not program["told"], report.causes
        return
    assert (report.parameters, report.trainable) == (program["parameters"], program["trainable"])
    assert report.model is not None
    assert [at_batch(tensor) for tensor in report.model.outputs] == program["outputs"]
    if "saved_bytes" in program and report.status == "exact":
        assert report.estimate is not None
        assert report.estimate.saved in saved_of(program)


def refused(report: ModelReport, program: dict[str, Any]) -> bool:
    """Whether a call's sizes are wrong, or the model is not estimated for the input that an option gives."""
    assert report.model is not None
    stated = report.training.input_shape
    other = stated is not None and stated.value != tuple(program["input_shapes"][0])
    return other or any(call.problem is not None for call in report.model.calls)


def saved_of(program: dict[str, Any]) -> set[int]:
    """What autograd keeps, without inputs, and with those among them: the batch is counted whoever keeps it."""
    dtypes = program.get("dtypes", ["float32"] * len(program["input_shapes"]))
    widths = [8 if dtype == "int64" else 4 for dtype in dtypes]
    inputs = sum(BATCH * math.prod(s) * width for s, width in zip(program["input_shapes"], widths, strict=True))
    return {program["saved_bytes"] + more for more in (0, program["saved_inputs"], inputs)}
