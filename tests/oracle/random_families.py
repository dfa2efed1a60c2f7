"""More of what random programs are built of, as random_blocks.py has it: families that nets have now and then. Importing
this adds them."""

from __future__ import annotations

from random_blocks import Net, image, sequence


@image
def dilated(net: Net) -> None:
    """Convolutions with holes, in groups, of one side, or padded by themselves."""
    c, h, w = net.shape
    how = net.one("holes", "groups", "sides", "padded", "same")
    if how == "holes":
        net.add(f"x = {net.module(f'nn.Conv2d({c}, {c}, 3, padding=2, dilation=2, bias={net.flip()})')}(x)")
    elif how == "groups" and c % 4 == 0:
        net.add(f"x = {net.conv(c, 2 * c, 3, groups=net.number_of(2, 4))}(x)")
        net.shape = (2 * c, h, w)
    elif how == "sides":
        one, other = (net.module(f"nn.Conv2d({c}, {c}, {size}, padding={padding})")
                      for size, padding in (("(1, 3)", "(0, 1)"), ("(3, 1)", "(1, 0)")))  # fmt: skip
        net.add(f"x = {one}({other}(x))")
    elif how == "padded":
        mode = net.one("reflect", "replicate", "circular")
        net.add(f"x = {net.module(f'nn.Conv2d({c}, 16, 3, padding=1, padding_mode={mode!r})')}(x)")
        net.shape = (16, h, w)
    else:
        net.add(f"x = {net.module(f'nn.Conv2d({c}, 16, 3, padding={chr(39)}same{chr(39)})')}(x)")
        net.shape = (16, h, w)


