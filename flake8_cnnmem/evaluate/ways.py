"""The ways through a program that nobody but its user chooses: which subcommand is run, whether options are given.

Each evaluation takes one way. What else could have been chosen is noted on it, and whoever evaluates the file runs the
program once more for each: so a subcommand that trains is a training of its own, as it is for who starts the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

MOST_WAYS = 8
"""Runs of one program. A command line of more subcommands than that is rare, and few of them train."""


@dataclass(slots=True)
class Ways:
    """`taken` is what this evaluation answers to questions that were asked before, `open` what others would answer.

    `otherwise` holds the answers that are worth a try only where the program stops before it has trained anything.
    """

    taken: Mapping[str, str] = field(default_factory=dict)
    open: list[Mapping[str, str]] = field(default_factory=list)
    otherwise: list[Mapping[str, str]] = field(default_factory=list)

    def choose(self, question: str, answers: Sequence[str], only_if_stopped: bool = False) -> str:
        """One of the answers: the first where nobody has chosen. The other ones are noted once."""
        chosen = self.taken.get(question)
        if chosen is not None:
            return chosen
        others = self.otherwise if only_if_stopped else self.open
        others.extend({**self.taken, question: answer} for answer in answers[1:])
        self.taken = {**self.taken, question: answers[0]}
        return answers[0]
