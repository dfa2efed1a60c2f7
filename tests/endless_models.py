"""Hostile programs whose tensors, arrays, modules and graphs grow without end."""

from __future__ import annotations

BEFORE = {
    "constants worked on without end": "x = torch.arange(100000)\nwhile True:\n    x = x + 1",
    "constants of torch, all kinds": """\
x = torch.arange(200000)
for i in range(10**6):
    x = x.reshape(2, -1).t().flip(0).reshape(-1)
    x.tolist()
    x.cumsum(0)
    torch.stack([x, x])
    x[::2]
    x.unique()
    x.sort()
    torch.meshgrid(x, x)""",
    "arrays worked on without end": """\
import numpy as np
x = np.arange(100000)
while True:
    x = x + 1""",
    "arrays of 10**12": """\
import numpy as np
x = np.zeros(10**12)
y = np.arange(10**12)
z = np.ones((10**6, 10**6))
z @ z
np.eye(10**6)
np.linspace(0, 1, 10**12)
list(x)
x.tolist()
np.repeat([1], 10**12)
np.tile([1], 10**12)
np.meshgrid(y, y)
for i in y: pass
np.random.rand(10**6, 10**6)
np.arange(10**5)[:, None] * np.arange(10**5)[None]""",
    "tensors of 10**18": """\
x = torch.zeros(10**9, 10**9)
y = torch.arange(10**12)
x @ x
x.tolist()
list(x)
for row in x: pass
torch.eye(10**9)
torch.linspace(0, 1, 10**12)
y.repeat(10**9)
torch.cat([x] * 1000)
torch.tensor([[0] * 1000] * 1000)
x.unbind()
x.split(1)
x.chunk(10**9)
torch.meshgrid(y, y)
torch.combinations(torch.arange(10**4))
torch.cartesian_prod(torch.arange(10**4), torch.arange(10**4))""",
    "constants that grow by broadcasting": """\
x = torch.arange(3000)
y = x[:, None] * x[None, :]
for i in range(100):
    y = y + (x[:, None] - x[None, :])""",
    "constants that double": "x = torch.arange(2)\nwhile True:\n    x = torch.cat([x, x])",
    "arrays that double": """\
import numpy as np
x = np.arange(2)
while True:
    x = np.concatenate([x, x])""",
    "a Sequential of 10**7 layers": """\
nn.Sequential(*[nn.Linear(8, 8)] * 10**7)
nn.ModuleList(nn.Linear(8, 8) for _ in range(10**7))
nn.Sequential(*(nn.ReLU() for _ in range(10**7)))
nn.ModuleList([nn.Linear(8, 8)] * 10**5)
nn.Sequential(*[nn.ReLU()] * 10**5)(torch.zeros(1, 8))
nn.ModuleDict({str(i): nn.ReLU() for i in range(10**7)})""",
    "a ModuleList filled without end": "m = nn.ModuleList()\nwhile True:\n    m.append(nn.Linear(8, 8))",
    "a ModuleList extended by itself": """\
m = nn.ModuleList([nn.Linear(8, 8)])
while True:
    m.extend(m)
    m += m
for x in m: m.append(x)""",
    "a ModuleList that grows while it is gone through": """\
m = nn.ModuleList([nn.Linear(8, 8)])
for x in m:
    m.append(x)
l = [1]
for x in l:
    l.append(x)
d = {1: 1}
for x in d:
    d[x + 1] = 1
s = {1}
for x in s: s.add(x + 1)""",
    "modules registered in themselves": """\
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.register_module('me', self)
        self.add_module('fc2', self)
        self.children_ = nn.ModuleList([self])
        for m in self.modules(): pass
        self.apply(lambda m: m.add_module('x', nn.Linear(1, 1)))
    def forward(self, x):
        for m in self.children(): x = m(x)
        return x
m = M()
m(torch.zeros(1, 8))
list(m.named_modules())
m.state_dict()
m.to('cpu')
str(m)
import copy
copy.deepcopy(m)
list(m.parameters())""",
    "a module that registers while it is asked": """\
m = nn.Module()
n = 0
for k in m.modules():
    m.add_module(str(n), nn.Module())
    n += 1
h = nn.Linear(8, 8)
h.register_forward_hook(lambda m, i, o: m(i[0]))
h(torch.zeros(1, 8))
h.register_forward_pre_hook(lambda m, i: h.register_forward_pre_hook(lambda *a: None))
h(torch.zeros(1, 8))""",
    "Keras branches doubled": """\
from keras import layers
x = i = keras.Input((8,))
for _ in range(60):
    x = layers.add([x, x])
keras.Model(i, x)
y = i
for _ in range(30):
    y = layers.Concatenate()([y, y])
m = keras.Model(i, y)
n = m
for _ in range(30):
    n = keras.Sequential([n, n])
layers.Dense(8)(y)""",
    "Keras models in models": """\
m = keras.Sequential([keras.Input((8,)), keras.layers.Dense(8)])
for i in range(40):
    a = keras.Input((8,))
    m = keras.Model(a, m(m(a)))
m.summary()
m.fit(None)""",
    "Keras models inside themselves": """\
m = keras.Sequential()
m.add(m)
m(keras.Input((8,)))
class M(keras.Model):
    def __init__(self):
        super().__init__()
        self.m = self
    def call(self, x):
        return self.m(x)
M()(keras.Input((8,)))
M().build((None, 8))
class L(keras.layers.Layer):
    def call(self, x): return L()(x)
L()(keras.Input((8,)))""",
    "modules in modules, doubled": """\
m = nn.Linear(8, 8)
for _ in range(60):
    m = nn.Sequential(m, m)
m(torch.zeros(1, 8))
sum(p.numel() for p in m.parameters())
list(m.modules())
str(m)
import copy
copy.deepcopy(m)
m.apply(lambda x: x)""",
    "einops patterns": """\
from einops import rearrange
rearrange(torch.zeros(1, 8), 'a b -> ' + '(' * 1000 + 'a b')
rearrange(torch.zeros(1, 8), ' '.join('abcdefgh' * 10000) + ' -> a')
torch.einsum(','.join(['ab'] * 10000) + '->a', *[torch.zeros(2, 2)] * 10000)
torch.einsum('a' * 60 + '->' + 'a' * 60, torch.zeros([1] * 60))""",
    "axes without end": """\
x = torch.zeros([2] * 60)
x.permute(*reversed(range(60)))
y = torch.zeros([1] * 100000)
y.squeeze()
z = torch.zeros(1)
for i in range(100000): z = z.unsqueeze(0)
z + z
z.sum()
y.expand([10**9] * 100000)
keras.Input([1] * 100000)
torch.zeros([10**9] * 1000).numel()
for i in range(1000): x = x.reshape([2] * 60)""",
    "a schedule of 10**9 epochs": """\
opt = torch.optim.SGD(net.parameters(), lr=0.1) if 0 else None
for epoch in range(10**9):
    for step in range(10**9):
        y = nn.Linear(8, 8)(torch.zeros(1, 8))
        y.sum().backward()""",
}
"""What a program does before it builds a model."""


INSIDE = {
    "constants worked on without end in forward": "y = torch.arange(100000)\nwhile True:\n    y = y * 2 + y.sum()",
    "a model that calls itself": "return self(x)",
    "a model that calls its forward twice": "return self.forward(x) + self.forward(x)",
    "a graph doubled in a loop": "for _ in range(200):\n    x = torch.cat([x, x])\nself.fc(x)",
    "sums of sums": "for _ in range(200):\n    x = x + x",
}
"""What the forward pass of a model does."""
