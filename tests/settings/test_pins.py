"""Versions that a project asks for: one row a form of file. Forms: pip's requirements files, PEP 508, PEP 735, PEP 751,
the documentation of poetry, pdm, uv, pipenv and conda."""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.settings.pins import direct_names, project_pins, requirement
from flake8_cnnmem.text.files import DISK

A, B = "a" * 64, "b" * 64

NINE = '[[package]]\nname = "timm"\nversion = "1.0.9"\n'

FILES: dict[str, tuple[dict[str, str], dict[str, str]]] = {
    "requirements": (
        {"requirements.txt": "# data\nKeras==2.2.4  # old\ntorch >= 1.0, < 2\n-r more.txt\n-e .\nPillow\n"},
        {"keras": "==2.2.4", "torch": ">=1.0,<2", "pillow": ""},
    ),
    "requirements in a folder": ({"requirements/base.txt": "timm==0.4.12\n"}, {"timm": "==0.4.12"}),
    "hashes over several lines": (
        {"requirements.txt": f"timm==1.0.0 \\\n    --hash=sha256:{A} \\\n    --hash=sha256:{B}\n"},
        {"timm": "==1.0.0"},
    ),
    "either of two by a marker": (
        {"requirements.txt": "keras==2.2; python_version < '3'\nkeras==3.0; python_version >= '3'\n"},
        {},
    ),
    "an address is no pin": ({"requirements.txt": "timm @ https://example.org/timm.whl\ngit+https://a/b\n"}, {}),
    "pyproject": (
        {
            "pyproject.toml": '[project]\ndependencies = ["torch>=2", "keras[x]==3.1 ; python_version > \'3.9\'"]\n'
            '[project.optional-dependencies]\nvision = ["timm~=1.0"]\n[dependency-groups]\ndev = ["einops"]\n'
        },
        {"torch": ">=2", "keras": "==3.1", "timm": "~=1.0", "einops": ""},
    ),
    "poetry": (
        {
            "pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.9"\nkeras = "^2.4"\ntimm = "~0.4.12"\n'
            'torch = {version = "2.1.0", source = "x"}\neinops = "*"\nyacs = "^0.1.8"\ntqdm = ">=4,<5"\n'
        },
        {"keras": ">=2.4,<3", "timm": ">=0.4.12,<0.5", "torch": "==2.1.0", "einops": "", "yacs": ">=0.1.8,<0.2",
         "tqdm": ">=4,<5"},
    ),
    "hatch": (
        {"pyproject.toml": '[tool.hatch.envs.train]\ndependencies = ["keras==2.15"]\n'},
        {"keras": "==2.15"},
    ),
    "pipenv": ({"Pipfile": '[packages]\nkeras = "==2.4.3"\ntorch = "*"\n'}, {"keras": "==2.4.3", "torch": ""}),
    "pipenv's lock": (
        {"Pipfile.lock": f'{{"default": {{"keras": {{"version": "==2.4.3", "hashes": ["sha256:{A}"]}}}}}}'},
        {"keras": "==2.4.3"},
    ),
    "uv's lock before the range": (
        {
            "pyproject.toml": '[project]\ndependencies = ["timm>=1"]\n',
            "uv.lock": f'{NINE}wheels = [{{url = "u", hash = "sha256:{A}"}}]\n',
        },
        {"timm": "==1.0.9"},
    ),
    "poetry's lock": (
        {"poetry.lock": f'{NINE}files = [{{file = "f", hash = "sha256:{A}"}}]\n'},
        {"timm": "==1.0.9"},
    ),
    "pylock": (
        {"pylock.toml": '[[packages]]\nname = "timm"\nversion = "1"\n'
         f'[[packages.wheels]]\nhashes = {{sha256 = "{A}"}}\n'},
        {"timm": "==1"},
    ),
    "conda": (
        {"environment.yml": "dependencies:\n- python=3.6\n- conda-forge::keras=2.2.4=py36_0\n- numpy=1.16\n"
         "- scipy>=1\n- pip:\n  - timm==0.3.2\n"},
        {"python": "==3.6.*", "keras": "==2.2.4", "numpy": "==1.16.*", "scipy": ">=1", "timm": "==0.3.2"},
    ),
    "setup.cfg": ({"setup.cfg": "[options]\ninstall_requires =\n  keras<3\n  h5py\n"}, {"keras": "<3", "h5py": ""}),
    "the exact one of two files": (
        {"requirements.txt": "keras\n", "environment.yml": "dependencies:\n- keras=2.2.4\n"},
        {"keras": "==2.2.4"},
    ),
    "what cannot be read": (
        {"uv.lock": "[[", "Pipfile.lock": "[" * 3000, "environment.yml": "a: [", "setup.cfg": "x"},
        {},
    ),
    "of another shape": (
        {"uv.lock": "package = 3", "Pipfile.lock": "[1]", "environment.yml": "- 1", "pyproject.toml": "project = 1"},
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("texts", "expected"), FILES.values(), ids=FILES)
def test_what_a_project_asks_for(texts: dict[str, str], expected: dict[str, str], tmp_path: Path) -> None:
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = project_pins(str(tmp_path), DISK)
    assert {name: pin.specifier for name, pin in found.items()} == expected


LOCKS = ("hashes over several lines", "pipenv's lock", "uv's lock before the range", "poetry's lock", "pylock")


@pytest.mark.parametrize("form", LOCKS)
def test_hashes_of_a_lock_file(form: str, tmp_path: Path) -> None:
    for name, text in FILES[form][0].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (pin,) = project_pins(str(tmp_path), DISK).values()
    assert pin.locked
    assert pin.hashes == ({A, B} if form == LOCKS[0] else {A})


def test_what_a_lock_file_adds_is_not_what_the_project_asks_for(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\ndependencies = ["timm"]\n', encoding="utf-8")
    lock = "".join(f'[[package]]\nname = "{name}"\nversion = "1"\n' for name in ("timm", "torch", "pyyaml"))
    (tmp_path / "uv.lock").write_text(lock, encoding="utf-8")
    assert direct_names(str(tmp_path), DISK) == {"timm"}
    assert project_pins(str(tmp_path), DISK)["timm"].version == "1"


@pytest.mark.parametrize(
    "text",
    ["", "-r x", "--index-url x", "./timm.whl", "a b", "timm=1", "timm @ file:///x", "timm==", "timm==1 --pre", "é"],
)
def test_what_is_no_requirement(text: str) -> None:
    assert requirement(text) is None
