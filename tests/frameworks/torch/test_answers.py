"""What torch and numpy answer to questions that decide which way code takes: as torch 2.13.0 and numpy 2.4.6 do."""

from __future__ import annotations

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import HEAD, Ran

ACTIVATION = "vars(torch.nn.modules.activation)"
CUT = "[part.shape[0] for part in torch.zeros(10).tensor_split({})]"

ANSWERS = {
    "torch.zeros(2).layout == torch.strided": True,
    "torch.zeros(2).layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc)": False,
    "torch.zeros(2).layout is torch.strided": True,
    "isinstance(torch.zeros(2).layout, torch.layout)": True,
    "str(torch.strided)": "torch.strided",
    f"[c.__name__ for c in {ACTIVATION}.values() if isinstance(c, type) and c.__name__.startswith('Leaky')]": [
        "LeakyReLU"
    ],
    f"'GELU' in list({ACTIVATION})": True,
    f"next(cls for name, cls in {ACTIVATION}.items() if name.lower() == 'relu') is nn.ReLU": True,
    CUT.format("3"): [4, 3, 3],
    CUT.format("sections=3"): [4, 3, 3],
    CUT.format("indices=(1,)"): [1, 9],
    CUT.format("(7, 3)"): [7, 0, 7],
    CUT.format("(-3, -1)"): [7, 2, 1],
    "np.diff([1, 4, 9, 16]).tolist()": [3, 5, 7],
    "np.diff([1, 4, 9, 16], n=2).tolist()": [2, 2],
    "np.diff(np.zeros((2, 5)), axis=1).shape": (2, 4),
    "np.diff(np.zeros((2, 5)), n=7, axis=0).shape": (0, 5),
}


@pytest.mark.parametrize(("code", "answer"), ANSWERS.items())
def test_answers(code: str, answer: object) -> None:
    assert Ran(f"{HEAD}import numpy as np\nfound = {code}\n")["found"] == answer


def test_a_namespace_whose_names_are_not_written_down() -> None:
    assert isinstance(Ran(f"{HEAD}found = list(vars(torch.nn.modules.conv))\n")["found"], Unknown)


def test_the_set_of_unsaved_buffers_is_there_for_who_asks_and_for_who_writes_into_it() -> None:
    made = "net = nn.Module()\nnet.register_buffer('a', torch.zeros(2), persistent=False)\nbare = nn.Module()\n"
    asked = "before = list(bare._non_persistent_buffers_set)\nbare.register_buffer('b', torch.zeros(2))\n"
    written = "bare._non_persistent_buffers_set.add('b')\n"
    names = "found = [before, list(net._non_persistent_buffers_set), list(net.state_dict()), list(bare.state_dict())]\n"
    assert Ran(HEAD + made + asked + written + names)["found"] == [[], ["a"], [], []]
