"""`cnnmem sources add|sync|list|remove`: Python sources of packages that are not installed, from wheels."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from flake8_cnnmem.cli.ending import FITS, UNUSABLE, Unusable, warn
from flake8_cnnmem.cli.options import settings_of

if TYPE_CHECKING:
    from flake8_cnnmem.cli.ending import Commands
    from flake8_cnnmem.package_sources import Record
    from flake8_cnnmem.settings.pins import Pin


def add(commands: Commands) -> None:
    command = commands.add_parser(
        "sources",
        help="sources of packages that are not installed",
        description="Where a hook or a job has none of a project's packages, their sources can be kept beside the"
        " cache: the Python files of wheels, which pip downloads from the index that it is configured for. Nothing of"
        " them is installed, built or run. They are looked up last.",
    )
    command.set_defaults(command=run)
    own = command.add_subparsers(dest="what", metavar="WHAT", required=True)
    adds = own.add_parser("add", help="packages by name, in the versions that the project pins unless one is given")
    adds.add_argument("packages", nargs="+", metavar="PACKAGE", help="timm, timm==1.0.11, 'timm>=1,<2'")
    sync = own.add_parser(
        "sync", help="what the project asks for and is not modelled here, in the versions that it pins"
    )
    gone = own.add_parser("remove", help="packages by name")
    gone.add_argument("packages", nargs="+", metavar="PACKAGE")
    listed = own.add_parser("list", help="what there is")
    for each in (adds, sync, gone, listed):
        each.add_argument("--user", action="store_true", help="the user's own folder, for all projects")
    for each in (adds, sync):
        each.add_argument(
            "--python-version", metavar="X.Y", help="the Python that the wheels are for: the running one's"
        )


def run(options: argparse.Namespace) -> int:
    from flake8_cnnmem import package_sources

    cache_dir = settings_of(options).cache_dir
    folder = package_sources.user_folder() if options.user else package_sources.project_folder(cache_dir)
    if folder is None:
        raise Unusable("there is no home folder for sources of the user's own")
    try:
        if options.what == "list":
            show(folder, package_sources.records(folder))
            return FITS
        if options.what == "remove":
            return removed(folder, options.packages)
        return fetched(folder, list(wanted(options)), options.python_version)
    except package_sources.SourcesError as error:
        raise Unusable(str(error)) from None


def show(folder: str, records: Sequence[Record]) -> None:
    from flake8_cnnmem import units

    if not records:
        print(f"{folder}: no sources")
    for each in records:
        verified = f"hash as in {each.verified}" if each.verified else "no hash in a lock file"
        print(f"{each.name} {each.version}  {each.files} files, {units.show(each.bytes)}, {verified}")


def removed(folder: str, names: Sequence[str]) -> int:
    from flake8_cnnmem import package_sources
    from flake8_cnnmem.settings.pins import normalised

    gone = package_sources.remove(folder, names)
    for name in gone:
        print(f"{name} is removed")
    missing = [name for name in names if normalised(name) not in gone]
    for name in missing:
        warn(f"there are no sources of {name}")
    return UNUSABLE if missing else FITS


def wanted(options: argparse.Namespace) -> Iterator[tuple[str, Pin | None]]:
    """What is asked of the index, each with what the project says of it."""
    from flake8_cnnmem.settings.pins import direct_names, project_pins, requirement
    from flake8_cnnmem.text.files import DISK

    pins = project_pins(os.getcwd(), DISK)
    if options.what == "add":
        for asked in options.packages:
            found = requirement(asked)
            pin = pins.get(found[0]) if found is not None else None
            if found is None or found[1] or pin is None:
                # The hashes of a lock file are about its own version.
                yield asked, pin if found is not None and pin is not None and found[1] == pin.specifier else None
            else:
                yield f"{pin.name}{pin.specifier}", pin
        return
    if not pins:
        raise Unusable("no file of the working directory says which packages the project asks for")
    for name in sorted(direct_names(os.getcwd(), DISK)):
        if not is_modelled(name):
            yield f"{name}{pins[name].specifier}", pins[name]


def is_modelled(name: str) -> bool:
    """Whether a package's source would not be read, as all of it is written down here."""
    from flake8_cnnmem import frameworks, packages

    top = name.replace("-", "_")
    return not frameworks.is_read(top) or packages.stands_for_all(top)


def fetched(folder: str, asked: Sequence[tuple[str, Pin | None]], python: str | None) -> int:
    """Fetch and keep packages one by one, what has failed told at the end; nothing is fetched again that is there."""
    from flake8_cnnmem import package_sources
    from flake8_cnnmem.package_sources.index import NotFetched
    from flake8_cnnmem.package_sources.wheels import BadWheel

    status = FITS
    there: Mapping[str, Record] = {each.name: each for each in package_sources.records(folder)}
    for text, pin in asked:
        known = there.get(pin.name) if pin is not None else None
        if known is not None and pin is not None and known.version == pin.version:
            print(f"{known.name} {known.version} is there")
            continue
        try:
            record = one(folder, text, pin, python)
        except (NotFetched, BadWheel) as error:
            warn(str(error))
            status = UNUSABLE
            if isinstance(error, NotFetched) and error.network:
                break
        else:
            verified = f", hash as in {record.verified}" if record.verified else ""
            print(f"{record.name} {record.version}: {record.files} files{verified}")
    return status


def one(folder: str, text: str, pin: Pin | None, python: str | None) -> Record:
    """One package: fetched, held against the lock file's hashes, unpacked, kept. Raises NotFetched, BadWheel and
    SourcesError."""
    from flake8_cnnmem import package_sources
    from flake8_cnnmem.package_sources.index import fetch
    from flake8_cnnmem.package_sources.wheels import BadWheel, unpack

    with tempfile.TemporaryDirectory(prefix="cnnmem-") as place:
        wheel = fetch(text, place, python)
        digest = wheel.sha256()
        if pin is not None and pin.hashes and digest not in pin.hashes:
            raise BadWheel(
                f"{os.path.basename(wheel.path)} has not a hash of {os.path.basename(pin.path)}: it is not kept"
            )
        verified = os.path.basename(pin.path) if pin is not None and pin.hashes else None
        code = os.path.join(place, "code")
        os.mkdir(code)
        files, size = unpack(wheel, code)
        record = package_sources.Record(
            wheel.name, wheel.version, os.path.basename(wheel.path), digest, files, size, verified
        )
        package_sources.keep(folder, record, code)
        return record
