"""The ways through a program that nobody but its user chooses: which subcommand is run, whether options are given.

Each evaluation takes one way. What else could have been chosen is noted on it, and whoever evaluates the file runs the
program once more for each: so a subcommand that trains is a training of its own, as it is for who starts the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from flake8_cnnmem.lazy_dataclass import dataclass

MOST_WAYS = 8
"""Runs of one program. A command line of more subcommands than that is rare, and few of them train."""


MOST_PASSED_OVER = 3
"""Statements. What is followed beyond more of them has little to do with the program."""


@dataclass(slots=True)
class Ways:
    """`taken` is what this evaluation answers to questions that were asked before, `open` what others would answer.

    `otherwise` holds the answers that are worth a try only where the program stops before it has trained anything.
    """

    taken: Mapping[str, str] = field(default_factory=dict)
    passed_over: frozenset[str] = frozenset()
    """The statements whose exceptions do not stop the program."""
    open: list[Mapping[str, str]] = field(default_factory=list)
    otherwise: list[Mapping[str, str]] = field(default_factory=list)

    def beyond(self, stops: Sequence[str]) -> Ways | None:
        """The same way, going on where the program has stopped; None where that is not to be, or was tried often
        enough."""
        further = frozenset(filter(None, stops)) - self.passed_over
        if not further or len(self.passed_over) >= MOST_PASSED_OVER:
            return None
        return Ways(self.taken, self.passed_over | further)

    def choose(self, question: str, answers: Sequence[str], only_if_stopped: bool = False) -> str:
        """One of the answers: the first where nobody has chosen. The other ones are noted once."""
        chosen = self.taken.get(question)
        if chosen is not None:
            return chosen
        others = self.otherwise if only_if_stopped else self.open
        others.extend({**self.taken, question: answer} for answer in answers[1:])
        self.taken = {**self.taken, question: answers[0]}
        return answers[0]
