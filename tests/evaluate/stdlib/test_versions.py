"""Versions compare by their numbers: `packaging`, `distutils`, `pkg_resources` and torch's own text. As CPython
3.11 with packaging 26.3 and torch 2.13.0 gives them."""

from __future__ import annotations

import pytest

from flake8_cnnmem.unknown import Unknown
from tests.frameworks.torch.code import Ran

HEAD = """
import torch
import pkg_resources
from distutils.version import LooseVersion, StrictVersion
from packaging import version
from packaging.version import InvalidVersion, Version, parse
"""

ANSWERS = {
    "torch.__version__ >= '2.2'": True,
    "torch.__version__ < (1, 8)": False,
    "torch.__version__ > 'nonsense'": False,
    "torch.__version__.split('.')[:2]": ["2", "13"],
    "[isinstance(torch.__version__, str), f'{torch.__version__}']": [True, "2.13.0"],
    "version.parse(torch.__version__) >= version.parse('2.2rc1')": True,
    "parse('1.10') > parse('1.9') > parse('1.9rc1') > parse('1.9b2') > parse('1.9.dev3')": True,
    "parse('1.0') < parse('1.0.post1') < parse('1.0.1') < parse('1!0.1')": True,
    "parse('1.0') == parse('1.0.0')": True,
    "parse('1.0') < parse('1.0+cu118')": True,
    "parse('1.10.0+cu113').release": (1, 10, 0),
    "[parse('v1.2rc3').major, parse('1.2').minor, parse('1.2').micro]": [1, 2, 0],
    "[parse('1.2rc3').is_prerelease, parse('1.2.post1').is_prerelease]": [True, False],
    "str(Version('1.2.0+cpu'))": "1.2.0+cpu",
    "[parse('1.2+cpu').base_version, parse('1.2+cpu').local]": ["1.2", "cpu"],
    "str(max([parse('1.9'), parse('1.10')]))": "1.10",
    "LooseVersion('1.10.0a0') > '1.9'": True,
    "LooseVersion('1.13.1').version": [1, 13, 1],
    "StrictVersion('0.10') > StrictVersion('0.9')": True,
    "pkg_resources.parse_version('0.10') > pkg_resources.parse_version('0.9')": True,
}


@pytest.mark.parametrize(("code", "answer"), ANSWERS.items())
def test_versions(code: str, answer: object) -> None:
    assert Ran(f"{HEAD}found = {code}\n")["found"] == answer


def test_what_is_no_version_is_refused() -> None:
    ran = Ran(f"{HEAD}try:\n    parse('none')\n    found = 1\nexcept InvalidVersion:\n    found = 2\n")
    assert ran["found"] == 2


def test_a_version_that_is_not_known() -> None:
    ran = Ran(f"{HEAD}import os\nfound = parse(os.environ['WHICH']) > parse('1.0')\n")
    assert isinstance(ran["found"], Unknown)
