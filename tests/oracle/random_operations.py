"""More of what random programs are built of, as random_blocks.py has it: chains of views and writes into them, products
and transforms, norms, masks and dropouts of attention, functions with a backward pass of their own. Importing this adds
them."""

from __future__ import annotations

from random_blocks import Net, image, sequence

EASY = (
    "x.exp().clamp(max=10)", "torch.log1p(x.abs())", "torch.sqrt(x.abs() + 1)", "torch.rsqrt(x.square() + 1)", "x.abs()",
    "torch.erf(x)", "torch.cos(x)", "torch.atan(x)", "x.reciprocal()", "torch.sign(x) * x", "torch.lerp(x, x.tanh(), 0.3)",
    "torch.addcdiv(x, x, x.abs() + 1)", "torch.atan2(x, x.abs() + 1)", "torch.hypot(x, x + 1)", "F.threshold(x, 0.1, 0.0)",
    "F.hardsigmoid(x)", "F.softsign(x)", "F.tanhshrink(x)", "F.hardshrink(x)", "F.softshrink(x)", "F.celu(x)",
    "torch.fmod(x, 2.0)", "torch.remainder(x, 2.0)", "x.clamp(-1, 1)", "torch.clamp_max(x, 1.0)", "x.nan_to_num()",
    "torch.xlogy(x, x.abs() + 1)", "x ** 3", "2 ** x", "x.float().double().float()", "x.to(torch.bfloat16)",
    "torch.where(x > 0, x, torch.zeros_like(x))", "x * torch.bernoulli(torch.full_like(x, 0.9))",
    "x + torch.randn_like(x) * 0.1", "F.rrelu(x)", "torch.minimum(x, x.square())", "x.masked_fill(x > 1, 0.0)",
    "x / x.detach().abs().amax()", "x - x.mean()", "x * x.std()", "F.alpha_dropout(x, 0.1, True)", "torch.sinh(x)",
    "torch.logaddexp(x, x * 2)", "x.pow(1.5)", "x.mul(x)", "torch.true_divide(x, 2)", "x.neg().neg()", "x.expm1()",
)  # fmt: skip


@image
@sequence
def pointwise(net: Net) -> None:
    net.add(f"x = {net.one(*EASY)}")


@image
@sequence
def written_into(net: Net) -> None:
    """In place, also into views of a copy."""
    net.add(*net.chance.choice((
        ("x = x.clone()", "x.mul_(2).add_(1)"),
        ("x = x * 1", "x[:, 0].mul_(0.5)"),
        ("y = x.clone()", "y[:, ::2] = x[:, ::2].tanh()", "x = y"),
        ("y = torch.zeros_like(x)", "y[:, 1:] = x[:, :-1]", "x = x + y"),
        ("x = x + 0", "x.relu_()"),
        ("x = x + 1", "x.transpose(1, 2).add_(1)"),
        ("x = x * 2", "x.clamp_(-1, 1)"),
        ("y = x.clone()", "y.copy_(x.sigmoid())", "x = x * y"),
        ("y = x * 3", "y -= x", "x = y"),
        ("y = torch.empty_like(x)", "y.copy_(x)", "x = y"),
        ("x = x * 1", "x /= 2", "x = x.sigmoid()"),
        ("x = x.clone()", "x.masked_fill_(x > 1, 0)"),
        ("x = F.dropout(x * 1, 0.1, inplace=True)",),
        ("x = F.leaky_relu(x + 0, 0.1, inplace=True)",),
        ("y = x.clone()", "y.sub_(x.mean())", "x = y * x"),
        ("x = x + 0", "y = x[:, :1]", "x = x * y.tanh()"),
        ("y = x.new_zeros(x.shape)", "y += x", "x = y.tanh()"),
        ("x = torch.cat([p * (i + 1) for i, p in enumerate(x.split(1, 0))], 0)",),
        ("x = torch.stack(x.unbind(0), 0)",),
        ("with torch.no_grad():", "    y = x.abs().mean()", "x = x / (y + 1)"),
        ("y = x.detach().clone()", "x = x + y.tanh()"),
        ("x = x.contiguous().view(-1).view(x.shape)",),
        ("x = x.transpose(1, 2).contiguous().transpose(1, 2)",),
        ("x = x.flip(1).roll(1, 1)",),
        ("x = x.expand(2, *x.shape).mean(0)",),
        ("x = x.repeat(2, *[1] * (x.dim() - 1)).chunk(2, 0)[0]",),
        ("x = x.unsqueeze(1).squeeze(1).swapaxes(1, 2).movedim(1, 2)",),
    )))  # fmt: skip


