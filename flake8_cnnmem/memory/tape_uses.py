"""What the entries of a tape give to weights: which of them train, how often, and by which views."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from flake8_cnnmem.memory.tape import Entry, Region, TapeNode, WrittenBackward


def trained_by(entry: TapeNode | WrittenBackward) -> list[int]:
    """The weights that an entry gives a gradient, by key."""
    if isinstance(entry, TapeNode):
        return [entry.operands[at][0] for at in entry.plan.trained]
    return [key for key, value in entry.operands if value.weight is not None and value.grad]


def number_of_view(entry: Entry) -> int:
    """The number of the call whose view of a weight an entry reads: its own, unless a backward pass has read it."""
    return entry.label.rereads or entry.label.number


def shared_views(tape: Sequence[Entry]) -> dict[tuple[int, int], int]:
    """The views of weights that several nodes of a tape read, by the call that has made one and the weight's key, with
    the number of those nodes."""
    found: dict[tuple[int, int], int] = {}
    made = {entry.label.rereads for entry in tape if entry.label.rereads}
    for entry in tape if made else ():
        view = number_of_view(entry)
        if view in made and isinstance(entry, TapeNode) and 1 in entry.plan.trained:
            read = view, entry.operands[1][0]
            found[read] = found.get(read, 0) + 1
    return {read: number for read, number in found.items() if number > 1}


def uses_of(tape: Sequence[Entry], shared: Collection[tuple[int, int]]) -> dict[int, int]:
    """How many nodes of a tape give each weight a gradient, those of a `shared` view as one. A checkpoint's own tape is
    a pass of its own."""
    uses: dict[int, int] = {}
    seen: set[tuple[int, int]] = set()
    for entry in tape:
        if isinstance(entry, Region):
            continue
        for key in trained_by(entry):
            read = number_of_view(entry), key
            if read not in shared or read not in seen:
                uses[key] = uses.get(key, 0) + 1
            seen.add(read)
    return uses
