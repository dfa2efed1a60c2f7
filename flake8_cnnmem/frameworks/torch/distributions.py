"""torch.distributions: the normal distribution of variational models, by its formulas; other ones are not followed."""

from __future__ import annotations

from flake8_cnnmem.frameworks.torch.members import Members
from flake8_cnnmem.frameworks.torch.registry import TORCH
from flake8_cnnmem.graph import Tensor
from flake8_cnnmem.unknown import Unknown
from flake8_cnnmem.values import MISSING, Class, Instance, Native, Run, Value

MEMBERS = Members()
NORMAL = Class("Normal", namespace=MEMBERS, module="torch.distributions.normal")


@MEMBERS.method("__init__")
def init(run: Run, self: Instance, loc: Value, scale: Value, validate_args: Value = None) -> Value:
    self.attributes.update({"loc": as_tensor(run, loc), "scale": as_tensor(run, scale)})
    self.attributes.update({"mean": self.attributes["loc"], "stddev": self.attributes["scale"]})
    return None


def as_tensor(run: Run, value: Value) -> Value:
    return run.call(TORCH["tensor"], float(value)) if isinstance(value, (int, float)) else value


def parts(self: Instance) -> tuple[Value, Value]:
    return self.attributes.get("loc"), self.attributes.get("scale")


def power(run: Run, value: Value, exponent: int) -> Value:
    return run.operate("**", value, exponent)


@MEMBERS.method("rsample")
def rsample(run: Run, self: Instance, sample_shape: Value = ()) -> Value:
    """loc + noise * scale: the gradient goes through."""
    loc, scale = parts(self)
    like = loc if isinstance(loc, Tensor) and loc.shape != () else scale
    if not isinstance(like, Tensor) or isinstance(like.shape, Unknown):
        return run.unknown("the shape of a sample is not known")
    extra = tuple(sample_shape) if isinstance(sample_shape, (tuple, list)) else ()
    noise = Tensor((*extra, *like.shape), like.dtype)
    return run.operate("+", loc, run.operate("*", noise, scale))


@MEMBERS.method("sample")
def sample(run: Run, self: Instance, sample_shape: Value = ()) -> Value:
    outer, run.grad_enabled = run.grad_enabled, False
    try:
        return rsample(run, self, sample_shape)
    finally:
        run.grad_enabled = outer


@MEMBERS.method("log_prob")
def log_prob(run: Run, self: Instance, value: Value) -> Value:
    """-(value - loc)^2 / (2 scale^2) - log(scale) - log(sqrt(2 pi))."""
    loc, scale = parts(self)
    variance = power(run, scale, 2)
    distance = run.operate_unary("neg", power(run, run.operate("-", value, loc), 2))
    share = run.operate("/", distance, run.operate("*", 2, variance))
    return run.operate("-", run.operate("-", share, run.call(run.get(scale, "log"))), 0.9189385332046727)


@MEMBERS.method("entropy")
def entropy(run: Run, self: Instance) -> Value:
    return run.operate("+", 1.4189385332046727, run.call(run.get(parts(self)[1], "log")))


@MEMBERS.method("expand")
def expand(run: Run, self: Instance, *args: Value) -> Value:
    return self


def divergence(run: Run, p: Value, q: Value) -> Value:
    """Of two normal distributions: (r + t - 1 - log r) / 2, where r is the ratio of the variances."""
    if not all(isinstance(each, Instance) and each.cls is NORMAL for each in (p, q)):
        return run.unknown("the divergence of these distributions is not followed")
    (mine, spread), (theirs, width) = parts(p), parts(q)
    ratio = power(run, run.operate("/", spread, width), 2)
    shift = power(run, run.operate("/", run.operate("-", mine, theirs), width), 2)
    sum_ = run.operate("-", run.operate("+", ratio, shift), 1)
    return run.operate("*", 0.5, run.operate("-", sum_, run.call(run.get(ratio, "log"))))


def not_followed(name: str) -> Native:
    return Native(name, lambda run, *args, **kwargs: run.unknown(f"{name} is not followed"), absorb=False)


NAMES: dict[str, Value] = {
    "Normal": NORMAL,
    "kl_divergence": Native("kl_divergence", divergence, absorb=False),
}


def member(name: str) -> Value:
    """Other distributions are there, and what they give is unknown."""
    if name in NAMES:
        return NAMES[name]
    return not_followed(name) if name[:1].isupper() else MISSING