@sequence
def indexed(net: Net) -> None:
    zeros = "torch.zeros(x.shape[0], x.shape[1], dtype=torch.long, device=x.device)"
    net.add(*net.chance.choice((
        ("y = torch.zeros_like(x)", "y[:, torch.arange(x.shape[1], device=x.device)] = x", "x = y"),
        ("x = x.index_copy(1, torch.arange(x.shape[1], device=x.device), x * 2)",),
        ("x = x.index_fill(1, torch.zeros(1, dtype=torch.long, device=x.device), 0)",),
        (f"i = {zeros}.unsqueeze(-1).expand_as(x)", "x = torch.zeros_like(x).scatter_add_(1, i, x)"),
        (f"i = {zeros}.unsqueeze(-1).expand_as(x)", "x = torch.zeros_like(x).scatter_reduce(1, i, x, 'sum')"),
        (f"i = {zeros}", "x = x + torch.gather(x, 1, i.unsqueeze(-1).expand(-1, -1, x.shape[2]))"),
        ("x = x.index_put((torch.zeros(2, dtype=torch.long, device=x.device),), x[:2])",),
        ("x = x.index_put((torch.zeros(2, dtype=torch.long, device=x.device),), x[:2], accumulate=True)",),
        ("x = torch.take_along_dim(x, x.argsort(1), 1)",),
        (f"x = x[torch.arange(x.shape[0], device=x.device)[:, None], {zeros}]",),
        ("y = x.reshape(-1, x.shape[2])", "y = torch.zeros_like(y).index_add_(0, torch.arange(y.shape[0], device=x.device), y)",
         "x = y.view_as(x)"),
        ("x = x + F.one_hot(torch.zeros(x.shape[:2], dtype=torch.long, device=x.device), x.shape[2]).float()",),
        ("x = torch.where(torch.ones(x.shape[1], 1, dtype=torch.bool, device=x.device), x, x.tanh())",),
        ("x = x.select(1, 0).unsqueeze(1) + x.narrow(1, 0, x.shape[1])",),
        ("x = x + x.amax(1, keepdim=True)",), ("x = x - x.max(-1, keepdim=True).values",),
        ("x = x * x.argmax(-1, keepdim=True)",), ("x = x.sort(1).values",), ("x = x + x.median(1, keepdim=True).values",),
        ("x = x.cumprod(1)",), ("x = x.logcumsumexp(1)",), ("x = x + x.var(1, keepdim=True)",),
        ("x = x * torch.linalg.vector_norm(x, dim=-1, keepdim=True)",), ("x = x / x.norm(dim=1, keepdim=True)",),
        ("x = x / x.norm(p=1, dim=-1, keepdim=True)",), ("x = x + x.logsumexp(-1, keepdim=True)",),
        ("x = x.diff(dim=1, prepend=x[:, :1])",), ("x = x.mean(1, keepdim=True) + x.sum((1, 2), keepdim=True)",),
        ("x = x * x.softmax(1)",), ("x = F.softmin(x, 1)",), ("x = F.gumbel_softmax(x, dim=-1)",),
        ("x = x.prod(1, keepdim=True) + x",), ("x = x + torch.cdist(x, x)[:, :, :1]",),
    )))  # fmt: skip


