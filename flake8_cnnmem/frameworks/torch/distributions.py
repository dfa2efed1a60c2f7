"""torch.distributions: the normal distribution of variational models and the categorical one of policies, by their
formulas; of some others what a sample is; the rest is not followed."""

from __future__ import annotations

from typing import Any

from flake8_cnnmem.dims import Batch, Shape
from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.registry import TORCH
from flake8_cnnmem.graph import Mismatch, Tensor
from flake8_cnnmem.ops import Elementwise
from flake8_cnnmem.runtime import Runtime
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Property, Value

MEMBERS = Members()
NORMAL = Class("Normal", namespace=MEMBERS, module="torch.distributions.normal")


@MEMBERS.method("__init__")
def init(run: Runtime, self: Instance, loc: Value, scale: Value, validate_args: Value = None) -> Value:
    """`Normal(loc, scale)` and its like."""
    self.attributes.update({"loc": as_tensor(run, loc), "scale": as_tensor(run, scale)})
    self.attributes.update({"mean": self.attributes["loc"], "stddev": self.attributes["scale"]})
    return None


def as_tensor(run: Runtime, value: Value) -> Value:
    """A number as a tensor without axes; anything else as it is."""
    return run.call(TORCH["tensor"], float(value)) if isinstance(value, (int, float)) else value


def parts(self: Instance) -> tuple[Value, Value]:
    """The mean and the deviation."""
    return self.attributes.get("loc"), self.attributes.get("scale")


def power(run: Runtime, value: Value, exponent: int) -> Value:
    """`value ** exponent`, as the program computes it."""
    return run.operate("**", value, exponent)


@MEMBERS.method("rsample")
def rsample(run: Runtime, self: Instance, sample_shape: Value = ()) -> Value:
    """loc + noise * scale: the gradient goes through."""
    loc, scale = parts(self)
    like = loc if isinstance(loc, Tensor) and loc.shape != () else scale
    if not isinstance(like, Tensor) or isinstance(like.shape, Unknown):
        return run.unknown("the shape of a sample is not known")
    extra = tuple(sample_shape) if isinstance(sample_shape, (tuple, list)) else ()
    noise = Tensor((*extra, *like.shape), like.dtype)
    return run.operate("+", loc, run.operate("*", noise, scale))


@MEMBERS.method("sample")
def sample(run: Runtime, self: Instance, sample_shape: Value = ()) -> Value:
    """`distribution.sample(shape)`: drawn without a gradient."""
    outer, run.grad_enabled = run.grad_enabled, False
    try:
        return rsample(run, self, sample_shape)
    finally:
        run.grad_enabled = outer


@MEMBERS.method("log_prob")
def log_prob(run: Runtime, self: Instance, value: Value) -> Value:
    """-(value - loc)^2 / (2 scale^2) - log(scale) - log(sqrt(2 pi))."""
    loc, scale = parts(self)
    variance = power(run, scale, 2)
    distance = run.operate_unary("neg", power(run, run.operate("-", value, loc), 2))
    share = run.operate("/", distance, run.operate("*", 2, variance))
    return run.operate("-", run.operate("-", share, run.call(run.get(scale, "log"))), 0.9189385332046727)


@MEMBERS.method("entropy")
def entropy(run: Runtime, self: Instance) -> Value:
    """The entropy of a normal distribution, by its deviation."""
    return run.operate("+", 1.4189385332046727, run.call(run.get(parts(self)[1], "log")))


@MEMBERS.method("expand")
def expand(run: Runtime, self: Instance, *args: Value) -> Value:
    """The distribution itself: its parts broadcast when they are used."""
    return self


def divergence(run: Runtime, p: Instance, q: Instance) -> Value:
    """Of two normal distributions: (r + t - 1 - log r) / 2, where r is the ratio of the variances."""
    if not all(isinstance(each, Instance) and each.cls is NORMAL for each in (p, q)):
        return run.unknown("the divergence of these distributions is not followed")
    (mine, spread), (theirs, width) = parts(p), parts(q)
    ratio = power(run, run.operate("/", spread, width), 2)
    shift = power(run, run.operate("/", run.operate("-", mine, theirs), width), 2)
    sum_ = run.operate("-", run.operate("+", ratio, shift), 1)
    return run.operate("*", 0.5, run.operate("-", sum_, run.call(run.get(ratio, "log"))))


