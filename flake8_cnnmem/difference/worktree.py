"""The work tree beside a commit, read as files: what is there, what differs, what was renamed.

git is not asked: to tell what differs it would run the filters that the repository configures.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from flake8_cnnmem.difference.ignored import Rule, is_ignored, read_rules
from flake8_cnnmem.difference.repository import LINK, Blob, Tree
from flake8_cnnmem.source import LARGEST
from flake8_cnnmem.text.files import Files

ALIKE = 0.5
"""The share of its text that a file keeps when it counts as renamed, as in git (`--find-renames`)."""

MOST_COMPARED = 10_000
"""Pairs of a file that went and one that came whose texts are compared."""


def working_files(root: str, known: Mapping[str, Blob]) -> list[str]:
    """The files of a work tree by their paths from its root: those that the commit knows, and new ones that are not
    ignored. A link counts where it leads to a file of the work tree."""
    # A repository inside that the commit does not hold as a submodule is another project's.
    held = {path[:end] for path in known for end, sign in enumerate(path) if sign == "/"}
    outermost = read_rules(os.path.join(root, ".git", "info", "exclude"), "")
    return sorted(below(root, "", outermost, known, held))


def below(root: str, folder: str, rules: Sequence[Rule], known: Mapping[str, Blob], held: set[str]) -> Iterator[str]:
    """`folder` is "" or ends with a slash."""
    rules = [*rules, *read_rules(os.path.join(root, folder, ".gitignore"), folder)]
    try:
        with os.scandir(os.path.join(root, folder)) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        path = folder + entry.name
        if entry.is_dir(follow_symlinks=False):
            other = os.path.lexists(os.path.join(root, path, ".git"))
            if entry.name != ".git" and (path in held or not (other or is_ignored(rules, path, True))):
                yield from below(root, f"{path}/", rules, known, held)
        elif is_file(entry, root) and (path in known or not is_ignored(rules, path, False)):
            yield path


def is_file(entry: os.DirEntry[str], root: str) -> bool:
    """Whether it is a file, or a link to one of the work tree."""
    try:
        if not entry.is_symlink():
            return entry.is_file()
        return entry.is_file() and os.path.realpath(entry.path).startswith(os.path.realpath(root) + os.sep)
    except OSError:
        # A link that leads in a circle.
        return False


def changed(base: Tree, root: str, after: Tree | Sequence[str]) -> Iterator[str]:
    """The paths of what differs between a commit and another, or the files of the work tree, one by one."""
    if isinstance(after, Tree):
        old, new = base.blobs, after.blobs
        yield from (path for path in sorted({*old, *new}) if old.get(path) != new.get(path))
        return
    there = set(after)
    yield from sorted(there - set(base.blobs))
    for path, blob in sorted(base.blobs.items()):
        # A link to a folder, or to nothing, is no file of the work tree and still there.
        if differs(root, path, base) if path in there or blob.mode == LINK else True:
            yield path


def differs(root: str, path: str, base: Tree) -> bool:
    """Whether a file of the work tree has another content than in the commit; line ends do not count."""
    blob, place = base.blobs[path], os.path.join(root, path)
    try:
        if blob.mode == LINK or os.path.islink(place):
            return blob.mode != LINK or not os.path.islink(place) or os.fsdecode(base.read(blob)) != os.readlink(place)
        size = os.stat(place).st_size
        if size > LARGEST:
            return size != base.ask(blob, "--batch-check")[1]
        with open(place, "rb") as file:
            content = file.read(LARGEST)
    except OSError:
        return True
    return blob.name not in (name_of(content, blob.name), name_of(content.replace(b"\r\n", b"\n"), blob.name))


def name_of(content: bytes, like: str) -> str:
    """The name under which git keeps a content; SHA-256 where the repository's names are that long."""
    made = hashlib.new("sha1" if len(like) == 40 else "sha256", usedforsecurity=False)
    made.update(b"blob %d\0" % len(content) + content)
    return made.hexdigest()


def renames(base: Tree, after: Files, root: str, went: Sequence[str], came: Sequence[str]) -> dict[str, str]:
    """New path by old path, of files that went and came with the same text, or half of it."""
    old = {path: text for path in went if (text := lines_of(base, root, path))}
    new = {path: text for path in came if (text := lines_of(after, root, path))}
    found: dict[str, str] = {}
    by_text: dict[frozenset[tuple[bytes, int]], list[str]] = {}
    for path in sorted(new):
        by_text.setdefault(frozenset(new[path].items()), []).append(path)
    for path in sorted(old):
        alike = by_text.get(frozenset(old[path].items()), [])
        if alike:
            # One of the same name first: it was moved.
            best = next((to for to in alike if os.path.basename(to) == os.path.basename(path)), alike[0])
            alike.remove(best)
            found[path] = best
            del old[path], new[best]
    if len(old) * len(new) <= MOST_COMPARED:
        found |= by_likeness(old, new)
    return found


def by_likeness(old: Mapping[str, Counter[bytes]], new: Mapping[str, Counter[bytes]]) -> dict[str, str]:
    sizes = {id(lines): size(lines) for side in (old, new) for lines in side.values()}
    scored = []
    for path, lines in old.items():
        for to, others in new.items():
            larger = max(sizes[id(lines)], sizes[id(others)])
            if min(sizes[id(lines)], sizes[id(others)]) >= ALIKE * larger:
                share = size(lines & others) / larger
                if share >= ALIKE:
                    scored.append((-share, os.path.basename(path) != os.path.basename(to), path, to))
    found: dict[str, str] = {}
    for _, _, path, to in sorted(scored):
        if path not in found and to not in found.values():
            found[path] = to
    return found


def size(lines: Counter[bytes]) -> int:
    return sum(len(line) * count for line, count in lines.items())


def lines_of(files: Files, root: str, path: str) -> Counter[bytes]:
    """How often each line stands in a file; nothing of a link, an empty file, or one that cannot be read or is too
    large."""
    place = os.path.join(root, path)
    if files.blobs[path].mode == LINK if isinstance(files, Tree) else os.path.islink(place):
        return Counter()
    try:
        content = files.content(place, LARGEST + 1)
    except OSError:
        return Counter()
    return (
        Counter(line.rstrip(b"\r") + b"\n" for line in content.split(b"\n"))
        if 0 < len(content) <= LARGEST
        else Counter()
    )