@sequence
def transformed(net: Net) -> None:
    """Fourier transforms and linear algebra."""
    t, c = net.shape
    inner, square = net.number_of(8, 16), net.parameter(c, c)
    net.add(*net.chance.choice((
        ("x = torch.fft.irfft(torch.fft.rfft(x.float(), dim=1), n=x.shape[1], dim=1)",),
        ("x = torch.fft.fft(torch.fft.fft(x.float(), dim=-1), dim=1).real",),
        ("y = torch.fft.rfft(x.float(), dim=1)", f"x = torch.fft.irfft(y * {net.parameter(c)}, n=x.shape[1], dim=1)"),
        (f"x = x @ torch.linalg.inv({square} + torch.eye({c}, device=x.device))",),
        (f"x = x @ torch.linalg.qr({square} + torch.eye({c}, device=x.device))[0]",),
        (f"x = torch.linalg.solve({square} + torch.eye({c}, device=x.device), x.float().transpose(1, 2)).transpose(1, 2)",),
        (f"x = x @ torch.matrix_exp({square})",),
        (f"x = x * torch.linalg.det({square} + torch.eye({c}, device=x.device))",),
        (f"x = x @ torch.linalg.cholesky({square} @ {square}.t() + torch.eye({c}, device=x.device))",),
        (f"x = x @ ({square} - {square}.t())",),
        (f"x = torch.einsum('btc,cd->btd', x, {square})",),
        (f"x = torch.einsum('btc,cd,bsd->bts', x, {square}, x).softmax(-1) @ x" if t <= 64 else "x = x * 2",),
        (f"x = F.bilinear(x, x, {net.parameter(8, c, c)})" if c <= 32 else "x = x + 1",),
        (f"x = torch.tensordot(x, {square}, dims=1)",),
        (f"x = torch.addmm({net.parameter(c)}, x.flatten(0, 1), {square}).view(x.shape)",),
        (f"x = (x.unsqueeze(2) @ {square}).squeeze(2)",),
        (f"x = torch.matmul(x, {net.parameter(c)}).unsqueeze(-1) * x",),
        (f"x = x + torch.outer({net.parameter(t)}, {net.parameter(c)})",),
        (f"x = x @ {net.parameter(c, inner)} @ {net.parameter(inner, c)}",),
        ("x = torch.bmm(x, x.transpose(1, 2)).softmax(-1).bmm(x)" if t <= 128 else "x = x * 0.5",),
        ("x = torch.baddbmm(x, x @ x.transpose(1, 2), x, alpha=0.1)" if t <= 128 else "x = x * 0.5",),
        (f"x = F.linear(x, {square}.tril())",),
        (f"x = F.linear(x, F.normalize({square}, dim=1))",),
    )))  # fmt: skip
    if "F.bilinear" in net.steps[-1]:
        net.shape = (t, 8)


@sequence
def normed(net: Net) -> None:
    t, c = net.shape
    net.add(net.one(
        f"x = F.layer_norm(x, ({c},), {net.parameter(c)})",
        f"x = F.rms_norm(x, ({c},), {net.parameter(c)})",
        f"x = {net.module(f'nn.RMSNorm({c}, elementwise_affine=False)')}(x)",
        f"x = {net.module(f'nn.LayerNorm({c}, elementwise_affine=False)')}(x)",
        f"x = {net.module(f'nn.LayerNorm({c}, bias=False)')}(x)",
        f"x = {net.module(f'nn.LayerNorm(({t}, {c}))')}(x)",
        f"x = {net.module(f'nn.GroupNorm(1, {t})')}(x)",
        f"x = {net.module(f'nn.InstanceNorm1d({t}, affine=True)')}(x)",
        f"x = {net.module(f'nn.InstanceNorm1d({c})')}(x.transpose(1, 2)).transpose(1, 2)",
        f"x = {net.module(f'nn.BatchNorm1d({t})')}(x)",
        f"x = {net.module(f'nn.BatchNorm1d({c}, affine=False)')}(x.flatten(0, 1)).view_as(x)",
        f"x = {net.module(f'nn.BatchNorm1d({c}, track_running_stats=False)')}(x.transpose(1, 2)).transpose(1, 2)",
        f"x = {net.module('nn.Dropout1d(0.1)')}(x)", "x = F.normalize(x, p=1, dim=1)", "x = F.normalize(x, dim=(1, 2))",
        f"x = {net.module('nn.PReLU()')}(x)", f"x = {net.module(f'nn.PReLU({t})')}(x)",
        f"x = {net.module(f'nn.utils.parametrizations.weight_norm(nn.Linear({c}, {c}))')}(x)",
        f"x = {net.module(f'nn.utils.parametrizations.spectral_norm(nn.Linear({c}, {c}))')}(x)",
    ))  # fmt: skip


