"""More of what random programs are built of, as random_blocks.py has it: views that are written in place, tensors that
nobody reads, complex numbers, sums with products in one. Importing this adds them."""

from __future__ import annotations

from random_blocks import Net, image, sequence

WRITES = (
    "{}.add_(1)", "{}.mul_(2)", "{}.relu_()", "{}.sigmoid_()", "{}.clamp_(0, 1)", "{}.zero_()", "{}.fill_(2)",
    "F.dropout({}, 0.1, inplace=True)", "F.leaky_relu_({})", "{}.masked_fill_({} > 1, 0)", "{}.copy_({} * 2)",
)  # fmt: skip
SETS = ("{} *= 2", "{} += 1", "{} = 0", "{} = {} * 2", "{} -= {}.mean()", "{} *= {}.sigmoid()")


@sequence
def written(net: Net) -> None:
    """A part of a sequence that is written over, by a statement or a method."""
    t, c = net.shape
    half = max(1, t // 2)
    part = net.one(f"x[:, :{half}]", "x[:, 0]", f"x[..., :{c // 2}]", f"x.narrow(1, 0, {half})", "x.transpose(1, 2)",
                   f"x[:, :{half}][..., :{c // 2}]", "x[:, ::2]", "x.unsqueeze(1)")  # fmt: skip
    net.add(net.one("x = x + 1", "x = x * 2", "x = x.clone()", f"x = {net.module(f'nn.Linear({c}, {c})')}(x)"))
    if part.startswith("x[") and net.flip():
        net.add(net.one(*SETS).replace("{}", part))
    elif net.flip():
        net.add(f"y = {part}", net.one(*WRITES).replace("{}", "y"))
        if net.flip():
            net.add(net.one("y *= 2", "y.add_(1)"))
        if net.flip():
            net.add("x = x + y.mean()")
    else:
        net.add(net.one(*WRITES).replace("{}", part))


@image
def written_maps(net: Net) -> None:
    c, h, w = net.shape
    part = net.one(f"x[:, :{c // 2 or 1}]", "x[:, 0]", f"x[:, :, :{h // 2 or 1}]", "x[..., ::2]", "x.flatten(2)",
                   "x.permute(0, 2, 3, 1)", f"x[:, :, {h // 2}, {w // 2}]")  # fmt: skip
    net.add(net.one("x = x + 1", f"x = {net.conv(c, c)}(x)", "x = x.clone()"))
    if part.startswith("x[") and net.flip():
        net.add(net.one(*SETS).replace("{}", part))
    else:
        net.add(net.one(*WRITES).replace("{}", part))


@sequence
def put_together(net: Net) -> None:
    """Zeros, or a result, that is filled part by part."""
    t, c = net.shape
    half = max(1, t // 2)
    how = net.one("zeros", "empty", "loop", "shift", "rows")
    if how == "zeros":
        net.add(
            "y = torch.zeros_like(x)", f"y[:, :{half}] = x[:, -{half}:]", f"y[:, {half}:] += x[:, {half}:]", "x = y"
        )
    elif how == "empty":
        net.add(f"y = x.new_empty(x.shape[0], {t}, {c})", f"y[..., :{c // 2}] = x[..., {c - c // 2}:]",
                f"y[..., {c // 2}:] = x[..., {c // 2}:] * 2", "x = y")  # fmt: skip
    elif how == "loop":
        net.add(
            "y = x.clone()", f"for i in range({min(t - 1, 3)}):", "    y[:, i] = y[:, i + 1] * 2 + x[:, i]", "x = y"
        )
    elif how == "shift":
        net.add("y = torch.zeros_like(x)", "y[:, 1:] = x[:, :-1]", "x = x + y")
    else:
        net.add("y = x + 1", "y[:, 0] = x.mean(1)", "y[:, -1] = 0", "x = y")


@sequence
def unread(net: Net) -> None:
    """Tensors that are made, and never or late read."""
    t, c = net.shape
    made = net.one("torch.zeros_like(x)", f"torch.randn(x.shape[0], {t}, {c}, device=x.device)", "x.new_ones(x.shape)",
                   "torch.ones_like(x) * 2", f"torch.tril(torch.ones({t}, {t}, device=x.device))", "x * 3",
                   f"torch.arange({t}, device=x.device).float()", "torch.zeros_like(x)[:, :1]", "x.detach().clone()",
                   "torch.rand_like(x) > 0.5")  # fmt: skip
    net.add(f"kept = {made}")
    net.add(net.one("x = torch.sigmoid(x) * 2", f"x = {net.module(f'nn.Linear({c}, {c})')}(x)", "x = x + 1"))
    if net.flip():
        net.add("x = x + kept.float().mean()")


@sequence
def turned_numbers(net: Net) -> None:
    """Rotary positions by complex numbers."""
    t, c = net.shape
    if c % 2:
        return
    made = f"torch.polar(torch.ones({t}, {c // 2}, device=x.device), torch.zeros({t}, {c // 2}, device=x.device))"
    net.add(f"y = torch.view_as_complex(x.float().reshape(x.shape[0], {t}, {c // 2}, 2))")
    net.add(net.one(f"y = y * {made}", "y = y * y", "y = y + 1"))
    net.add("x = torch.view_as_real(y).flatten(2).type_as(x)" if net.flip() else "x = torch.cat([y.real, y.imag], -1)")


@sequence
def summed_products(net: Net) -> None:
    t, c = net.shape
    weight = net.module(f"nn.Linear({c}, {c})")
    net.add(net.one(
        f"x = torch.addmm({weight}.bias, x.reshape(-1, {c}), {weight}.weight).view(x.shape[0], {t}, {c})",
        "x = torch.baddbmm(x, x @ x.transpose(1, 2), x, beta=0.5, alpha=0.1)",
        f"x = torch.addmm(x.reshape(-1, {c}), x.reshape(-1, {c}), {weight}.weight, beta=2).view(x.shape[0], {t}, {c})",
        "x = x - x.max(-1, keepdim=True).values",
        "x = x - x.mean(1, keepdim=True)",
    ))  # fmt: skip