CHOICES = Members()
CATEGORICAL = Class("Categorical", namespace=CHOICES, module="torch.distributions.categorical")

SMALLEST = 1.1920928955078125e-07
"""What probabilities are clamped to before their logarithm (torch.finfo(torch.float32).eps)."""


def asked(run: Runtime, tensor: Value, method: str, *args: Value, **kwargs: Value) -> Value:
    """A method of a tensor, called."""
    return run.call(run.get(tensor, method), *args, **kwargs)


@CHOICES.method("__init__")
def categorical(
    run: Runtime, self: Instance, probs: Value = None, logits: Value = None, validate_args: Value = None
) -> Value:
    """Probabilities that add up to one, or their logarithms; the other ones are worked out when they are asked for."""
    if probs is not None:
        self.attributes["_probs"] = run.operate("/", probs, asked(run, probs, "sum", -1, keepdim=True))
    else:
        whole = asked(run, logits, "logsumexp", dim=-1, keepdim=True)
        self.attributes["_logits"] = run.operate("-", logits, whole)
    return None


def logits_of(run: Runtime, self: Instance) -> Value:
    """The logits of a categorical distribution, normalized once where they are given."""
    known = self.attributes.get("_logits")
    if known is None:
        clamped = asked(run, self.attributes.get("_probs"), "clamp", min=SMALLEST, max=1 - SMALLEST)
        known = self.attributes["_logits"] = asked(run, clamped, "log")
    return known


def probabilities_of(run: Runtime, self: Instance) -> Value:
    """The probabilities of a categorical distribution, from its logits where those are given."""
    known = self.attributes.get("_probs")
    if known is None:
        known = self.attributes["_probs"] = asked(run, self.attributes.get("_logits"), "softmax", -1)
    return known


@CHOICES.method("sample")
def chosen(run: Runtime, self: Instance, sample_shape: Value = ()) -> Value:
    """A sample of classes: the shape of the probabilities without the last axis, int64."""
    probabilities = probabilities_of(run, self)
    if not isinstance(probabilities, Tensor) or isinstance(probabilities.shape, Unknown):
        return run.unknown("the shape of a sample is not known")
    extra = tuple(sample_shape) if isinstance(sample_shape, (tuple, list)) else ()
    made = Tensor((*extra, *probabilities.shape[:-1]), "int64", moved=probabilities.moved)
    made.born = run.next_number()
    return made


@CHOICES.method("log_prob")
def log_probability(run: Runtime, self: Instance, value: Value) -> Value:
    """The logarithm at each choice: log_pmf.gather(-1, value).squeeze(-1)."""
    at = asked(run, asked(run, value, "long"), "unsqueeze", -1)
    return asked(run, asked(run, logits_of(run, self), "gather", -1, at), "squeeze", -1)


@CHOICES.method("entropy")
def uncertainty(run: Runtime, self: Instance) -> Value:
    """-sum(p log p), the logarithms clamped to what is finite."""
    finite = asked(run, logits_of(run, self), "clamp", min=-3.4028234663852886e38)
    product = run.operate("*", finite, probabilities_of(run, self))
    return run.operate_unary("neg", asked(run, product, "sum", -1))


MEMBERS["variance"] = Property(Native("variance", lambda run, self: power(run, parts(self)[1], 2)))
MEMBERS["mode"] = Property(Native("mode", lambda run, self: parts(self)[0]))

CHOICES["logits"] = Property(Native("logits", logits_of, propagate_unknown=False))
CHOICES["probs"] = Property(Native("probs", probabilities_of, propagate_unknown=False))


