"""From a root to its graph: the inputs are chosen, the model is called on them, the graph is walked back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from flake8_cnnmem import dims, frameworks
from flake8_cnnmem.evaluate.budget import FORWARD_STEPS
from flake8_cnnmem.evaluate.functions import Function
from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.top_level import deep_recursion
from flake8_cnnmem.evidence import Evidence
from flake8_cnnmem.finding import in_short
from flake8_cnnmem.frameworks.framework import Framework
from flake8_cnnmem.graph import Call, Model, Problem, Site, Tensor, Weight, calls_behind
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.models.input_sources import InputSources
from flake8_cnnmem.models.inputs import (
    LARGEST_SIZE,
    OPEN_RANK,
    Choice,
    Fitting,
    alike,
    expected_by,
    fitting_sizes,
    is_contradicted,
    mixed,
    reads_batch,
    rows_dropped,
    same_for_all,
    sizes_alike,
)
from flake8_cnnmem.models.kept_results import kept_results
from flake8_cnnmem.models.outcome import doubts
from flake8_cnnmem.models.root import Root, unknown_children
from flake8_cnnmem.models.stated import (
    InputShape,
    count_stated,
    filled_in,
    first_shape,
    for_each,
    paired,
    place,
)
from flake8_cnnmem.models.train_mode import inside_of, set_to_train
from flake8_cnnmem.models.trials import OfAnySize, Telling, TrialCall, Trials, problem_of
from flake8_cnnmem.ops.expected import UNSTATED, Expected
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import Instance, Value

OWN_LAYERS = "the model's own layers"
"""Where the size of an input comes from that nobody states."""

LONGEST_NAME = 200
"""Letters of a layer's dotted name that reports show."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Input shapes from outside the code, without the batch: a directive's, and the option's."""

    directive: InputShape | None = None
    option: InputShape | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """A model's graph, with where its input shape comes from. `certain` are the calls whose sizes cannot be right
    whatever the input is, or for the input that the code or a directive states."""

    model: Model
    input_shape: InputShape | None
    input_source: str
    certain: tuple[Call, ...]
    stated_by: Site | None = None
    passed_over: tuple[tuple[InputShape, str], ...] = ()
    """Other input shapes and where they come from."""


def build_model(root: Root, wanted: Wanted, evidence: Evidence | None = None, batch: int | None = None) -> Built | None:
    """The model of a root; None where there is no instance to call. `evidence` is what code says of its training,
    `batch` the batch size in force: what the model decides by its batch is decided by that."""
    instance = root.value
    if instance is None:
        return None
    framework = frameworks.of_layer(instance)
    assert framework is not None
    instance = instance if root.is_training else framework.network(instance)
    run = root.run
    run.batch, run.batch_tests = batch, []
    try:
        with deep_recursion(), framework.as_fitted(run, instance, root.fit):
            built = Builder(root, instance, framework, wanted, evidence or Evidence()).build()
    finally:
        run.batch = None
    tests = tuple(dict.fromkeys(run.batch_tests))
    return replace(built, model=replace(built.model, batch_tests=tests)) if tests else built


