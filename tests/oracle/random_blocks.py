"""What random programs (random_programs.py) are built of: each function adds a few statements to a network, and says what
shape `x` has then. Those of `IMAGE` want (channels, height, width), those of `SEQUENCE` (length, features)."""

from __future__ import annotations

import random
from collections.abc import Callable

ACTIVATIONS = (
    "F.relu({})", "F.gelu({})", "F.silu({})", "torch.tanh({})", "torch.sigmoid({})", "F.leaky_relu({}, 0.1)",
    "F.elu({})", "F.softplus({})", "F.mish({})", "F.hardswish({})", "{0} * torch.sigmoid({0})", "{}.clamp(min=0)",
    "{}.square()", "torch.exp(-{}.abs())", "F.dropout({}, 0.1)", "{} * 2 + 1", "torch.where({0} > 0, {0}, 0.1 * {0})",
    "F.gelu({}, approximate='tanh')", "F.relu6({})", "torch.logaddexp({0}, -{0})", "{0} / (1 + {0}.abs())",
    "F.hardtanh({})", "F.logsigmoid({})", "torch.maximum({0}, 0.1 * {0})", "{}.pow(2)", "torch.sin({})", "F.selu({})",
)  # fmt: skip


class Net:
    """A network on its way: statements of `__init__` and of `forward`, and the shape of `x` without the batch."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.made: list[str] = []
        self.steps: list[str] = []
        self.shape: tuple[int, ...] = ()
        self.number = 0

    def module(self, expression: str) -> str:
        self.number += 1
        self.made.append(f"self.m{self.number} = {expression}")
        return f"self.m{self.number}"

    def parameter(self, *sizes: int) -> str:
        return self.module(f"nn.Parameter(torch.zeros({', '.join(map(str, sizes))}))")

    def add(self, *lines: str) -> None:
        self.steps += lines

    def one(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def number_of(self, *choices: int) -> int:
        return self.chance.choice(choices)

    def flip(self) -> bool:
        return self.chance.random() < 0.5

    def activation(self, of: str = "x") -> str:
        return self.chance.choice(ACTIVATIONS).format(of)

    def conv(self, given: int, made: int, kernel: int = 3, **options: object) -> str:
        written = "".join(f", {name}={value}" for name, value in options.items())
        return self.module(f"nn.Conv2d({given}, {made}, {kernel}, padding={kernel // 2}{written})")

    def norm(self, channels: int) -> str:
        groups = f"nn.GroupNorm(4, {channels})" if channels % 4 == 0 else f"nn.BatchNorm2d({channels})"
        return self.module(self.one(f"nn.BatchNorm2d({channels})", f"nn.BatchNorm2d({channels})", groups))


IMAGE: list[Callable[[Net], None]] = []
SEQUENCE: list[Callable[[Net], None]] = []


def image(step: Callable[[Net], None]) -> Callable[[Net], None]:
    IMAGE.append(step)
    return step


def sequence(step: Callable[[Net], None]) -> Callable[[Net], None]:
    SEQUENCE.append(step)
    return step


@image
def convolution(net: Net) -> None:
    c, h, w = net.shape
    made, kernel, stride = net.number_of(8, 16, 32, 64), net.number_of(1, 3, 5), net.number_of(1, 1, 2) if h > 7 else 1
    net.add(f"x = {net.conv(c, made, kernel, stride=stride, bias=net.flip())}(x)")
    net.shape = (made, (h - 1) // stride + 1, (w - 1) // stride + 1)


@image
def block(net: Net) -> None:
    """Convolution, norm, activation."""
    c, h, w = net.shape
    made = net.number_of(16, 32, 64)
    net.add(f"x = {net.norm(made)}({net.conv(c, made, bias=False)}(x))", f"x = {net.activation()}")
    net.shape = (made, h, w)


@image
def residual(net: Net) -> None:
    c = net.shape[0]
    one, other = (f"{net.norm(c)}({net.conv(c, c, bias=False)}({{}}))" for _ in range(2))
    last = net.one("x = F.relu(x + y)", "x = x + y", "x = F.relu(x + y, inplace=True)", "y += x\n        x = F.relu(y)")
    net.add(f"y = F.relu({one.format('x')}, inplace={net.flip()})", f"y = {other.format('y')}", last)


@image
def bottleneck(net: Net) -> None:
    c, h, w = net.shape
    inner, made, groups = net.number_of(8, 16), net.number_of(32, 64), net.number_of(1, 2, 4)
    net.add(f"y = F.relu({net.norm(inner)}({net.conv(c, inner, 1, bias=False)}(x)))",
            f"y = F.relu({net.norm(inner)}({net.conv(inner, inner, 3, groups=groups, bias=False)}(y)))",
            f"x = {net.activation(f'({net.conv(c, made, 1)}(x) + {net.conv(inner, made, 1)}(y))')}")  # fmt: skip
    net.shape = (made, h, w)


@image
def inverted(net: Net) -> None:
    """A MobileNet's block, with squeeze and excitation."""
    c = net.shape[0]
    wide = 4 * c
    net.add(f"y = F.silu({net.norm(wide)}({net.conv(c, wide, 1, bias=False)}(x)), inplace={net.flip()})",
            f"y = F.silu({net.norm(wide)}({net.conv(wide, wide, 3, groups=wide, bias=False)}(y)))")  # fmt: skip
    if net.flip():
        pool = net.one("y.mean((2, 3), keepdim=True)", "F.adaptive_avg_pool2d(y, 1)")
        squeezed = f"F.relu({net.conv(wide, 8, 1)}({pool}))"
        net.add(f"y = y * {net.one('torch.sigmoid', 'F.hardsigmoid')}({net.conv(8, wide, 1)}({squeezed}))")
    net.add(f"x = x + {net.module(f'nn.BatchNorm2d({c})')}({net.conv(wide, c, 1, bias=False)}(y))")


