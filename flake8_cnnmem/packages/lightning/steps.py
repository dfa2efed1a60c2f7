"""The steps of `Trainer.fit`: automatic and manual optimization, gathered gradients, callbacks that unfreeze.

By lightning/pytorch/loops/optimization/automatic.py (2.6): the optimizer's step is given a closure that runs
`training_step`, clears the gradients, and goes backward; only the micro-batches before the last go without the step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from flake8_cnnmem.frameworks.framework import IN_CHARGE
from flake8_cnnmem.frameworks.torch.devices import all_to_device
from flake8_cnnmem.frameworks.torch.nn.modules.module import weights_of
from flake8_cnnmem.frameworks.torch.optim import OPTIMIZER
from flake8_cnnmem.frameworks.torch.optim import parameters_of as held_by
from flake8_cnnmem.frameworks.torch.optim.unfollowed import UNFOLLOWED
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.packages.lightning.callbacks import BASE_FINETUNING
from flake8_cnnmem.packages.lightning.hooks import is_own, names_of, parameters_of, stepped
from flake8_cnnmem.runtime import AbstractTurns, Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Instance, Value, native

MOST_EPOCHS = 64
"""Epochs that are gone through for a callback that lets other parameters train from some epoch on."""

BEFORE_AN_EPOCH = ("on_epoch_start", "on_train_epoch_start")
AFTER_AN_EPOCH = ("training_epoch_end", "on_train_epoch_end", "on_epoch_end")
"""Two of each are of versions before 2."""

BEFORE_A_BATCH = ("on_before_batch_transfer", "on_after_batch_transfer")


def optimizers_in(value: Value, depth: int = 4) -> list[Instance]:
    """The optimizers in what `configure_optimizers` gives: alone, in lists, in dicts."""
    if isinstance(value, Instance) and (OPTIMIZER in value.cls.mro or value.cls is UNFOLLOWED):
        return [value]
    if depth == 0:
        return []
    if isinstance(value, dict):
        return optimizers_in(value.get("optimizer"), depth - 1)
    if isinstance(value, (tuple, list)):
        return [found for item in value for found in optimizers_in(item, depth - 1)]
    return []


def first_batch(run: Runtime, data: Value) -> Value:
    """One batch of a loader; of several loaders, one of each in the same structure."""
    if isinstance(data, dict):
        return {word: first_batch(run, each) for word, each in data.items()}
    if isinstance(data, (list, tuple)):
        return [first_batch(run, each) for each in data]
    if data is None:
        return run.unknown("what a trainer is given to train on is not known")
    items = run.iterate(data)
    if isinstance(items, Unknown):
        return items
    return next((item for item in items), run.unknown("a data loader gives no batches"))


@dataclass(slots=True)
class FitCall:
    """One call of `fit`. `autocast` is the dtype of the region in which the module's steps run, if any."""

    run: Runtime
    trainer: Instance
    model: Instance
    optimizers: list[Instance]
    callbacks: Sequence[Instance]
    autocast: str | None
    data: Value
    accumulated: Value
    number: int = 0
    """Which batch of the epoch the turn is given."""

    def run_all(self) -> None:
        """The first epoch's step, and one of each later epoch that trains other parameters than the one before."""
        run = self.run
        run.data(IN_CHARGE)["trainer"] = self.trainer
        try:
            self.run_epochs()
        finally:
            run.data(IN_CHARGE).pop("trainer", None)

    def run_epochs(self) -> None:
        """As `run_all`, while the trainer is there."""
        run = self.run
        self.hooks("on_fit_start")
        run.call(run.get(self.model, "train"))
        self.hooks("on_train_start")
        epochs, most = run.repeated(), self.epochs()
        hooked = self.hooked(*BEFORE_AN_EPOCH, *AFTER_AN_EPOCH) or is_own(self.model, "train")
        wanted, before = {0}, frozenset[int]()
        for epoch in epochs.numbers(0, most, range(1, most) if hooked else ()):
            with epochs:
                self.counted(current_epoch=epoch)
                if epoch and is_own(self.model, "train"):
                    run.attempt(run.get(self.model, "train"))
                self.hooks(*BEFORE_AN_EPOCH)
                now = self.training()
                if epoch in wanted or now != before:
                    self.turn()
                before = now
                self.epoch_ended()
            wanted |= epochs.later()
        self.late_step(epochs, most, wanted)

    def counted(self, **counts: int) -> None:
        """The trainer has come to this epoch, or so many steps, which the module asks it for."""
        for each in (self.trainer, self.model):
            self.run.changed(each)
            each.attributes.update(counts)

    def epoch_ended(self) -> None:
        """What outputs a hook is told until version 2 is not followed."""
        told = self.run.unknown("what the steps of an epoch gave is not followed")
        for name in AFTER_AN_EPOCH:
            self.hooks(name, told=(told,))

    def late_step(self, epochs: AbstractTurns, most: int, wanted: Collection[int]) -> None:
        """What a test of `global_step` answers when there have been more steps than there are epochs."""
        later = [count for count in wanted if count >= most]
        if later:
            self.counted(global_step=max(later))
            with epochs:
                self.turn()

    def epochs(self) -> int:
        most = self.trainer.attributes.get("max_epochs")
        return min(most, MOST_EPOCHS) if isinstance(most, int) and most > 0 else MOST_EPOCHS

    def hooked(self, *names: str) -> bool:
        """Whether the user's code runs in one of these hooks."""
        unfreezing = any(each.cls.derives_from(BASE_FINETUNING) for each in self.callbacks)
        return unfreezing or any(is_own(each, name) for each in (self.model, *self.callbacks) for name in names)

    def hooks(self, *names: str, told: Sequence[Value] = ()) -> None:
        """A hook of the callbacks, then of the module, which are told the same."""
        for name in names:
            for callback in self.callbacks:
                stepped(self.run, callback, name, self.trainer, self.model, *told)
            stepped(self.run, self.model, name, *told)

    def ended(self, batch: Value, result: Value) -> None:
        """What callbacks and module do after a batch. They are told the batch, and what `training_step` has given,
        its loss without its graph."""
        if not self.hooked("on_train_batch_end"):
            return
        told: dict[Value, Value] = (
            dict(result) if isinstance(result, dict) else {} if result is None else {"loss": result}
        )
        loss = told.get("loss")
        if isinstance(loss, Tensor):
            told["loss"] = self.run.call(self.run.get(loss, "detach"))
        self.hooks("on_train_batch_end", told=(told, batch, self.number))

    def training(self) -> frozenset[int]:
        """The parameters that train, by id: those that ask for a gradient and that an optimizer holds."""
        held = {id(weight) for each in self.optimizers for weight in held_by(each) or ()}
        own = weights_of(self.model)
        return frozenset(id(each) for each in own if each.trainable and not each.buffer and id(each) in held)

    # One turn

    def turn(self) -> None:
        """A step; where gradients are gathered, a turn for each of the micro-batches that are followed."""
        turns = self.run.repeated()
        by_hand = self.run.truth(self.run.get(self.model, "automatic_optimization")) is False
        micro = 1 if by_hand else self.micro_batches()
        for number in turns.numbers(0, None, range(1, micro)):
            self.number = number
            with turns:
                if by_hand:
                    self.step_of_its_own()
                else:
                    self.automatic(number % micro == 0, number % micro == micro - 1)

    def batch(self) -> Value:
        run, model = self.run, self.model
        batch = all_to_device(run, first_batch(run, self.data))
        for hook in BEFORE_A_BATCH:
            if run.find(model, hook) is not MISSING:
                batch = stepped(run, model, hook, batch, 0)
        self.hooks("on_train_batch_start", told=(batch, self.number))
        return batch

    def step_of_its_own(self) -> None:
        """Manual optimization: the module clears, goes backward and steps by itself."""
        drawn = self.batch()
        self.ended(drawn, self.forward(drawn, None))
        self.run.let_go(drawn)

    def forward(self, batch: Value, optimizer: int | None) -> Value:
        """`training_step`, in the precision that the trainer is told."""
        run = self.run
        method = run.find(self.model, "training_step")
        if method is MISSING:
            return None
        arguments = (batch, self.number) if optimizer is None else (batch, self.number, optimizer)
        takes = parameters_of(method)
        outer, run.autocast = run.autocast, self.autocast or run.autocast
        try:
            result = run.attempt(method, *arguments[: len(arguments) if takes is None else takes])
        finally:
            run.autocast = outer
        return result

    def automatic(self, clears: bool, steps: bool) -> None:
        """Until version 2, a step was taken for each optimizer, which was told which one."""
        method = self.run.find(self.model, "training_step")
        alternating = method is not MISSING and any("optim" in word for word in names_of(method)[2:])
        rounds: list[Any] = [(at, [each]) for at, each in enumerate(self.optimizers)] if alternating else []
        for at, stepping in rounds or [(None, self.optimizers)]:
            for optimizer in stepping if alternating else []:
                self.run.call(self.run.get(self.model, "toggle_optimizer"), optimizer, at)
            self.micro_step(at, stepping, clears, steps)
            for optimizer in stepping if alternating else []:
                self.run.call(self.run.get(self.model, "untoggle_optimizer"), optimizer)

    def micro_batches(self) -> int:
        """How many micro-batches a step is shown with: those after the second find in memory what that one did."""
        gathered = self.accumulated
        if isinstance(gathered, dict):
            gathered = max((each for each in gathered.values() if isinstance(each, int)), default=1)
        scheduled = any(cls.name == "GradientAccumulationScheduler" for each in self.callbacks for cls in each.cls.mro)
        return 2 if scheduled or (isinstance(gathered, int) and gathered > 1) else 1

    def micro_step(self, at: int | None, stepping: Sequence[Instance], clears: bool, steps: bool) -> None:
        run, model = self.run, self.model
        drawn = self.batch()
        given: list[Value] = []

        def closure(run: Runtime) -> Value:
            result = self.forward(drawn, at)
            given.append(result)
            loss = result.get("loss") if isinstance(result, dict) else result
            if loss is None:
                return None
            if clears:
                for optimizer in stepping:
                    self.hooks("on_before_zero_grad", told=(optimizer,))
                    self.hook_of_optimizer("optimizer_zero_grad", optimizer, at)
            if isinstance(loss, Unknown):
                run.note("backward", loss)
            elif isinstance(loss, Tensor):
                self.hooks("on_before_backward", told=(loss,))
                stepped(run, model, "backward", loss)
                self.hooks("on_after_backward")
            return loss

        if not steps or not stepping:
            closure(run)
        else:
            # One closure for all that step on the same loss.
            first, *others = stepping
            self.hook_of_optimizer("optimizer_step", first, at, native("closure", closure))
            for optimizer in others:
                self.hook_of_optimizer("optimizer_step", optimizer, at)
        self.ended(drawn, given[-1] if given else None)
        run.let_go(drawn)

    def hook_of_optimizer(self, name: str, optimizer: Instance, at: int | None, closure: Value = None) -> None:
        """Call a hook that is told epoch, batch and optimizer, under the names that its version of Lightning has."""
        run, model = self.run, self.model
        epoch = model.attributes.get("current_epoch", 0)
        known: dict[str, Value] = {
            "epoch": epoch, "current_epoch": epoch, "epoch_idx": epoch, "batch_idx": self.number,
            "batch_nb": self.number, "optimizer": optimizer,
            "optimizer_idx": at or 0, "optimizer_i": at or 0, "optimizer_closure": closure, "closure": closure,
            "second_order_closure": closure, "on_tpu": False, "using_native_amp": False, "using_lbfgs": False,
        }  # fmt: skip
        method = run.find(model, name)
        taken = names_of(method) if is_own(model, name) else []
        if taken and all(word in known for word in taken):
            run.attempt(method, *(known[word] for word in taken))
        else:
            run.attempt(method, epoch, self.number, optimizer, *([] if closure is None else [closure]))
