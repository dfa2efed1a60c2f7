"""What the code says of training: from what natives remember and what the loops do to facts, strongest first.

Nothing is decided here between a directive, the code and an option: that is `precedence`. What several places of the
code say of one fact is put in order, the strongest evidence first; the others are what was passed over.
"""

from flake8_cnnmem.evidence.batches import sample_shape
from flake8_cnnmem.evidence.between_loops import calls_between
from flake8_cnnmem.evidence.facts import Evidence, batch_of, gathered, is_along, of_unknown_model
from flake8_cnnmem.evidence.growth import Keeper, further_turns, is_learned_from, keepers_of, turns_at_least
from flake8_cnnmem.evidence.origins import batch_written_at, dtype_written_at, input_written_at, optimizer_written_at
from flake8_cnnmem.evidence.passes import Pass, seen_through
from flake8_cnnmem.evidence.phases import (
    Phase,
    evaluations_in_steps,
    evaluations_of,
    gatherings_of,
    is_over_loader,
    loose_parameters,
    phases_of,
)
from flake8_cnnmem.evidence.statement import Statement
from flake8_cnnmem.evidence.written import written_at

__all__ = [
    "Evidence",
    "Keeper",
    "Pass",
    "Phase",
    "Statement",
    "batch_of",
    "batch_written_at",
    "calls_between",
    "dtype_written_at",
    "evaluations_in_steps",
    "evaluations_of",
    "further_turns",
    "gathered",
    "gatherings_of",
    "input_written_at",
    "is_along",
    "is_learned_from",
    "is_over_loader",
    "keepers_of",
    "loose_parameters",
    "of_unknown_model",
    "optimizer_written_at",
    "phases_of",
    "sample_shape",
    "seen_through",
    "turns_at_least",
    "written_at",
]
