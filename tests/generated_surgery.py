"""More of what the programs of tests/generated.py do to their models (tests/generated_edits.py has the words): hooks,
state dicts, parametrizations, dictionaries of modules, classes changed behind the model's back, and calls that torch
or Python refuses."""

from __future__ import annotations

HEAD = """\
import contextlib
import functools
import math
import types
import torch
from torch import nn


class Doubled(nn.Module):
    def forward(self, w):
        return w + w


class Grown(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, w):
        return w * self.scale


@contextlib.contextmanager
def frozen(model):
    flags = [p.requires_grad for p in model.parameters()]
    model.requires_grad_(False)
    try:
        yield model
    finally:
        for p, flag in zip(model.parameters(), flags):
            p.requires_grad_(flag)


"""

HOOKED = (
    "NAME.register_forward_hook(lambda m, i, o: o * 2)", "NAME.register_forward_pre_hook(lambda m, i: (i[0] * 1.5,))",
    "h = NAME.m1.register_forward_hook(lambda m, i, o: o.relu())\nh.remove()", "NAME.m1.register_full_backward_hook(lambda m, i, o: None)",
    "def hook(m, i, o):\n    raise ValueError(m)\nNAME.m1.register_forward_hook(hook)", "def hook(m, i, o):\n    m.calls = getattr(m, 'calls', 0) + 1\n    return o * m.calls\nNAME.m1.register_forward_hook(hook)",
    "NAME.m1.register_forward_hook(lambda m, i, k, o: o + 1, with_kwargs=True)", "NAME.m1.register_forward_pre_hook(lambda m, i: i[0].relu())",
    "NAME.m1.register_forward_hook(lambda m, i: None)", "NAME.m1.register_forward_hook(functools.partial(lambda n, m, i, o: o * n, 3))",
    "seen = []\nNAME.m1.register_forward_hook(lambda m, i, o: seen.append(o.shape))", "with contextlib.suppress(ValueError):\n    NAME.e.register_forward_hook(lambda m, i, o: 1 / 0)",
    "NAME.m1.register_forward_hook(lambda m, i, o: (o,)[0])", "NAME.m1.register_forward_hook(lambda m, i, o: (o,))",
    "def hook(m, i, o):\n    try:\n        return m.zz(o)\n    except AttributeError:\n        return o.tanh()\n    finally:\n        m.seen = True\nNAME.m1.register_forward_hook(hook)",
    "NAME.e.weight.register_hook(lambda g: g * 2)", "class Hook:\n    def __call__(self, m, i, o):\n        return o - 1\nNAME.m1.register_forward_hook(Hook())",
)  # fmt: skip