@image
def volumes(net: Net) -> None:
    """Maps as frames of a film."""
    c, h, w = net.shape
    if c % 4:
        return
    layer = net.module(f"nn.Conv3d({c // 4}, {c // 4}, 3, padding=1)")
    norm = net.module(f"nn.BatchNorm3d({c // 4})")
    net.add(f"y = x.view(x.shape[0], {c // 4}, 4, {h}, {w})", f"y = F.relu({norm}({layer}(y)))")
    how = net.one("flat", "pooled", "mean")
    if how == "flat":
        net.add("x = y.flatten(1, 2)")
    elif how == "pooled" and h > 3 and w > 3:
        net.add("x = F.max_pool3d(y, 2).flatten(1, 2)")
        net.shape = (c // 2, h // 2, w // 2)
    else:
        net.add("x = y.mean(2)")
        net.shape = (c // 4, h, w)


@image
def rearranged(net: Net) -> None:
    c, h, w = net.shape
    how = net.one("unshuffle", "unfold", "patches", "grid", "fft", "grouped", "whole", "gram", "std", "rows")
    if how == "unshuffle" and h % 2 == w % 2 == 0 and min(h, w) > 3:
        net.add("x = F.pixel_unshuffle(x, 2)")
        net.shape = (4 * c, h // 2, w // 2)
    elif how == "unfold" and c <= 16:
        net.add(f"x = (F.unfold(x, 3, padding=1).view(x.shape[0], {c}, 9, {h}, {w}) * {net.parameter(9, 1, 1)}).sum(2)")
    elif how == "patches" and h % 4 == w % 4 == 0:
        net.add(f"x = x.unfold(2, 4, 4).unfold(3, 4, 4).{net.one('mean((-1, -2))', 'amax((-1, -2))')}")
        net.shape = (c, h // 4, w // 4)
    elif how == "grid":
        net.add(f"x = F.grid_sample(x, torch.tanh({net.conv(c, 2, 1)}(x)).permute(0, 2, 3, 1), align_corners=False)")
    elif how == "fft":
        net.add(net.one("x = torch.fft.rfft2(x).abs()", "x = torch.fft.irfft2(torch.fft.rfft2(x.float()))",
                        "x = torch.fft.fft2(x.float()).real"))  # fmt: skip
        net.shape = (c, h, w // 2 + 1) if "abs" in net.steps[-1] else (c, h, w)
    elif how == "grouped":
        net.add(f"x = {net.module(f'nn.GroupNorm(1, {c})')}(x)")
    elif how == "whole":
        net.add(f"x = F.layer_norm(x, x.shape[1:]) * {net.parameter(c, 1, 1)}")
    elif how == "gram" and c <= 64:
        net.add(
            "y = x.flatten(2)",
            "y = (y @ y.transpose(1, 2)).softmax(-1)",
            f"x = x + (y @ x.flatten(2)).view(x.shape[0], {c}, {h}, {w})",
        )
    elif how == "std":
        net.add("x = (x - x.mean((2, 3), keepdim=True)) / (x.std((2, 3), keepdim=True) + 1e-5)")
    else:
        net.add("x = x.cumsum(3)" if net.flip() else "x = x.logsumexp(1, keepdim=True) - x")


@image
def resized(net: Net) -> None:
    c, h, w = net.shape
    if h > 24 or w > 24:
        return
    how = net.one("scale_factor=1.5, mode='bilinear'", "scale_factor=2, mode='bicubic', align_corners=True",
                  "scale_factor=2, mode='area'", "scale_factor=2, mode='nearest-exact'",
                  "size=(20, 20), mode='bilinear', antialias=True")  # fmt: skip
    net.add(f"x = F.interpolate(x, {how})")
    scale = 1.5 if "1.5" in how else 2
    net.shape = (c, 20, 20) if "20" in how else (c, int(h * scale), int(w * scale))


@image
def attended(net: Net) -> None:
    """CBAM's and a non-local block's attention."""
    c, h, w = net.shape
    if net.flip():
        layer = net.conv(2, 1, 7)
        net.add(
            "y = torch.cat([x.mean(1, keepdim=True), x.amax(1, keepdim=True)], 1)", f"x = x * torch.sigmoid({layer}(y))"
        )
    elif h * w <= 400:
        q, k, v = (net.conv(c, c, 1) for _ in range(3))
        net.add(f"y = torch.bmm({q}(x).flatten(2).transpose(1, 2), {k}(x).flatten(2)).softmax(-1)",
                f"x = x + torch.bmm({v}(x).flatten(2), y.transpose(1, 2)).view_as(x)")  # fmt: skip


@image
def checkpointed(net: Net) -> None:
    c = net.shape[0]
    layers = (
        f"nn.Conv2d({c}, {c}, 3, padding=1), nn.BatchNorm2d({c}), {net.one('nn.ReLU()', 'nn.SiLU()', 'nn.ReLU(True)')}"
    )
    net.add(f"x = torch.utils.checkpoint.checkpoint({net.module(f'nn.Sequential({layers})')}, x, use_reentrant=False)")


@image
def region(net: Net) -> None:
    """A part in full precision, a part without a gradient, or one layer twice."""
    c = net.shape[0]
    how = net.one("full", "stopped", "twice", "mixed")
    layer = net.conv(c, c)
    if how == "full":
        net.add("with torch.autocast('cuda', enabled=False):", f"    x = {net.activation(f'{layer}(x.float())')}")
    elif how == "stopped":
        net.add("with torch.no_grad():", f"    y = F.relu({layer}(x))", "x = x + y")
    elif how == "twice":
        net.add(f"x = F.relu({layer}(F.relu({layer}(x))))")
    else:
        net.add(
            f"x = torch.lerp(x, {layer}(x), 0.5)" if net.flip() else f"x = torch.addcmul(x, {layer}(x), x.sigmoid())"
        )


@sequence
def masked_attention(net: Net) -> None:
    """Attention with masks, biases, groups of heads, or of another sequence."""
    t, c = net.shape
    if c % 16 or t > 256:
        return
    how = net.one("bias", "padding", "alibi", "grouped", "cosine", "linear", "rotary", "cross")
    joint, out = net.module(f"nn.Linear({c}, {3 * c})"), net.module(f"nn.Linear({c}, {c})")
    net.add("b, t, c = x.shape", f"q, k, v = {joint}(x).view(b, t, 3, 4, c // 4).permute(2, 0, 3, 1, 4)")
    call = "y = F.scaled_dot_product_attention(q, k, v"
    if how == "bias":
        net.add(f"{call}, attn_mask={net.parameter(1, 4, t, t)}.to(q.dtype))")
    elif how == "padding":
        net.add(f"{call}, attn_mask=torch.ones(b, 1, 1, t, dtype=torch.bool, device=x.device))")
    elif how == "alibi":
        net.add("d = torch.arange(t, device=x.device)", "d = -(d[None] - d[:, None]).abs().to(q.dtype)",
                f"{call}, attn_mask=d[None, None] * torch.ones(1, 4, 1, 1, device=x.device, dtype=q.dtype))")  # fmt: skip
    elif how == "grouped":
        net.add("k, v = k[:, :2].repeat_interleave(2, 1), v[:, :2].repeat_interleave(2, 1)", f"{call}, is_causal=True)")
    elif how == "cosine":
        net.add("y = (F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1) * 10).softmax(-1) @ v")
    elif how == "linear":
        net.add(
            "q, k = F.elu(q) + 1, F.elu(k) + 1",
            "y = q @ (k.transpose(-2, -1) @ v)",
            "y = y / (q * k.sum(2, keepdim=True)).sum(-1, keepdim=True)",
        )
    elif how == "rotary":
        net.add("s = torch.arange(t, device=x.device)[:, None] * torch.ones(c // 8, device=x.device)", "s = torch.cat([s, s], -1).cos()",
                "q = q * s + torch.cat([-q[..., c // 8 :], q[..., : c // 8]], -1) * s", f"{call}, is_causal=True)")  # fmt: skip
    else:
        memory = net.module(f"nn.Linear({c}, {c})")
        net.add(f"k = v = {memory}(x.flip(1)).view(b, t, 4, c // 4).transpose(1, 2)", f"{call})")
    net.add(f"x = x + {out}(y.transpose(1, 2).{net.one('reshape', 'contiguous().view')}(b, t, c))")


@sequence
def decoder(net: Net) -> None:
    t, c = net.shape
    if c % 4 or t > 128:
        return
    layer = net.module(f"nn.TransformerDecoderLayer({c}, 4, {2 * c}, batch_first=True, norm_first={net.flip()})")
    mask = net.one(
        "", ", tgt_mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device), tgt_is_causal=True"
    )
    net.add(f"x = {layer}(x, x.flip(1){mask})")


@sequence
def stepped(net: Net) -> None:
    """Cells, step by step."""
    t, c = net.shape
    if t > 16:
        return
    kind = net.one("RNNCell", "GRUCell", "LSTMCell")
    cell = net.module(f"nn.{kind}({c}, {c})")
    state = "(x[:, 0] * 0, x[:, 0] * 0)" if kind == "LSTMCell" else "x[:, 0] * 0"
    net.add(f"h, ys = {state}, []", "for i in range(x.shape[1]):", f"    h = {cell}(x[:, i], h)",
            f"    ys.append(h{'[0]' if kind == 'LSTMCell' else ''})", "x = torch.stack(ys, 1)")  # fmt: skip


@sequence
def gathered(net: Net) -> None:
    t, c = net.shape
    how = net.one(
        "gather", "scatter", "index_add", "select", "topk", "one_hot", "sort", "triangle", "where", "put", "complex"
    )
    if how == "gather":
        net.add("x = torch.gather(x, 1, torch.zeros(x.shape[0], 4, x.shape[2], dtype=torch.long, device=x.device))")
        net.shape = (4, c)
    elif how == "scatter":
        net.add(
            "i = torch.zeros(x.shape, dtype=torch.long, device=x.device)",
            f"x = torch.zeros(x.shape[0], {t}, {c}, device=x.device, dtype=x.dtype).scatter_add(1, i, x)",
        )
    elif how == "index_add":
        net.add("x = torch.zeros_like(x).index_add(1, torch.arange(x.shape[1], device=x.device), x)")
    elif how == "select":
        net.add("x = x.index_select(1, torch.arange(0, x.shape[1], 2, device=x.device))")
        net.shape = ((t + 1) // 2, c)
    elif how == "topk" and t > 8:
        net.add("x = x.transpose(1, 2).contiguous().topk(8, -1).values.transpose(1, 2)")
        net.shape = (8, c)
    elif how == "one_hot":
        net.add(f"x = x + F.one_hot(x.argmax(-1), {c}).to(x.dtype)")
    elif how == "sort" and t > 1:
        net.add("x = x.contiguous().sort(-1).values")
    elif how == "triangle" and t <= 128:
        net.add("x = x + torch.tril(torch.ones(x.shape[1], x.shape[1], device=x.device)) @ x")
    elif how == "put":
        net.add("y = x.clone()", "y[:, 0] = x[:, -1] * 2", "x = y")
    elif how == "complex" and c % 2 == 0:
        net.add(
            f"y = torch.view_as_complex(x.float().reshape(x.shape[0], {t}, {c // 2}, 2))",
            "x = torch.view_as_real(y * y.conj()).flatten(2)",
        )
    else:
        net.add("x = torch.where(torch.arange(x.shape[1], device=x.device)[None, :, None] > 3, x, x.detach())")


@sequence
def multiplied(net: Net) -> None:
    """Products by einsum and its like."""
    t, c = net.shape
    how = net.one("heads", "bilinear", "sum", "outer", "low", "tied", "weight_norm", "baddbmm", "mean")
    if how == "heads" and c % 4 == 0:
        net.add(
            f"x = torch.einsum('bthd,hde->bthe', x.view(x.shape[0], {t}, 4, {c // 4}), {net.parameter(4, c // 4, c // 4)}).flatten(2)"
        )
    elif how == "sum":
        net.add(
            net.one(
                "x = x + torch.einsum('btc->bc', x).unsqueeze(1)",
                "x = x - torch.einsum('btc,btc->bt', x, x).unsqueeze(-1)",
            )
        )
    elif how == "outer" and t <= 64:
        net.add("x = torch.einsum('bic,bjc->bij', x, x).softmax(-1) @ x")
    elif how == "low":
        net.add(f"x = x + (x @ {net.parameter(c, 4)}) @ {net.parameter(4, c)}")
    elif how == "tied":
        weight = net.module(f"nn.Linear({c}, {2 * c}, bias=False)")
        net.add(f"x = F.linear(F.gelu({weight}(x)), {weight}.weight.t())")
    elif how == "weight_norm":
        net.add(f"x = {net.module(f'nn.utils.parametrizations.weight_norm(nn.Linear({c}, {c}))')}(x)")
    elif how == "baddbmm" and t <= 128:
        net.add("x = torch.baddbmm(x, (x @ x.transpose(1, 2)).softmax(-1), x, beta=0.5)")
    else:
        net.add(f"x = x * {net.module(f'nn.Linear({c}, {c})')}(x.mean(1, keepdim=True)).sigmoid()")