def not_followed(name: str) -> Native:
    """A native that gives an unknown."""
    return Native(name, lambda run, *args, **kwargs: run.unknown(f"{name} is not followed"), propagate_unknown=False)


PARAMETERS = {
    "Beta": ("concentration1", "concentration0"), "Bernoulli": ("probs", "logits"), "Dirichlet": ("concentration",),
    "Exponential": ("rate",), "Gamma": ("concentration", "rate"), "Laplace": ("loc", "scale"), "Poisson": ("rate",),
    "Uniform": ("low", "high"),
}  # fmt: skip
"""Distributions of which only a sample is followed: as many values as their parameters broadcast to."""


OTHER_METHODS = ("cdf", "entropy", "expand", "icdf", "log_prob", "perplexity", "rsample")


def drawn(run: Runtime, self: Instance, sample_shape: Value = ()) -> Value:
    """`sample(shape)`: the shape that is asked for, and behind it that of the parameters; without a gradient."""
    shapes: list[Shape] = []
    given = [value for value in self.attributes.values() if value is not None]
    for value in given:
        shape = value.shape if isinstance(value, Tensor) else () if isinstance(value, (int, float)) else value
        if not isinstance(shape, tuple):
            return run.unknown("the shape of a sample is not known")
        shapes.append(shape)
    extra: Any = run.items(sample_shape)
    if isinstance(extra, Unknown):
        return extra
    if not all(isinstance(size, (int, Batch, Unknown)) for size in extra):
        return run.unknown("the shape of a sample is not known")
    try:
        (own,) = Elementwise("add").outputs(*shapes) if shapes else ((),)
    except Mismatch as mismatch:
        return run.unknown(mismatch.problem.what)
    made = Tensor((*extra, *own), moved=any(isinstance(each, Tensor) and each.moved for each in given))
    made.born = run.next_number()
    return made


def sampled(name: str, words: tuple[str, ...]) -> Class:
    """A distribution with these parameters that gives samples."""

    def init(run: Runtime, self: Instance, *args: Value, validate_args: Value = None, **kwargs: Value) -> Value:
        self.attributes.update(dict.fromkeys(words) | dict(zip(words, args, strict=False)) | kwargs)
        return None

    methods: dict[str, Value] = {each: not_followed(f"{name}.{each}") for each in OTHER_METHODS}
    methods |= {each: Property(not_followed(f"{name}.{each}")) for each in ("mean", "mode", "stddev", "variance")}
    own = {"__init__": Native("__init__", init, propagate_unknown=False), "sample": Native("sample", drawn)}
    return Class(name, namespace={**methods, **own}, module=f"torch.distributions.{name.lower()}")


NAMES: dict[str, Value] = {
    "Normal": NORMAL,
    "Categorical": CATEGORICAL,
    **{name: sampled(name, words) for name, words in PARAMETERS.items()},
    "kl_divergence": Native("kl_divergence", divergence, propagate_unknown=False),
}


def lazy_property(run: Runtime, wrapped: Value) -> Value:
    """`torch.distributions.utils.lazy_property`: worked out at the first reading, with gradients, and kept by the
    object from then on."""
    word = run.find(wrapped, "__name__")
    if not isinstance(word, str):
        return run.unknown("a property without a name")

    def read(run: Runtime, self: Instance) -> Value:
        if word not in self.attributes:
            outer, run.grad_enabled = run.grad_enabled, True
            try:
                value = run.call(wrapped, self)
            finally:
                run.grad_enabled = outer
            keep(run, self, value)
        return self.attributes[word]

    def keep(run: Runtime, self: Instance, value: Value) -> None:
        run.changed(self)
        self.attributes[word] = value

    return Property(Native(word, read), Native(word, keep, propagate_unknown=False))


UTILITIES = {"lazy_property": Native("lazy_property", lazy_property)}
"""torch.distributions.utils."""


def member(name: str) -> Value:
    """Other distributions are there, and what they give is unknown."""
    if name in NAMES:
        return NAMES[name]
    return not_followed(name) if name[:1].isupper() else MISSING