CHANGED = (
    "NAME.n = copy.deepcopy(NAME.m1)", "NAME.n = NAME.m1", "NAME.m1.weight.data.mul_(2)", "with torch.no_grad():\n    for p in OWN:\n        p.add_(1)",
    "for p in OWN:\n    p.add_(1)", "NAME.e.weight.fill_(1)", "NAME.load_state_dict(NAME.state_dict())", "NAME.e.load_state_dict(nn.Linear(2, 2).state_dict())",
    "NAME.e.load_state_dict({'weight': torch.zeros(3, 3)})", "NAME.e.load_state_dict({'weight': torch.zeros(3, 3)}, strict=False)",
    "q = torch.func.functional_call(NAME.e, {'weight': torch.ones(2, 3), 'bias': torch.ones(2)}, torch.ones(1, 3)).shape[1]\nNAME.u = nn.Linear(q, 1)",
    "torch.nn.utils.parametrize.register_parametrization(NAME.e, 'weight', Doubled())", "torch.nn.utils.parametrize.register_parametrization(NAME.e, 'weight', Grown())",
    "torch.nn.utils.parametrize.register_parametrization(NAME.e, 'bias', Grown())\nNAME.e.parametrizations.bias.original.requires_grad = False",
    "torch.nn.utils.parametrize.register_parametrization(NAME.f, 'weight', Doubled())\ntorch.nn.utils.parametrize.remove_parametrizations(NAME.f, 'weight')",
    "old = type(NAME).forward\ntype(NAME).forward = lambda self, x: old(self, x) * 2", "NAME.forward = types.MethodType(lambda self, x: type(self).forward(self, x).tanh(), NAME)",
    "NAME._modules['u'] = ONE", "NAME._modules.pop('m1')", "NAME._modules['m1'], NAME._modules['e'] = NAME._modules['m1'], ONE", "NAME._parameters['w'] = nn.Parameter(torch.ones(3))",
    "NAME.register_parameter('w', None)", "NAME.w = nn.Parameter(torch.ones(2))\nNAME.w = None", "NAME.w = nn.Parameter(torch.ones(2))\nNAME.w = torch.ones(3)",
    "NAME.register_buffer('w', torch.ones(3))\nNAME.w = nn.Parameter(torch.ones(3))", "setattr(NAME, 'u', ONE)\ndelattr(NAME, 'u')", "NAME.u = ONE\nNAME.u = 3", "NAME.u = ONE\nNAME.u = None",
    "for m in NAME.modules():\n    if isinstance(m, nn.Linear):\n        m.bias = None", "for m in NAME.modules():\n    if isinstance(m, nn.BatchNorm2d):\n        m.eval()",
    "NAME.apply(lambda m: m.requires_grad_(False) if isinstance(m, nn.Conv2d) else None)", "NAME.m1 = nn.Sequential(NAME.m1)", "NAME.eval()", "NAME.train(False)", "NAME.train()",
    "NAME.u = nn.Linear(len(list(NAME.parameters())), sum(1 for _ in NAME.modules()))", "NAME.u = nn.Linear(len(NAME.state_dict()), 1)", "NAME.u = nn.Linear(sum(p.requires_grad for p in OWN) + 1, 1)",
    "NAME.u = nn.Linear(len(repr(NAME.e)) % 5 + 1, 1)", "NAME.half().float()", "NAME.double()", "NAME.to('meta')", "NAME.to(torch.float64).to(torch.float32)", "NAME.e.half()", "NAME.m1.half()", "NAME.m1.double()",
    "p = next(OWN)\np.grad = torch.zeros_like(p)", "NAME.e.weight.requires_grad = False\nNAME.e.weight = NAME.f.weight", "nn.init.constant_(NAME.e.weight, 0.)", "nn.init.xavier_uniform_(NAME.e.bias)",
    "class Sub(type(NAME)):\n    def forward(self, x):\n        return super().forward(x) + 1\nNAME.__class__ = Sub", "NAME.u = getattr(NAME, 'zz', None) or ONE", "try:\n    NAME.zz\nexcept AttributeError:\n    NAME.u = ONE\nelse:\n    NAME.u = OTHER",
    "NAME.get_submodule('m1').requires_grad_(False)", "NAME.get_parameter('e.weight').requires_grad = False", "NAME.u = nn.ParameterList([nn.Parameter(torch.ones(2)), torch.ones(3)])",
    "NAME.u = nn.ParameterDict({'a': torch.ones(2)})\nNAME.u['b'] = nn.Parameter(torch.ones(1))", "NAME.u = [ONE]", "NAME.u = nn.ModuleList([ONE] * 2)", "NAME.u = nn.ModuleList([copy.copy(NAME.e)])",
    "NAME.e.weight.data = torch.zeros(2, 3)", "NAME.e.weight = nn.Parameter(torch.ones(3, 3), requires_grad=False)", "with frozen(NAME):\n    NAME.u = ONE", "with frozen(NAME.m1) as m:\n    m.requires_grad_(True)",
    "with frozen(NAME):\n    raise ValueError", "with contextlib.suppress(ValueError), frozen(NAME):\n    raise ValueError", "NAME.u = nn.Sequential()\nfor i in range(3):\n    NAME.u.add_module('x', ONE)",
    "for name, p in list(NAME.e.named_parameters()):\n    delattr(NAME.e, name)\n    NAME.e.register_buffer(name, p.detach())", "for p in {id(p): p for p in NAME.parameters()}.values():\n    p.requires_grad = p.numel() % 2 == 0",
    "type(NAME).extra = property(lambda self: self.e)\nNAME.u = nn.Linear(NAME.extra.in_features, 1)", "NAME.__dict__['u'] = ONE", "object.__setattr__(NAME, 'u', ONE)", "vars(NAME)['_modules']['u'] = ONE",
    "NAME.e.weight.requires_grad_(NAME.e.weight.numel() > 9)", "s = {k: v * 2 for k, v in NAME.state_dict().items()}\nNAME.load_state_dict(s)", "s = NAME.state_dict()\ns.pop(next(iter(s)))\nNAME.load_state_dict(s)",
    "s = NAME.state_dict()\ns.pop(next(iter(s)))\nm, u = NAME.load_state_dict(s, strict=False)\nNAME.u = nn.Linear(len(m) + 1, len(u) + 1)", "NAME.m1.__class__.forward\nNAME.m1.forward = NAME.m1.forward",
    "torch.nn.utils.vector_to_parameters(torch.nn.utils.parameters_to_vector(NAME.e.parameters()), NAME.e.parameters())", "nn.utils.fuse_conv_bn_eval", "NAME.u = nn.Linear(int(NAME.e.weight.shape.numel() / 4) + 1, 1)",
    "NAME.u = nn.Linear(round(2.5), round(3.5))", "NAME.u = nn.Linear(*divmod(17, 5))", "NAME.u = nn.ModuleDict(a=ONE) if False else nn.ModuleDict([('a', ONE), ('a', OTHER)])",
)  # fmt: skip