@image
def convnext(net: Net) -> None:
    c = net.shape[0]
    net.add(f"y = {net.conv(c, c, 7, groups=c)}(x).permute(0, 2, 3, 1)",
            f"y = {net.module(f'nn.LayerNorm({c})')}(y)",
            f"y = {net.module(f'nn.Linear({4 * c}, {c})')}(F.gelu({net.module(f'nn.Linear({c}, {4 * c})')}(y)))")  # fmt: skip
    scaled = f"{net.parameter(c)} * y" if net.flip() else "y"
    net.add(f"x = x + ({scaled}).permute(0, 3, 1, 2)")


@image
def inception(net: Net) -> None:
    c, h, w = net.shape
    widths = [net.number_of(4, 8, 12, 16) for _ in range(3)]
    branches = [f"{net.conv(c, widths[0], 1)}(x)", f"F.relu({net.conv(8, widths[1])}({net.conv(c, 8, 1)}(x)))",
                f"{net.conv(c, widths[2], 1)}({net.one('F.max_pool2d', 'F.avg_pool2d')}(x, 3, stride=1, padding=1))"]  # fmt: skip
    net.add(f"x = torch.cat([{', '.join(branches)}], {net.one('1', 'dim=1')})")
    net.shape = (sum(widths), h, w)


@image
def dense(net: Net) -> None:
    c, h, w = net.shape
    net.add("parts = [x]")
    for at in range(2):
        own = c + 8 * at
        net.add(f"y = F.relu({net.module(f'nn.BatchNorm2d({own})')}(torch.cat(parts, 1)), inplace={net.flip()})",
                f"parts.append({net.conv(own, 8, bias=False)}(y))")  # fmt: skip
    net.add("x = torch.cat(parts, 1)")
    net.shape = (c + 16, h, w)


@image
def unet(net: Net) -> None:
    c, h, w = net.shape
    if h % 4 or w % 4 or h < 8:
        return
    up = net.one("F.interpolate(y, scale_factor=2, mode='nearest')",
                 "F.interpolate(y, scale_factor=2, mode='bilinear', align_corners=True)",
                 "F.interpolate(y, size=a.shape[2:], mode='bilinear')", "transposed")  # fmt: skip
    if up == "transposed":
        up = f"{net.module(f'nn.ConvTranspose2d({4 * c}, {4 * c}, 2, stride=2)')}(y)"
    net.add(f"a = F.relu({net.conv(c, 2 * c)}(x))",
            f"y = F.relu({net.conv(2 * c, 4 * c)}({net.one('F.max_pool2d(a, 2)', 'F.avg_pool2d(a, 2)', 'a[:, :, ::2, ::2]')}))",
            f"x = {net.conv(6 * c, 2 * c)}(torch.cat([a, {up}], 1))")  # fmt: skip
    net.shape = (2 * c, h, w)