@image
def normed_maps(net: Net) -> None:
    c, h, w = net.shape
    net.add(net.one(
        f"x = {net.module(f'nn.GroupNorm({c}, {c}, affine=False)')}(x)",
        f"x = {net.module(f'nn.LayerNorm(({c}, {h}, {w}))')}(x)",
        f"x = {net.module(f'nn.LayerNorm({w})')}(x)",
        f"x = {net.module(f'nn.InstanceNorm2d({c}, affine=True, track_running_stats=True)')}(x)",
        f"x = {net.module(f'nn.BatchNorm2d({c}, affine=False)')}(x)",
        f"x = {net.module(f'nn.BatchNorm2d({c}, momentum=None)')}(x)",
        f"x = {net.module(f'nn.BatchNorm2d({c}, track_running_stats=False)')}(x)",
        f"x = F.batch_norm(x, None, None, {net.parameter(c)}, {net.parameter(c)}, True)",
        f"x = {net.module(f'nn.RMSNorm(({c}, {h}, {w}))')}(x)",
        f"x = {net.module('nn.LocalResponseNorm(5)')}(x)",
        f"x = {net.module(f'nn.PReLU({c})')}(x)", "x = F.normalize(x)",
        f"x = {net.module(f'nn.utils.parametrizations.weight_norm(nn.Conv2d({c}, {c}, 3, padding=1))')}(x)",
        f"x = {net.module(f'nn.utils.parametrizations.spectral_norm(nn.Conv2d({c}, {c}, 1))')}(x)",
        f"x = {net.module(f'nn.utils.weight_norm(nn.Conv2d({c}, {c}, 1))')}(x)",
    ))  # fmt: skip


@image
def convolved(net: Net) -> None:
    """Convolutions of lines and volumes, transposed, in groups."""
    c, h, w = net.shape
    how = net.number_of(0, 1, 2, 3, 4, 5, 6, 7)
    if how == 0:
        net.add(f"x = {net.module(f'nn.Conv1d({c}, {c}, 3, padding=1, groups={c})')}(x.flatten(2)).view_as(x)")
    elif how == 1:
        net.add(f"x = {net.module(f'nn.ConvTranspose2d({c}, {c}, 3, padding=1, groups={c}, bias={net.flip()})')}(x)")
    elif how == 2 and h <= 16 and w <= 16:
        net.add(f"x = {net.module(f'nn.ConvTranspose2d({c}, 8, 3, stride=2, padding=1, output_padding=1)')}(x)")
        net.shape = (8, 2 * h, 2 * w)
    elif how == 3:
        net.add(f"x = {net.module('nn.Conv3d(1, 4, 3, padding=1)')}(x.unsqueeze(1)).mean(1)")
    elif how == 4 and c <= 16:
        net.add(f"x = {net.module('nn.ConvTranspose3d(1, 2, 3, padding=1)')}(x.unsqueeze(1)).amax(1)")
    elif how == 5:
        net.add(f"x = F.conv2d(x, {net.parameter(c, c, 1, 1)}, {net.parameter(c)})")
    elif how == 6:
        net.add(f"x = F.conv2d(x, {net.parameter(c, 1, 3, 3)}.softmax(-1), padding=1, groups={c})")
    else:
        net.add(f"x = {net.module(f'nn.Conv2d({c}, {2 * c}, 3, padding=1, groups={c})')}(x)")
        net.shape = (2 * c, h, w)