REFUSED = (
    "NAME.zz", "NAME.get_submodule('zz')", "NAME.e.weight = NAME.e.weight * 2", "NAME.e.weight.requires_grad = 0", "NAME.u = nn.Linear(2.0, 1)", "NAME.u = nn.Linear('2', 1)", "NAME.u = nn.Linear(2)",
    "NAME.u = nn.Linear(2, 1, bia=False)", "NAME.u = nn.Conv2d(4, 4, 3, paddding=1)", "NAME.add_module('a.b', ONE)", "NAME.add_module('forward', ONE)", "NAME.add_module('', ONE)", "NAME.u = nn.ModuleList([ONE, 3])",
    "nn.Sequential(ONE, None)", "NAME.u = nn.ModuleDict({1: ONE})", "NAME.u = nn.ModuleList([ONE])[1]", "nn.ModuleDict({'a': ONE})['b']", "torch.zeros(2, 3) @ torch.zeros(2, 3)", "torch.cat([torch.zeros(2), torch.zeros(2, 2)])",
    "torch.tensor([[1, 2], [3]])", "torch.zeros(3)[5]", "torch.zeros(3).view(2)", "int('x')", "[1][2]", "{}['a']", "(1).foo", "None + 1", "len(3)", "math.sqrt(-1)", "torch.optim.SGD(NAME.parameters(), lr=-1)",
    "torch.optim.Adam([])", "torch.optim.SGD(NAME.e, lr=1)", "next(iter([]))", "a, b = 1, 2, 3", "undefined_name", "'a' + 1", "max([])", "sorted([1, 'a'])", "{}.pop('a')", "[].pop()", "[1].remove(2)", "'ab'.index('c')",
    "float('x')", "(lambda v: v)()", "print(zz)", "import no_such_module_at_all", "from math import nothing_there", "NAME.e(torch.zeros(2, 4))", "NAME.e(torch.zeros(2, 3, dtype=torch.long))", "NAME.e()", "NAME.e(1)",
    "torch.zeros(2).nothing", "torch.nothing_there", "nn.Nothing", "torch.ones(2) + torch.ones(3)", "torch.zeros(2, 2).squeeze(5)", "torch.stack([])", "torch.zeros(2, 3).permute(0, 1, 2)", "torch.zeros(2).item()", "bool(torch.zeros(2))",
    "for a, b in [1, 2]:\n    pass", "for v in 3:\n    pass", "with 3:\n    pass", "raise NotImplementedError", "assert False", "class K(int, str):\n    pass", "del zz", "x: int = undefined", "dict([1])", "range(2.0)", "[1, 2][0.5]", "'abc'[5]",
    "NAME.m1.weight.backward()", "torch.zeros(2).backward()", "torch.arange(3.).log().nope()", "torch.empty(0).max()", "'%d' % 'a'", "'{:d}'.format('a')", "f\"{'a':d}\"", "1 / 0", "1 % 0", "divmod(1, 0)", "chr(-1)", "iter(3)", "hash([])", "{[]: 1}",
    "NAME.u = nn.Embedding(3, 2)(torch.tensor([4]))", "NAME.e.load_state_dict([])", "NAME.to('nothing')", "NAME.to(torch.int64)", "torch.zeros(2, dtype='float32')", "torch.device('gpu')", "functools.reduce(max, [])", "open('/no/such/file')",
    "try:\n    {}['a']\nexcept IndexError:\n    pass", "try:\n    1 / 0\nfinally:\n    pass", "try:\n    1 / 0\nexcept ZeroDivisionError:\n    raise", "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    [][0]",
)  # fmt: skip
"""Most of these raise."""