class Builder:
    """Chooses the inputs of one model and calls it."""

    def __init__(
        self, root: Root, instance: Instance, framework: Framework, wanted: Wanted, evidence: Evidence
    ) -> None:
        self.root = root
        self.run: Interpreter = root.run
        self.instance = instance
        self.framework = framework
        self.wanted = wanted
        self.evidence = evidence
        self.trained = evidence.trained
        self.sources = InputSources(root, instance, framework, evidence)
        self.trials = Trials(root, instance, framework)

    def build(self) -> Built:
        """The model in the mode that it is trained in, with what casts doubt on it among its causes."""
        seen = self.trained is not None or bool(self.root.phases)
        cut_short = set_to_train(self.run, self.framework, self.instance, seen)
        built = self.built()
        if cut_short is not None:
            built = replace(built, model=replace(built.model, causes=(cut_short, *built.model.causes)))
        doubts = self.framework.doubts(self.run, self.instance)
        if not self.root.phases:
            doubts += self.framework.untrained_doubts(self.run, self.instance)
        if doubts:
            built = replace(built, model=replace(built.model, causes=(*built.model.causes, *doubts)))
        return replace(built, passed_over=tuple(self.others(built)))

    def others(self, built: Built) -> Iterator[tuple[InputShape, str]]:
        """Other shapes that the code or the option gives for the same input."""
        seen = {built.input_shape}
        coded = self.sources.coded() if self.framework.own_inputs(self.instance) is None else None
        stated = [(first_shape(coded[0]), place(coded[1]))] if coded else []
        for call in self.root.calls:
            values = self.sources.taken_from(call)
            stated.append((first_shape(values), place(call.site))) if values else None
        if self.wanted.option is not None:
            stated.append((self.wanted.option, "option"))
        for shape, source in stated:
            if shape is not None and shape not in seen:
                seen.add(shape)
                yield shape, source

    def built(self) -> Built:
        """The graph on the first inputs that are known: the model's own, those of the code, those that its layers ask
        for, an option's."""
        own = self.framework.own_inputs(self.instance)
        if own is not None:
            return self.with_own_inputs(own)
        images = self.sources.one_by_one(self.wanted.directive, self.wanted.option)
        if images is not None:
            listed, shape, source = images
            return replace(self.finish(listed, source, None, source != "option", []), input_shape=shape)
        coded = self.sources.coded()
        expected = self.expected_inputs(
            len(coded[0]) if coded else count_stated(self.wanted.directive, self.wanted.option)
        )
        if self.wanted.directive is not None:
            return self.finish(
                self.sources.directed(self.wanted.directive, expected), "directive", None, True, expected
            )
        if coded:
            values, site = coded
            return self.finish(values, place(site), site, True, expected)
        completed = self.sources.completed(expected)
        if completed is not None:
            value, site = completed
            return self.finish([value], place(site), site, True, expected)
        drawn = self.sources.drawn(expected)
        if drawn is not None:
            value, site = drawn
            return self.finish([value], place(site), site, True, expected)
        option = self.wanted.option
        given = [self.sources.shaped(*pair) for pair in paired(option, expected)] if option is not None else []
        if given and not self.framework.declares_inputs:
            return self.finish(given, "option", None, False, expected)
        fitting = self.fitting(given) if given else None
        if fitting is not None:
            return self.finish(given, "option", None, False, expected, fitting)
        one = same_for_all(expected)
        if one is not None and one.spatial:
            open_ = self.for_any_size([one] * len(expected)) if not given else None
            if open_ is not None:
                return self.finish([self.sources.unstated(each) for each in expected], "", None, False, expected, open_)
            found = self.solve(one, len(expected))
            if found is not None:
                solved = [self.sources.tensor(one.at(found.size), one.dtype) for _ in expected]
                return with_cause(self.finish(solved, OWN_LAYERS, None, False, expected), found.cause)
        if given:
            return self.finish(given, "option", None, False, expected)
        chosen, forward, open_rank = self.of_open_rank(expected)
        taken = [self.sources.unstated(each) for each in chosen]
        if forward is None and any(each is not None for each in chosen):
            forward = self.as_expected(taken)
            if forward is None:
                expected = [None] * len(chosen)
                taken = list(map(self.sources.unstated, expected))
        return with_cause(self.finish(taken, "", None, False, expected, forward), open_rank)

    def with_own_inputs(self, own: Sequence[Tensor]) -> Built:
        """A Keras model that states its inputs; a directive or the option fills in the sizes it leaves open."""
        shapes = [tensor.shape for tensor in own]
        directive, option = self.wanted.directive, self.wanted.option
        sampled = [(self.sources.samples(said.value, own), place(said.site)) for said in self.evidence.data[:1]]
        for wanted, name in (
            (for_each(directive, shapes) if directive else None, "directive"),
            *sampled,
            (for_each(option, shapes) if option else None, "option"),
        ):
            filled = filled_in(shapes, wanted) if wanted is not None else None
            if filled is not None and filled != shapes:
                values = [
                    Tensor(each, tensor.dtype, framework=tensor.framework)
                    for each, tensor in zip(filled, own, strict=True)
                ]
                return self.finish(values, name, None, name != "option", [])
        site = self.framework.input_stated(self.run, self.instance)[0] or self.root.site
        return self.finish(list(own), place(site), site, True, [])

    def expected_inputs(self, count: int | None) -> list[Expected | None]:
        """What each input's first layer says of it, found by calling the model on tensors of unknown rank."""
        arguments = self.required_arguments() if count is None else count
        if not self.framework.declares_inputs:
            return [None] * arguments
        probes = [Tensor(UNSTATED, framework=self.framework.name) for _ in range(arguments)]
        forward = self.trials.try_out(probes, Telling(probes))
        return [expected_by(forward.calls, probe) for probe in probes]

    def required_arguments(self) -> int:
        """How many inputs `forward` needs; one where all have defaults."""
        for word in ("forward", "call"):
            function = self.instance.cls.find(word)
            if isinstance(function, Function):
                own = function.parameters
                nothing = len(own.positional) == 1 and not (own.star or own.double_star or own.keywords)
                return 0 if nothing else max(len(own.positional) - 1 - len(function.defaults), 1)
        return 1

    def fitting(self, values: Sequence[Value]) -> TrialCall | None:
        """The call of the model on these inputs, which stands; None, and nothing is changed, if a size is not right."""
        if self.root.exhausted is not None:
            return None
        with self.trials.stopping_at_problems():
            forward, undo = self.trials.on_trial(values, FORWARD_STEPS)
        if problem_of(forward) is None:
            return forward
        undo()
        return None

    def for_any_size(self, expected: Sequence[Expected]) -> TrialCall | None:
        """The call of the model on inputs of an open size, which stands, if it says that any size will do."""
        if self.root.exhausted is not None:
            return None
        values = [self.sources.unstated(each) for each in expected]
        forward, undo = self.trials.on_trial(values, FORWARD_STEPS, OfAnySize())
        if forward.outputs and not forward.causes:
            return forward
        undo()
        return None

    def of_open_rank(self, expected: Sequence[Expected | None]) -> tuple[Choice, TrialCall | None, Unknown | None]:
        """Inputs of unstated size whose ranks the model accepts, with the call on them, which stands; the most usual
        ones where it accepts none. A Linear layer takes rows, sequences and maps alike: a cause where the whole model
        accepts several ranks, and nothing but the rank is open in what was called."""
        choices = [*alike(expected), *mixed(expected)]
        for at, choice in enumerate(choices) if len(choices) > 1 else ():
            if self.root.exhausted is not None:
                break
            forward, undo = self.trials.on_trial([self.sources.unstated(each) for each in choice], FORWARD_STEPS)
            if is_taken(forward):
                if forward.causes or next(doubts(forward.calls), None) is not None:
                    return choice, forward, None
                undo()
                others = (
                    self.trials.try_out([self.sources.unstated(each) for each in other]) for other in choices[at + 1 :]
                )
                return choice, None, OPEN_RANK if any(map(is_taken, others)) else None
            undo()
        return choices[0], None, None

    def as_expected(self, values: Sequence[Tensor]) -> TrialCall | None:
        """The call of the model on what its layers seem to expect, which stands; None, and nothing is changed, if these
        very layers do not take it: then something on the way to them gives their inputs other sizes."""
        if self.root.exhausted is not None:
            return self.trials.call(values)
        forward, undo = self.trials.on_trial(values, FORWARD_STEPS)
        cut_short = bool(forward.causes)
        if any(is_contradicted(forward.calls, value, cut_short) for value in values):
            undo()
            return None
        return forward

    def solve(self, expected: Expected, count: int) -> Fitting | None:
        """The sizes that the model takes for its inputs, which are `count` alike."""

        def inputs(size: int) -> list[Tensor]:
            return [self.sources.tensor(expected.at(size), expected.dtype) for _ in range(count)]

        tried: dict[int, tuple[int, tuple[int, int] | None]] = {}

        def first_problem(size: int) -> Problem | None:
            forward, problem = self.trials.first_problem(inputs(size))
            # One that does not fit between two that do is not meant.
            left = rows_dropped(forward.calls) if problem is None else LARGEST_SIZE**2
            tried[size] = left, sizes_alike(forward.calls, size, problem)
            return problem

        def dropped(size: int) -> int:
            if size not in tried:
                first_problem(size)
            return tried[size][0]

        return fitting_sizes(first_problem, dropped, lambda size: tried[size][1])

    def finish(
        self,
        values: Sequence[Value],
        source: str,
        site: Site | None,
        stated: bool,
        expected: Sequence[Expected | None],
        forward: TrialCall | None = None,
    ) -> Built:
        """The graph that a call of the model on these inputs gives; `forward` is that call, if it has been made."""
        forward = self.trials.call(values) if forward is None else forward
        whole = calls_behind(forward.outputs, forward.inputs)
        calls = tuple(forward.calls)
        if forward.outputs and not forward.causes:
            calls = self.with_unread(whole, forward.calls)
        certain = [call for call in calls if call.problem is not None]
        if not stated and certain:
            certain = [call for call in certain if not waits_to_be_filled(call)]
            certain = self.certain_for_any_size(certain, expected)
        then = self.root.fit.weights if self.root.fit is not None else None
        weights = tuple(w for w in self.framework.weights(self.instance) if then is None or id(w) in then)
        causes = [*self.root.causes, *forward.causes, *doubts(calls)]
        causes += [weight.shape for weight in weights if isinstance(weight.shape, Unknown)]
        causes += [weight.unsure for weight in weights if weight.unsure is not None]
        for weight in weights:
            if not isinstance(weight.shape, Unknown):
                unknown = dims.first_unknown(weight.shape)
                if unknown is not None:
                    causes.append(unknown)
        for _, child in unknown_children(self.instance):
            causes.append(child)
        refused = self.run.trace.refused
        if refused:
            keys = [id(self.instance), *map(id, inside_of(self.framework, self.instance))]
            causes += [refused[key][1] for key in keys if key in refused][:1]
        if self.framework.declares_inputs:
            layers = (self.instance, *inside_of(self.framework, self.instance))
            kept = kept_results(layers, self.run.importer.modules.values(), forward.inputs, calls)
            if kept is not None:
                causes.append(kept)
        model = Model(
            self.root.name,
            self.framework.name,
            self.instance,
            forward.inputs,
            forward.outputs,
            calls,
            weights,
            {key: in_short(path, LONGEST_NAME) for key, path in self.framework.paths(self.instance).items()},
            tuple(dict.fromkeys(causes)),
            self.root.site,
            version=self.framework.version(self.run),
            backend=self.framework.backend(self.run),
            updated=self.evidence.updated,
            trained=self.trained_of(weights),
            allocator=self.framework.allocator(self.run),
        )
        shape = first_shape(forward.inputs)
        return Built(model, shape, source, tuple(certain), site)

    def trained_of(self, weights: Sequence[Weight]) -> frozenset[int]:
        """The weights, by id, that get a gradient in the training, or where none was seen, as the model stands."""
        asking, fit = self.evidence.trainable, self.root.fit
        now = frozenset(id(weight) for weight in weights if weight.trainable and not weight.buffer)
        # A fit on what is not known builds no layer: the weights that were made since follow their flags.
        unbuilt = fit is not None and fit.weights is None and not asking
        return now if asking is None or unbuilt else asking

    def with_unread(self, whole: tuple[Call, ...], log: Sequence[Call]) -> tuple[Call, ...]:
        """The calls behind the outputs, and those that run for nothing where each op runs when the code comes to it
        (heads for deep supervision whose maps are not returned)."""
        if not self.framework.declares_inputs:
            return whole
        known = {id(call) for call in whole}
        unread = [call for call in log if id(call) not in known and not call.doubtful]
        return tuple(sorted((*whole, *unread), key=lambda call: call.number)) if unread else whole

    def certain_for_any_size(self, problems: list[Call], expected: Sequence[Expected | None]) -> list[Call]:
        """Those problems that stay when the size of the inputs is left open, whatever rank their layers take."""
        certain = problems if expected else []
        usual = alike(expected)
        for choice in (*usual, *mixed(expected)):
            tried = self.trials.try_out([self.sources.unstated(each) for each in choice])
            found = {where_and_what(call) for call in tried.calls if call.problem is not None}
            if choice in usual or not found:
                certain = [call for call in certain if where_and_what(call) in found]
            if not certain:
                break
        return certain


def is_taken(forward: TrialCall) -> bool:
    """Whether a call of the model on inputs of some rank may be meant: nothing in it is wrong, and no layer finds the
    batch where it declares its own size."""
    return bool(forward.outputs) and problem_of(forward) is None and not any(map(reads_batch, forward.calls))


def with_cause(built: Built, cause: Unknown | None) -> Built:
    """The same model, with one more reason why it is not exact."""
    return built if cause is None else replace(built, model=replace(built.model, causes=(*built.model.causes, cause)))


def where_and_what(call: Call) -> tuple[Site | None, str]:
    """What two calls of a model have in common if the same size is wrong in both."""
    return call.site, call.problem.what if call.problem is not None else ""


def waits_to_be_filled(call: Call) -> bool:
    """Whether a call is given a tensor without values (`register_buffer("mean", torch.empty(0))`): what it is to hold
    is put there later (by `fit`, from a file), before anybody calls the model."""
    return any(tensor.shape == (0,) for tensor in (*call.inputs, *call.weights))
