"""What of a wheel is written, and which wheels are refused whole."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from flake8_cnnmem.package_sources import wheels
from flake8_cnnmem.package_sources.wheels import BadWheel, Wheel, unpack

NAME = "net_sizes-1.2-py3-none-any.whl"


def written(folder: Path, members: dict[str, str], name: str = NAME) -> Wheel:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, text in members.items():
            archive.writestr(place, text)
    return Wheel.of(str(folder / name))


def tree(folder: Path) -> list[str]:
    return sorted(each.relative_to(folder).as_posix() for each in folder.rglob("*") if not each.is_dir())


def test_python_sources_alone_are_kept(tmp_path: Path) -> None:
    wheel = written(
        tmp_path,
        {
            "net/__init__.py": "WIDTH = 3\n", "net/ops.so": "x", "net/data.yaml": "x", "net/deep/er.py": "",
            "net_sizes-1.2.dist-info/METADATA": "x", "net_sizes-1.2.dist-info/x.py": "x", "run.pth": "import os",
            "net_sizes-1.2.data/purelib/more.py": "", "net_sizes-1.2.data/scripts/run.py": "", "net/.py": "",
        },
    )  # fmt: skip
    out = tmp_path / "out"
    out.mkdir()
    assert unpack(wheel, str(out)) == (3, 10)
    assert tree(out) == ["more.py", "net/__init__.py", "net/deep/er.py"]
    assert (wheel.name, wheel.version) == ("net-sizes", "1.2")
    assert all(not os.access(each, os.X_OK) for each in out.rglob("*.py"))


PATHS = [
    "../up.py", "/etc/x.py", "a/../../x.py", "a\\..\\x.py", "C:/x.py", "a//x.py", "./x.py", "a/./x.py", "a/ /x.py",
    "a./x.py", "nul/x.py", "a/COM1.py", "a\nb.py", "x" * 500 + ".py", "d/" * 50 + "x.py", "../data.bin", "a|b.py",
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_a_path_that_leads_elsewhere(path: str, tmp_path: Path) -> None:
    wheel = written(tmp_path, {"net/__init__.py": "", path: "x"})
    out = tmp_path / "a" / "b" / "out"
    out.mkdir(parents=True)
    with pytest.raises(BadWheel, match=r"no path within a package|a device on Windows"):
        unpack(wheel, str(out))
    assert tree(tmp_path) == [NAME]


def linked(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        link = zipfile.ZipInfo("net/x.py")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")


def twice(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/x.py", "one")
        archive.writestr("NET/X.py", "two")


def below_a_file(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/x.py", "")
        archive.writestr("net/x.py/y.py", "")


def encrypted(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/x.py", "text")
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    path.write_bytes(content)


def cut_off(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/x.py", "text" * 100)
    path.write_bytes(path.read_bytes()[:-30])


def changed_inside(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("net/x.py", "text" * 100)
    path.write_bytes(path.read_bytes().replace(b"texttext", b"tExttext"))


def no_archive(path: Path) -> None:
    path.write_bytes(b"#!/bin/sh\n")


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "a link": (linked, "no regular file"),
    "one file behind another": (twice, "twice"),
    "a file that is a folder as well": (below_a_file, "below a file"),
    "encrypted": (encrypted, "encrypted"),
    "cut off": (cut_off, "damaged"),
    "of another sum": (changed_inside, "damaged"),
    "no archive": (no_archive, "damaged"),
}


@pytest.mark.parametrize(("make", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wheel_that_is_refused(make: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    make(tmp_path / NAME)
    out = tmp_path / "out"
    out.mkdir()
    with pytest.raises(BadWheel, match=message):
        unpack(Wheel.of(str(tmp_path / NAME)), str(out))


BOUNDS: dict[str, tuple[str, int]] = {
    "one file": ("LARGEST_FILE", 99),
    "all files": ("LARGEST_IN_ALL", 199),
    "their number": ("MOST_FILES", 1),
    "the number of members": ("MOST_MEMBERS", 1),
}


@pytest.mark.parametrize(("bound", "value"), BOUNDS.values(), ids=BOUNDS)
def test_bounds(bound: str, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = written(tmp_path, {"net/a.py": "x" * 100, "net/b.py": "x" * 100})
    for folder in ("within", "beyond"):
        (tmp_path / folder).mkdir()
    monkeypatch.setattr(wheels, bound, value + 1)
    assert unpack(wheel, str(tmp_path / "within")) == (2, 200)
    monkeypatch.setattr(wheels, bound, value)
    with pytest.raises(BadWheel, match=r"than (is|are) (kept|read)"):
        unpack(wheel, str(tmp_path / "beyond"))


@pytest.mark.parametrize("name", ["net-1.0.tar.gz", "net.zip", "net-1.whl", "net-1-py3.whl", "-1-py3-none-any.whl"])
def test_a_file_that_is_no_wheel(name: str) -> None:
    with pytest.raises(BadWheel, match="no wheel"):
        Wheel.of(name)