@image
def pooled(net: Net) -> None:
    c, h, w = net.shape
    if min(h, w) < 4:
        return
    net.add("x = " + net.one("F.max_pool2d(x, 2)", "F.avg_pool2d(x, 2)", "F.max_pool2d(x, 2, 2)",
                             "F.lp_pool2d(x, 2, 2)", "F.adaptive_max_pool2d(x, (x.shape[2] // 2, x.shape[3] // 2))",
                             "F.adaptive_avg_pool2d(x, (x.shape[2] // 2, x.shape[3] // 2))"))  # fmt: skip
    net.shape = (c, h // 2, w // 2)


@image
def larger(net: Net) -> None:
    c, h, w = net.shape
    if h > 24 or w > 24:
        return
    how = net.one("nearest", "bilinear", "bicubic", "shuffled", "transposed")
    if how == "shuffled" and c % 4 == 0:
        net.add("x = F.pixel_shuffle(x, 2)")
        c //= 4
    elif how == "transposed":
        net.add(f"x = {net.module(f'nn.ConvTranspose2d({c}, {c}, 4, stride=2, padding=1)')}(x)")
    else:
        net.add(f"x = F.interpolate(x, scale_factor=2, mode={how if how[0] == 'b' else 'nearest'!r})")
    net.shape = (c, 2 * h, 2 * w)


@image
def smaller_of_image(net: Net) -> None:
    """What rearranges, cuts and fills."""
    c, h, w = net.shape
    how = net.one("shuffle", "slice", "pad", "gate", "norm", "roll", "flip", "instance", "drop", "act", "act", "scale")
    if how == "shuffle" and c % 2 == 0:
        net.add(f"x = x.view(x.shape[0], 2, {c // 2}, {h}, {w}).transpose(1, 2).reshape(x.shape[0], {c}, {h}, {w})")
    elif how == "slice" and h > 4:
        net.add("x = x[:, :, 1:-1]")
        net.shape = (c, h - 2, w)
    elif how == "pad":
        net.add(f"x = F.pad(x, (1, 1, 1, 1){net.one('', ', mode=' + repr('reflect'), ', mode=' + repr('replicate'))})")
        net.shape = (c, h + 2, w + 2)
    elif how == "gate" and c % 2 == 0:
        net.add("a, b = x.chunk(2, 1)", f"x = a * {net.activation('b')}")
        net.shape = (c // 2, h, w)
    elif how == "norm":
        net.add(f"x = {net.module(f'nn.LayerNorm({c})')}(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)")
    elif how == "instance":
        net.add(f"x = {net.module(f'nn.InstanceNorm2d({c}, affine={net.flip()})')}(x)")
    elif how == "drop":
        net.add(f"x = {net.one('F.dropout2d(x, 0.1)', 'F.dropout(x, 0.2)')}")
    elif how == "scale":
        net.add(f"x = x * {net.parameter(1, c, 1, 1)} + {net.parameter(1, c, 1, 1)}")
    elif how in ("roll", "flip"):
        net.add(f"x = torch.{'roll(x, (1, 1), (2, 3))' if how == 'roll' else 'flip(x, (3,))'}")
    else:
        net.add(f"x = {net.activation()}")


@image
def windows(net: Net) -> None:
    """Attention within windows of 4 x 4, moved by 2, as Swin has it."""
    c, h, w = net.shape
    if h % 4 or w % 4 or c % 4 or h * w > 600:
        return
    moved = net.flip()
    net.add("n = x.shape[0]", f"y = {net.module(f'nn.LayerNorm({c})')}(x.permute(0, 2, 3, 1))")
    if moved:
        net.add("y = torch.roll(y, shifts=(-2, -2), dims=(1, 2))")
    net.add(f"y = y.view(n, {h // 4}, 4, {w // 4}, 4, {c}).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, {c})")
    attend(net, c, "y", "y")
    net.add(f"y = y.view(n, {h // 4}, {w // 4}, 4, 4, {c}).permute(0, 1, 3, 2, 4, 5).reshape(n, {h}, {w}, {c})")
    if moved:
        net.add("y = torch.roll(y, shifts=(2, 2), dims=(1, 2))")
    net.add("x = x + y.permute(0, 3, 1, 2)")


@image
def to_sequence(net: Net) -> None:
    c, h, w = net.shape
    if h * w > 1200:
        return
    net.add("x = " + net.one("x.flatten(2).transpose(1, 2)",
                             "x.permute(0, 2, 3, 1).reshape(x.shape[0], -1, x.shape[1])"))  # fmt: skip
    net.shape = (h * w, c)


def attend(net: Net, c: int, given: str, result: str) -> None:
    """Self-attention of (n, length, c), written out or by the functional."""
    joint, out = net.module(f"nn.Linear({c}, {3 * c}, bias={net.flip()})"), net.module(f"nn.Linear({c}, {c})")
    net.add(f"b, t, c = {given}.shape")
    net.add(net.one(f"q, k, v = {joint}({given}).reshape(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)",
                    f"q, k, v = {joint}({given}).reshape(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4).unbind(0)",
                    f"q, k, v = (z.view(b, t, 4, c // 4).transpose(1, 2) for z in {joint}({given}).chunk(3, -1))"))  # fmt: skip
    net.add(net.one(
        f"{result} = F.scaled_dot_product_attention(q, k, v, is_causal={net.flip()})",
        f"{result} = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1)",
        f"{result} = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros(t, t, dtype=torch.bool, device=x.device))",
        f"{result} = F.softmax(q @ k.transpose(-2, -1) / c ** 0.5, -1) @ v",
        f"{result} = F.dropout(((q * c ** -0.5) @ k.transpose(-2, -1)).softmax(-1), 0.1) @ v",
        f"{result} = (q @ k.transpose(-2, -1)).masked_fill(torch.ones(t, t, device=x.device).triu(1) > 0, -1e9).softmax(-1) @ v",
        f"{result} = torch.einsum('bhqk,bhkd->bhqd', torch.einsum('bhqd,bhkd->bhqk', q, k).softmax(-1), v)",
    ))  # fmt: skip
    net.add(f"{result} = {out}({result}.transpose(1, 2).reshape(b, t, c))")


@sequence
def attention(net: Net) -> None:
    t, c = net.shape
    if c % 4 or t > 256:
        return
    if net.flip():
        attend(net, c, net.one("x", f"{net.module(f'nn.LayerNorm({c})')}(x)"), "y")
        net.add("x = x + y")
    else:
        mask = net.one("", "", ", attn_mask=torch.zeros(x.shape[1], x.shape[1], device=x.device)")
        options = f"need_weights={net.flip()}{mask}"
        layer = net.module(f"nn.MultiheadAttention({c}, 4, batch_first=True, dropout={net.number_of(0, 0, 1) / 10})")
        net.add(f"x = x + {layer}(x, x, x, {options})[0]")


@sequence
def crossed(net: Net) -> None:
    t, c = net.shape
    if c % 4 or t > 256:
        return
    layer = net.module(f"nn.MultiheadAttention({c}, 4, batch_first=True)")
    queries = f"{net.parameter(1, 8, c)}.expand(x.shape[0], -1, -1)"
    net.add(f"x = {layer}({queries}, x, x, need_weights=False)[0]")
    net.shape = (8, c)


@sequence
def transformer(net: Net) -> None:
    t, c = net.shape
    if c % 4 or t > 128:
        return
    layer = f"nn.TransformerEncoderLayer({c}, 4, {2 * c}, batch_first=True, norm_first={net.flip()})"
    net.add(f"x = {net.module(net.one(layer, f'nn.TransformerEncoder({layer}, 2)'))}(x)")


@sequence
def linear(net: Net) -> None:
    t, c = net.shape
    made = net.number_of(16, 32, 64, 128)
    net.add(f"x = {net.module(f'nn.Linear({c}, {made}, bias={net.chance.random() < 0.75})')}(x)")
    net.shape = (t, made)


@sequence
def perceptron(net: Net) -> None:
    c = net.shape[1]
    norm = net.module(net.one(f"nn.LayerNorm({c})", f"nn.RMSNorm({c})"))
    how = net.one("plain", "gated", "swiglu")
    if how == "plain":
        inner = f"nn.Linear({c}, {2 * c}), nn.GELU(), nn.Dropout(0.1), nn.Linear({2 * c}, {c})"
        net.add(f"x = x + {net.module(f'nn.Sequential({inner})')}({norm}(x))")
        return
    net.add(f"a, b = {net.module(f'nn.Linear({c}, {4 * c})')}({norm}(x)).chunk(2, -1)",
            f"x = x + {net.module(f'nn.Linear({2 * c}, {c})')}({'F.silu(a) * b' if how == 'swiglu' else 'a * F.gelu(b)'})")  # fmt: skip


@sequence
def mixed(net: Net) -> None:
    """Over positions, and convolutions along them."""
    t, c = net.shape
    how = net.one("mixer", "conv", "depthwise", "norm")
    if how == "mixer" and t <= 256:
        layer = net.module(f"nn.Linear({t}, {t})")
        net.add(f"x = x + {layer}({net.module(f'nn.LayerNorm({c})')}(x).transpose(1, 2)).transpose(1, 2)")
    elif how == "norm":
        net.add(f"x = {net.module(f'nn.BatchNorm1d({c})')}(x.transpose(1, 2)).transpose(1, 2)")
    else:
        layer = net.module(f"nn.Conv1d({c}, {c}, 3, padding=1{f', groups={c}' if how == 'depthwise' else ''})")
        net.add(f"x = {net.one('', 'x + ')}{layer}(x.transpose(1, 2)).transpose(1, 2)")


@sequence
def smaller_of_sequence(net: Net) -> None:
    t, c = net.shape
    how = net.one("norm", "act", "act", "transpose", "softmax", "einsum", "roll", "pool", "cat", "cumsum", "windows", "chosen",
                  "mask", "token", "gate", "scale", "rms", "normalize", "unfold", "experts", "lookup", "split")  # fmt: skip
    if how == "norm":
        net.add(f"x = {net.module(f'nn.LayerNorm({c})')}(x)")
    elif how == "transpose" and t <= 256:
        net.add("x = x.transpose(1, 2)")
        net.shape = (c, t)
    elif how == "softmax":
        net.add(f"x = x.{net.one('softmax', 'log_softmax')}({net.one('-1', '1')})")
    elif how == "einsum":
        net.add(f"x = torch.einsum({net.one('btc,cd->btd', 'btc,cd->bdt')!r}, x, {net.parameter(c, 32)})")
        net.shape = (t, 32) if "->btd" in net.steps[-1] else (32, t)
    elif how == "roll":
        net.add("x = torch.roll(x, 1, 1)")
    elif how == "pool" and t % 2 == 0 and t > 3:
        net.add("x = " + net.one("F.avg_pool1d(x.transpose(1, 2), 2).transpose(1, 2)", "x[:, ::2]",
                                 "F.max_pool1d(x.transpose(1, 2), 2).transpose(1, 2)",
                                 f"x.reshape(x.shape[0], {t // 2}, 2, {c}).{net.one('mean(2)', 'sum(2)', 'amax(2)')}"))  # fmt: skip
        net.shape = (t // 2, c)
    elif how == "cat":
        net.add(f"x = torch.cat([x, {net.activation()}], -1)")
        net.shape = (t, 2 * c)
    elif how == "cumsum":
        net.add("x = x.cumsum(1)")
    elif how == "windows" and t % 4 == 0:
        net.add(f"x = x.reshape(x.shape[0], {t // 4}, 4, {c}).transpose(1, 2).reshape(x.shape[0], {t}, {c})")
    elif how == "chosen":
        net.add(f"x = x[:, torch.arange({t // 2}, device=x.device)]" if net.flip() else f"x = x[:, : {t // 2}]")
        net.shape = (t // 2, c)
    elif how == "mask":
        net.add(f"x = x.masked_fill({net.one('x > 5', 'torch.zeros_like(x[..., :1]) > 0')}, 0.0)")
    elif how == "token":
        net.add(f"x = torch.cat([{net.parameter(1, 1, c)}.expand(x.shape[0], -1, -1), x], 1)")
        net.shape = (t + 1, c)
    elif how == "gate" and c % 2 == 0:
        net.add("x = F.glu(x, -1)" if net.flip() else f"a, b = x.split({c // 2}, -1)\n        x = a * torch.sigmoid(b)")
        net.shape = (t, c // 2)
    elif how == "scale":
        net.add(f"x = x * {net.parameter(c)} + {net.parameter(1, t, c)}")
    elif how == "rms":
        net.add(f"x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * {net.parameter(c)}")
    elif how == "normalize":
        net.add("x = F.normalize(x, dim=-1)")
    elif how == "unfold" and t > 8:
        net.add("x = x.unfold(1, 4, 2).mean(-1)" if net.flip() else "x = x.unfold(1, 4, 4).flatten(2)")
        net.shape = ((t - 4) // 2 + 1, c) if "mean" in net.steps[-1] else ((t - 4) // 4 + 1, 4 * c)
    elif how == "experts":
        experts = ", ".join(f"{net.module(f'nn.Linear({c}, {c})')}(x)" for _ in range(3))
        gate = net.module(f"nn.Linear({c}, 3)")
        net.add(f"x = (torch.stack([{experts}], -1) * {gate}(x).softmax(-1).unsqueeze(2)).sum(-1)")
    elif how == "lookup":
        net.add(f"x = x + {net.module(f'nn.Embedding({t}, {c})')}(torch.arange(x.shape[1], device=x.device))")
    elif how == "split" and t % 2 == 0:
        net.add("a, b = x.chunk(2, 1)", f"x = torch.cat([{net.activation('a')}, b], 1)")
    else:
        net.add(f"x = {net.activation()}")


@sequence
def to_image(net: Net) -> None:
    t, c = net.shape
    side = int(t**0.5)
    if side * side == t and side > 3:
        net.add(f"x = x.transpose(1, 2).reshape(x.shape[0], {c}, {side}, {side})")
        net.shape = (c, side, side)
