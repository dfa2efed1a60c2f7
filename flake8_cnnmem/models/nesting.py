"""What of many models lies inside which, each layer looked at once: thousands may stand inside one another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from flake8_cnnmem import frameworks
from flake8_cnnmem.values import Instance


class Nesting:
    """The layers that stand directly inside each, asked for once."""

    def __init__(self) -> None:
        self.known: dict[int, list[Instance]] = {}

    def children(self, layer: Instance) -> list[Instance]:
        """The layers that a layer holds directly, asked for once."""
        found = self.known.get(id(layer))
        if found is None:
            framework = frameworks.of_layer(layer)
            found = [] if framework is None else [child for _, child in framework.children(layer)]
            self.known[id(layer)] = found
        return found

    def inner(self, models: Sequence[Instance]) -> set[int]:
        """The ids of all that lies inside one of these models, at any depth. One that holds itself is none."""
        inner: set[int] = set()
        seen: set[int] = set()
        for model in models:
            for layer in self.below([model], seen):
                if layer is not model:
                    inner.add(id(layer))
        return inner

    def below(self, tops: Iterable[Instance], seen: set[int]) -> Iterator[Instance]:
        """All that lies inside these layers, but for what lies in one that was seen before; those are marked."""
        waiting = list(tops)
        while waiting:
            layer = waiting.pop()
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            for child in self.children(layer):
                yield child
                waiting.append(child)

    def last_holder(self, models: Sequence[Instance], number: Mapping[int, int]) -> dict[int, int]:
        """By the id of each layer inside them the highest number of a model that it lies in."""
        found: dict[int, int] = {}
        seen: set[int] = set()
        for model in sorted(models, key=lambda model: -number[id(model)]):
            for layer in self.below([model], seen):
                if layer is not model:
                    found.setdefault(id(layer), number[id(model)])
        return found

    def highest_inside(self, models: Iterable[Instance], rank: Mapping[int, int]) -> dict[int, int]:
        """By the id of each model, and of all inside, the highest rank of what lies inside; -1 for none."""
        done: dict[int, int] = {}
        for model in models:
            # A layer is done when all that is inside it is; in a circle, what is known by then.
            waiting = [(model, iter(self.children(model)))]
            entered = {id(model)}
            while waiting:
                layer, rest = waiting[-1]
                child = next((each for each in rest if id(each) not in done and id(each) not in entered), None)
                if child is not None:
                    entered.add(id(child))
                    waiting.append((child, iter(self.children(child))))
                    continue
                waiting.pop()
                others = [each for each in self.children(layer) if each is not layer]
                ranks = [max(rank.get(id(each), -1), done.get(id(each), -1)) for each in others]
                done[id(layer)] = max(ranks, default=-1)
        return done