@image
def pooled_otherwise(net: Net) -> None:
    c, h, w = net.shape
    if h % 2 or w % 2 or min(h, w) < 6:
        return
    net.add("x = " + net.one(
        "F.max_pool2d(x, 3, stride=2, padding=1)", "F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)",
        "F.max_pool2d(x, 3, 2, 1, dilation=1, ceil_mode=False)", "F.interpolate(x, scale_factor=0.5, mode='area')",
        "F.interpolate(x, scale_factor=0.5, mode='bilinear', antialias=True)", "F.interpolate(x, scale_factor=0.5)",
        "F.interpolate(x, scale_factor=0.5, mode='bilinear')", "F.interpolate(x, scale_factor=0.5, mode='bicubic')",
        "F.max_pool2d(x, 2, return_indices=True)[0]", "x[..., ::2, ::2]", "F.lp_pool2d(x, 1, 2)",
        "x.unfold(2, 2, 2).unfold(3, 2, 2).flatten(4).mean(-1)", "F.adaptive_max_pool2d(x, (x.shape[2] // 2, x.shape[3] // 2))",
        "x.reshape(x.shape[0], x.shape[1], x.shape[2] // 2, 2, x.shape[3] // 2, 2).amax((3, 5))",
        "F.pixel_unshuffle(x, 2)[:, ::4]", "F.max_pool3d(x.unsqueeze(1), (1, 2, 2)).squeeze(1)",
        "F.avg_pool3d(x.unsqueeze(1), (1, 2, 2)).squeeze(1)",
    ))  # fmt: skip
    net.shape = (c, h // 2, w // 2)


@image
def filled(net: Net) -> None:
    c, h, w = net.shape
    net.add("x = " + net.one(
        "F.pad(x, (1, 1, 1, 1), mode='circular')", "F.pad(x, (1, 1, 1, 1), value=1.0)", "nn.ZeroPad2d(1)(x)",
        "nn.ReflectionPad2d(1)(x)", "nn.ReplicationPad2d(1)(x)", "nn.ConstantPad2d(1, 0.5)(x)",
    ))  # fmt: skip
    net.shape = (c, h + 2, w + 2)


@sequence
def heads(net: Net) -> None:
    """Attention with masks of all kinds, dropouts, and widths of heads that kernels fill up."""
    t, c = net.shape
    if c % 8 or t > 256:
        return
    count = net.number_of(2, 4, 8)
    width = c // count
    q, k, v, out = (net.module(f"nn.Linear({c}, {c}, bias={net.flip()})") for _ in range(4))
    net.add("b, t = x.shape[:2]",
            f"q, k, v = (f(x).view(b, t, {count}, {width}).transpose(1, 2) for f in ({q}, {k}, {v}))")  # fmt: skip
    mask = net.one(
        "", "", ", is_causal=True", ", attn_mask=torch.ones(t, t, dtype=torch.bool, device=x.device).tril()",
        ", attn_mask=torch.zeros(b, 1, t, t, device=x.device, dtype=q.dtype)",
        ", attn_mask=torch.zeros(b, 1, 1, t, device=x.device, dtype=torch.bool)",
        f", attn_mask={net.parameter(count, t, t)}.to(q.dtype)",
    )  # fmt: skip
    options = net.one("", "", ", dropout_p=0.1", ", scale=0.5")
    if net.flip():
        net.add(f"y = F.scaled_dot_product_attention(q, k, v{mask}{options})")
    else:
        net.add(f"s = q @ k.mT * {width} ** -0.5",
                net.one("s = s.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float('-inf'))",
                        "s = s + torch.zeros(t, t, device=x.device)", "s = s.float()", "s = s - s.amax(-1, keepdim=True).detach()",
                        "s = F.dropout(s, 0.1)", "s = s / 2"),
                f"y = {net.one('s.softmax(-1)', 'F.dropout(s.softmax(-1), 0.1)', 'F.softmax(s, -1, dtype=torch.float32).to(v.dtype)')}.to(v.dtype) @ v")  # fmt: skip
    net.add(f"x = x + {out}(y.transpose(1, 2).flatten(2))")


@sequence
def layered_attention(net: Net) -> None:
    t, c = net.shape
    if c % 4 or t > 128:
        return
    layer = net.module(
        f"nn.MultiheadAttention({c}, 4, batch_first={net.flip()}, dropout={net.one('0.0', '0.1')}{net.one('', ', add_bias_kv=True', ', bias=False')})"
    )
    pad = ", key_padding_mask=torch.zeros(x.shape[0], x.shape[1], dtype=torch.bool, device=x.device)"
    batch_first = "batch_first=True" in net.made[-1]
    options = net.one("", pad if batch_first else "", ", average_attn_weights=False", ", need_weights=False",
                      ", attn_mask=torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)" if batch_first else "")  # fmt: skip
    if batch_first:
        net.add(f"x = {net.one('x + ', '')}{layer}(x, x, x{options})[0]")
    else:
        net.add("y = x.transpose(0, 1)", f"x = {layer}(y, y, y{options})[0].transpose(0, 1)")


@image
@sequence
def own_backward(net: Net) -> None:
    """A function whose backward pass the code writes."""
    net.add(f"x = {net.one('Clipped', 'Scaled', 'Gated')}.apply(x)")


@image
@sequence
def checkpoints(net: Net) -> None:
    reentrant = net.one("True", "False", "False")
    if len(net.shape) == 3:
        c = net.shape[0]
        inner = f"nn.Sequential(nn.Conv2d({c}, {c}, 3, padding=1), nn.GELU(), nn.Conv2d({c}, {c}, 1), nn.Dropout(0.1))"
    else:
        c = net.shape[1]
        inner = f"nn.Sequential(nn.LayerNorm({c}), nn.Linear({c}, {2 * c}), nn.GELU(), nn.Linear({2 * c}, {c}))"
    layer = net.module(inner)
    net.add(f"x = {net.one('', 'x + ')}torch.utils.checkpoint.checkpoint({layer}, x, use_reentrant={reentrant})")
