"""The turns of a comprehension as the trace sees them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from flake8_cnnmem.evaluate.compiler import StatementSite
from flake8_cnnmem.evaluate.loop_turns import Turn, around
from flake8_cnnmem.evaluate.training_state import learns, leaves_results, mark_held
from flake8_cnnmem.values import Value

if TYPE_CHECKING:
    from flake8_cnnmem.evaluate.frame import Frame


class ComprehensionTurns:
    """The turns of a comprehension, outside of any layer: each ends where the next one begins. `gathered` is the list
    that it makes."""

    __slots__ = ("frame", "gathered", "loop", "site", "turn")

    def __init__(self, frame: Frame, statement: ast.AST, gathered: list[Value] | None) -> None:
        run = frame.run
        self.frame = frame
        self.gathered = gathered
        self.site = StatementSite(frame.module.path, statement)
        self.loop = run.trace.enter(self.site, run.numbered) if run.invocation is None else None
        self.turn: Turn | None = None

    def __enter__(self) -> None:
        run = self.frame.run
        if self.loop is not None:
            run.trace.skipping = False
            self.turn = run.trace.begin(self.loop, run.next_number())
            if self.gathered is not None:
                self.turn.filled[id(self.gathered)] = self.gathered, len(self.gathered)

    def __exit__(self, *exception: object) -> None:
        run = self.frame.run
        turn, self.turn = self.turn, None
        # A generator that is left early ends when nobody asks any more.
        if turn is None or turn not in around(run.trace.turn):
            return
        if len(run.trace.events) == turn.events[0]:
            # Nothing has happened in it.
            run.trace.leave(turn.loop.outer, run.numbered)
            return
        learned = any(event.turn is turn and learns(event) for event in run.trace.events[turn.events[0] :])
        # A list without a name (`torch.cat([...])`) is gone with its statement.
        turn.leaves = not learned and self.name() != UNNAMED and leaves_results(run, turn)
        if learned or turn.leaves:
            if self.gathered is not None:
                run.trace.fills(id(self.gathered), run.numbered, self.site)
            mark_held(run, turn, () if self.gathered is None else ((self.name(), self.gathered),))
        run.trace.leave(turn.loop.outer, run.numbered)

    def name(self) -> str:
        """What the list is called where its statement gives it a name."""
        statement = self.site.statement
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.ListComp):
            return ast.unparse(statement.targets[0])
        return UNNAMED


UNNAMED = "the list"
