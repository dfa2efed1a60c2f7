"""More of what random programs are built of, as random_blocks.py has it: layers and functions that are seen less often
(norms and parametrizations, sampling, folding, ways of attention, sorting and scattering, checkpoints, functions of
functions), further losses and optimizers. Importing this adds the steps; random_programs.py has the rest."""

from __future__ import annotations

from random_blocks import Net, image, sequence

LOSSES = (
    ("F.triplet_margin_loss({}, y, y.flip(0), swap=True)", "values"), ("F.triplet_margin_loss({0}, {0}.flip(0), y)", "values"),
    ("F.triplet_margin_with_distance_loss({}, y, y.flip(0))", "values"), ("F.multi_margin_loss({}, y, p=2)", "classes"),
    ("F.cosine_embedding_loss({}, y, torch.ones(y.shape[0], device='cuda'), margin=0.5)", "values"),
    ("F.gaussian_nll_loss({}, y, torch.ones_like(y), full=True, reduction='sum')", "values"),
    ("F.gaussian_nll_loss({0}, y, F.softplus({0}))", "values"), ("F.kl_div({}.log_softmax(-1), y, log_target=True)", "values"),
    ("F.kl_div(F.log_softmax({} / 2, -1), F.softmax(y / 2, -1), reduction='batchmean') * 4", "values"),
    ("F.kl_div(F.log_softmax({}, -1), y.half(), reduction='batchmean')", "values"),
    ("F.binary_cross_entropy(torch.sigmoid({}.float()), y, weight=torch.ones(10, device='cuda'))", "whole"),
    ("nn.CrossEntropyLoss(weight=torch.ones(10, device='cuda'), label_smoothing=0.1)({}, y)", "classes"),
    ("F.cross_entropy({}.unsqueeze(-1), y.unsqueeze(-1))", "classes"),
    ("F.cross_entropy({}.unsqueeze(-1).expand(-1, -1, 5), y.unsqueeze(-1).expand(-1, 5), label_smoothing=0.1)", "classes"),
    ("F.cross_entropy({}, y.softmax(-1), label_smoothing=0.1)", "values"), ("F.multilabel_margin_loss({}, y.long())", "values"),
    ("F.ctc_loss({}.log_softmax(-1).unsqueeze(0).expand(12, -1, -1), torch.ones(y.shape[0], 3, dtype=torch.long), (12,) * y.shape[0], (3,) * y.shape[0])", "classes"),
    ("F.relu(1 - {} * y).mean()", "values"), ("F.hinge_embedding_loss({}, y, margin=2.0, reduction='sum')", "values"),
    ("F.margin_ranking_loss({0}[:, 0], {0}[:, 1], y[:, 0], margin=0.1)", "values"), ("F.soft_margin_loss({}, y, reduction='none').sum()", "values"),
    ("-({}.log_softmax(-1).gather(1, y.unsqueeze(1))).mean()", "classes"), ("-{}.log_softmax(-1)[torch.arange(y.shape[0], device='cuda'), y].mean()", "classes"),
    ("(F.cross_entropy({0}, y, reduction='none') * (1 - torch.exp(-F.cross_entropy({0}, y, reduction='none'))) ** 2).mean()", "classes"),
    ("1 - (2 * (torch.sigmoid({0}) * y).sum() + 1) / (torch.sigmoid({0}).sum() + y.sum() + 1)", "values"),
    ("F.cross_entropy(F.normalize({0}) @ F.normalize({0}).t() / 0.1, torch.arange(y.shape[0], device='cuda'))", "classes"),
    ("torch.einsum('bi,bj->ij', {0}, {0}).square().mean()", ""), ("torch.cdist({0}, {0}).mean()", ""), ("torch.nn.functional.pdist({}).mean()", ""),
    ("-torch.distributions.Categorical(logits={}, validate_args=False).log_prob(y).mean()", "classes"),
    ("-torch.distributions.Normal({}, 1.0, validate_args=False).log_prob(y).mean()", "values"),
    ("F.huber_loss({}, y, delta=2.0)", "values"), ("torch.linalg.norm({} - y)", "values"), ("torch.linalg.vector_norm({} - y, ord=1)", "values"),
    ("F.mse_loss({}, y, weight=torch.ones_like(y))", "values"), ("torch.var({}, dim=0).mean()", ""), ("({} - y).pow(2).sum(-1).sqrt().mean()", "values"),
    ("F.adaptive_avg_pool1d({}.unsqueeze(1), 1).mean()", ""), ("({0}.softmax(-1) * {0}.log_softmax(-1)).sum(-1).mean()", ""),
    ("F.nll_loss({}.log_softmax(-1), y, weight=torch.ones(10, device='cuda'), ignore_index=3)", "classes"),
    ("F.smooth_l1_loss({}, y, reduction='none').mean()", "values"), ("(({} - y) ** 2 + 1e-6).sqrt().mean()", "values"),
)  # fmt: skip
OPTIMIZERS = (
    "Adafactor({}, beta2_decay=-0.8)", "Muon([p for p in {} if p.ndim == 2])",
    "SGD({}, lr=0.1, maximize=True)", "SGD({}, lr=0.1, momentum=0.9, nesterov=True, foreach=False)", "SGD({}, lr=0.1, momentum=0.9, fused=True, weight_decay=0.1)",
    "Adam({}, fused=True, amsgrad=True)", "Adam({}, capturable=True, foreach=False)", "AdamW({}, maximize=True, foreach=False)",
    "NAdam({}, weight_decay=0.1, momentum_decay=0.01)", "RAdam({}, foreach=False)", "RAdam({}, weight_decay=0.1, decoupled_weight_decay=True)",
    "Adagrad({}, weight_decay=0.1)", "Adadelta({}, weight_decay=0.1)", "Adamax({}, weight_decay=0.1, maximize=True)", "ASGD({}, weight_decay=0.1)",
    "RMSprop({}, centered=True, weight_decay=0.1)", "Rprop({}, maximize=True)", "Adam({}, lr=torch.tensor(1e-3), capturable=True)",
    "Adam([{{'params': p}} for p in {}], lr=1e-3)", "AdamW(list({})[:2], lr=1e-3)",
)  # fmt: skip
"""Of the losses and optimizers of random_programs.py, further ones."""


def checkpointed(net: Net, call: str) -> None:
    kind = net.one("use_reentrant=False", "use_reentrant=True", "use_reentrant=False, preserve_rng_state=False")
    net.add(f"x = torch.utils.checkpoint.checkpoint({call}, x, {kind})")


@image
def rare_norms(net: Net) -> None:
    c, h, w = net.shape
    net.add("x = " + net.one(
        f"{net.module(f'nn.LocalResponseNorm({net.number_of(2, 3, 5)})')}(x)", f"{net.module(f'nn.InstanceNorm2d({c}, affine=True, track_running_stats=True)')}(x)",
        f"{net.module(f'nn.GroupNorm({c}, {c}, affine=False)')}(x)", f"{net.module(f'nn.LayerNorm([{c}, {h}, {w}])')}(x)",
        f"F.rms_norm(x, [{h}, {w}])", "F.normalize(x, dim=1)", "F.batch_norm(x, None, None, training=True)",
        "F.instance_norm(x)", "F.group_norm(x, 1)", "F.layer_norm(x, (x.shape[-1],))", "F.normalize(x, p=1, dim=(2, 3))",
        f"{net.module(f'nn.BatchNorm2d({c}, affine=False)')}(x)", f"{net.module(f'nn.BatchNorm2d({c}, track_running_stats=False)')}(x)",
        f"{net.module(f'nn.SyncBatchNorm({c})')}(x)", "(x - x.mean((1, 2, 3), keepdim=True)) * torch.rsqrt(x.var((1, 2, 3), keepdim=True) + 1e-5)",
        f"F.batch_norm(x.transpose(2, 3), {net.module(f'nn.BatchNorm2d({c})')}.running_mean, self.m{net.number}.running_var, training=True).transpose(2, 3)",
    ))  # fmt: skip


@image
def parametrized(net: Net) -> None:
    c, h, w = net.shape
    conv = f"nn.Conv2d({c}, 16, 3, padding=1, bias={net.flip()})"
    net.add("x = " + net.one(
        f"{net.module(f'nn.utils.parametrizations.weight_norm({conv})')}(x)", f"{net.module(f'nn.utils.weight_norm({conv})')}(x)",
        f"{net.module(f'nn.utils.parametrizations.spectral_norm({conv})')}(x)", f"{net.module(f'nn.utils.spectral_norm({conv})')}(x)",
        f"F.conv2d(x, {net.parameter(16, c, 3, 3)} * 0.5, padding=1)", f"F.conv2d(x, F.normalize({net.parameter(16, c, 3, 3)}, dim=(1, 2, 3)), padding=1)",
    ))  # fmt: skip
    net.shape = (16, h, w)


@image
def rare_convolutions(net: Net) -> None:
    c, h, w = net.shape
    how = net.number_of(*range(10))
    if how == 0:
        net.add(f"x = {net.module(f'nn.ConvTranspose2d({c}, 16, 3, stride=2, padding=1, output_padding=1)')}(x)")
        net.shape = (16, 2 * h, 2 * w)
    elif how == 1 and c % 2 == 0:
        net.add(f"x = {net.module(f'nn.ConvTranspose2d({c}, {c}, 3, padding=1, groups=2, bias=False)')}(x)")
    elif how == 2:
        net.add(f"x = {net.module(f'nn.Conv2d({c}, {2 * c}, 3, padding=1, groups={c})')}(x)")
        net.shape = (2 * c, h, w)
    elif how == 3:
        net.add(f"x = {net.module('nn.Conv3d(1, 4, (3, 3, 3), padding=1)')}(x.unsqueeze(1)).flatten(1, 2)")
        net.shape = (4 * c, h, w)
    elif how == 4 and c % 2 == 0:
        net.add(
            f"x = {net.module(f'nn.ConvTranspose3d({c // 2}, {c // 2}, (1, 2, 2), stride=(1, 2, 2))')}(x.view(x.shape[0], {c // 2}, 2, {h}, {w})).flatten(1, 2)"
        )
        net.shape = (c, 2 * h, 2 * w)
    elif how == 5:
        net.add(
            f"x = {net.module(f'nn.Conv1d({c}, 16, 5, padding=2, stride=1)')}(x.flatten(2)).view(x.shape[0], 16, {h}, {w})"
        )
        net.shape = (16, h, w)
    elif how == 6:
        net.add(f"x = F.conv2d(x, {net.parameter(c, 1, 3, 3)}, padding=1, groups={c})")
    elif how == 7:
        net.add(
            "x = x.to(memory_format=torch.channels_last)",
            f"x = {net.module(f'nn.BatchNorm2d({c})')}({net.conv(c, c)}(x))",
        )
    elif how == 8:
        net.add(
            f"x = {net.module('nn.LazyConv2d(16, 3, padding=1)')}(x)"
            if False
            else f"x = F.conv_transpose2d(x, {net.parameter(c, 16, 1, 1)})"
        )
        net.shape = (16, h, w)
    else:
        net.add(f"x = {net.module(f'nn.Conv2d({c}, 16, 3, padding=1, padding_mode={chr(39)}circular{chr(39)})')}(x)")
        net.shape = (16, h, w)


@image
def rare_pools(net: Net) -> None:
    c, h, w = net.shape
    if min(h, w) < 6:
        return
    half = (c, h // 2, w // 2)
    how, shape = net.chance.choice((
        ("F.adaptive_avg_pool2d(x, (3, 5))", (c, 3, 5)), ("F.adaptive_max_pool2d(x, 3)", (c, 3, 3)), ("F.adaptive_avg_pool2d(x, (None, 1)).expand_as(x)", (c, h, w)),
        ("F.max_pool2d(x, 3, stride=1, padding=1)", (c, h, w)), ("F.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False)", (c, h, w)),
        ("F.max_pool2d(x, 2, ceil_mode=True)", (c, (h + 1) // 2, (w + 1) // 2)), ("F.lp_pool2d(x, 1.5, 2)", half),
        ("F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2, output_size=x.shape[2:])", (c, h, w)),
        ("F.fractional_max_pool2d(x, 2, output_size=(4, 4))", (c, 4, 4)), ("F.avg_pool3d(x.unsqueeze(1), (1, 2, 2)).squeeze(1)", half),
        ("F.adaptive_avg_pool3d(x.unsqueeze(1), (None, 2, 2)).squeeze(1)", (c, 2, 2)), ("F.max_pool2d(x, (1, 2))", (c, h, w // 2)),
        ("F.max_pool2d(x, 3, 2, 1, dilation=1)", (c, (h + 1) // 2, (w + 1) // 2)), ("-F.max_pool2d(-x, 2)", half),
        ("F.adaptive_max_pool1d(x.flatten(2), 16).unflatten(2, (4, 4))", (c, 4, 4)), ("torch.nn.functional.interpolate(x, size=(5, 5), mode='area')", (c, 5, 5)),
    ))  # fmt: skip
    net.add(f"x = {how}")
    net.shape = shape


@image
def rare_samplings(net: Net) -> None:
    c, h, w = net.shape
    if max(h, w) > 32:
        return
    align = net.one("align_corners=True", "align_corners=False")
    how = net.number_of(*range(9))
    if how == 0:
        mode = net.one("bilinear", "nearest", "bicubic")
        padding = net.one("zeros", "border", "reflection")
        theta = f"{net.module(f'nn.Linear({c}, 6)')}(x.mean((2, 3))).view(-1, 2, 3)"
        net.add(
            f"x = F.grid_sample(x, F.affine_grid({theta}, x.shape, {align}), mode={mode!r}, padding_mode={padding!r}, {align})"
        )
    elif how == 1:
        net.add(
            f"g = torch.zeros(x.shape[0], {h}, {w}, 2, device=x.device)",
            f"x = F.grid_sample(x, g.to(x.dtype), {align})",
        )
    elif how == 2:
        net.add(
            f"x = F.fold(F.unfold(x, 2, stride=2), ({h}, {w}), 2, stride=2)" if h % 2 == w % 2 == 0 else "x = x * 2"
        )
    elif how == 3 and h % 2 == w % 2 == 0:
        net.add(f"x = F.fold(F.unfold(x, 3, padding=1).tanh(), ({h}, {w}), 3, padding=1)")
    elif how == 4 and c % 4 == 0:
        net.add(
            f"x = {net.module('nn.PixelShuffle(2)')}({net.conv(c, 4 * c)}(x))"
            if net.flip()
            else f"x = {net.module('nn.ChannelShuffle(2)')}(x)"
        )
        net.shape = (
            (c, 2 * h, 2 * w)
            if "Pixel" in "".join(net.made[-2:])
            and "Shuffle(2)" in net.made[-2] + net.made[-1]
            and "Channel" not in net.made[-1]
            else net.shape
        )
    elif how == 5:
        net.add(
            f"x = F.interpolate(x, size=({h + 3}, {w + 5}), mode='{net.one('nearest', 'bilinear', 'bicubic', 'area', 'nearest-exact')}')"
        )
        net.shape = (c, h + 3, w + 5)
    elif how == 6:
        net.add(
            f"x = F.interpolate(x.unsqueeze(2), scale_factor=(1, 2, 2), mode='{net.one('nearest', 'trilinear', 'area')}').squeeze(2)"
        )
        net.shape = (c, 2 * h, 2 * w)
    elif how == 7:
        net.add(
            f"x = F.interpolate(x.flatten(2), scale_factor=2, mode='{net.one('nearest', 'linear')}').view(x.shape[0], {c}, {2 * h}, {w})"
        )
        net.shape = (c, 2 * h, w)
    else:
        net.add(
            f"x = {net.module(net.one('nn.UpsamplingBilinear2d(scale_factor=2)', 'nn.UpsamplingNearest2d(scale_factor=2)', 'nn.Upsample(scale_factor=2, mode=' + repr('bicubic') + ')'))}(x)"
        )
        net.shape = (c, 2 * h, 2 * w)


@image
def rare_attention_of_maps(net: Net) -> None:
    """Axial, channel and gated attention."""
    c, h, w = net.shape
    if c % 4 or h * w > 1200:
        return
    how = net.number_of(*range(5))
    joint = net.conv(c, 3 * c, 1)
    if how == 0:
        net.add(
            f"q, k, v = {joint}(x).chunk(3, 1)",
            "x = x + ((q.flatten(2) @ k.flatten(2).transpose(1, 2)).softmax(-1) @ v.flatten(2)).view_as(x)",
        )
    elif how == 1:
        net.add(
            f"q, k, v = {joint}(x).reshape(x.shape[0], 3, 4, {c // 4}, {h * w}).unbind(1)",
            "q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)",
            f"x = x + ((q @ k.transpose(-2, -1) * {net.parameter(4, 1, 1)}).softmax(-1) @ v).reshape(x.shape)",
        )
    elif how == 2:
        net.add(
            f"q, k, v = (z.permute(0, 2, 3, 1) for z in {joint}(x).chunk(3, 1))",
            "x = x + F.scaled_dot_product_attention(q, k, v).permute(0, 3, 1, 2)",
        )
    elif how == 3:
        net.add(
            f"q, k, v = {joint}(x).flatten(2).transpose(1, 2).reshape(x.shape[0], {h * w}, 3, 4, {c // 4}).permute(2, 0, 3, 1, 4)",
            "x = x + F.scaled_dot_product_attention(q, k, v).transpose(2, 3).reshape(x.shape)",
        )
    else:
        net.add(
            f"q, k, v = {joint}(x).chunk(3, 1)",
            "x = torch.einsum('bchw,bchv->bcwv', q, k).softmax(-1) @ v.transpose(2, 3)",
            "x = x.transpose(2, 3)",
        )


@image
def rare_checkpoints(net: Net) -> None:
    c = net.shape[0]
    layers = net.one(
        f"nn.Conv2d({c}, {c}, 3, padding=1), nn.BatchNorm2d({c}), nn.ReLU(True), nn.Dropout(0.1)",
        f"nn.Conv2d({c}, {c}, 1), nn.GELU()",
        f"nn.GroupNorm(1, {c}), nn.SiLU(), nn.Conv2d({c}, {c}, 3, padding=1)",
    )
    if net.flip():
        checkpointed(net, net.module(f"nn.Sequential({layers})"))
    else:
        kind = net.one("True", "False")
        net.add(
            f"x = torch.utils.checkpoint.checkpoint_sequential({net.module(f'nn.Sequential({layers}, {layers})')}, 2, x, use_reentrant={kind})"
        )


@image
@sequence
def in_place(net: Net) -> None:
    net.add(net.one("x = x + 1", "x = x * 2", "x = x.clone()"))
    net.add("x = " + net.one(
        "F.relu_(x)", "F.elu_(x)", "F.celu_(x)", "F.selu_(x)", "F.hardtanh_(x)", "F.relu6(x, inplace=True)", "F.silu(x, inplace=True)", "F.mish(x, inplace=True)",
        "F.hardswish(x, inplace=True)", "F.hardsigmoid(x, inplace=True)", "F.threshold_(x, 0.1, 0.0)", "F.rrelu_(x)", "F.alpha_dropout(x, 0.1, True, True)",
        "F.leaky_relu_(x)", "x.sigmoid_()", "x.tanh_()", "x.exp_()", "x.square_()", "x.abs_()", "x.sqrt_()", "x.neg_()", "x.clamp_(min=0)", "x.pow_(2)", "x.reciprocal_()",
        "x.addcmul_(x.detach(), x.detach())", "x.lerp_(x.detach() * 2, 0.5)", "x.masked_fill_(x > 1, 0)", "x.softmax(-1)", "x.clamp_(0, 6).div_(6)", "x.mul_(x.sigmoid())", "x.log1p_()",
        "x.nan_to_num_()", "x.cumsum_(1)", "x.fill_diagonal_(0)" if len(net.shape) == 1 else "x.triu_()", "x.erf_()", "x.sin_()", "x.floor_()", "x.copysign_(x.detach())",
    ))  # fmt: skip


@image
@sequence
def rare_functions(net: Net) -> None:
    net.add("x = " + net.one(
        "torch.special.expit(x)", "torch.special.log1p(x.abs())", "torch.special.erf(x)", "torch.special.xlog1py(x, x.abs())", "torch.special.entr(x.abs() + 1)", "torch.polygamma(1, x.abs() + 1)",
        "torch.copysign(x, x.detach())", "torch.heaviside(x, x)", "torch.frac(x) + x", "torch.clamp(x, min=x.detach() - 1)", "torch.logit(torch.sigmoid(x), eps=1e-3)", "torch.float_power(x.abs() + 1, 2).to(x.dtype)",
        "torch.fmax(x, x * 2)", "torch.amax(x, -1, keepdim=True) - x", "torch.dist(x, x.detach()) + x", "torch.logsumexp(x, (1, 2), keepdim=True) + x", "torch.renorm(x, 2, 1, 1.0)",
        "x.softmax(1) * x", "x / x.norm(dim=-1, keepdim=True).clamp(min=1e-6)", "x / x.norm(p=1, dim=1, keepdim=True)", "x - x.median(-1, keepdim=True).values", "torch.std_mean(x, -1, keepdim=True)[0] + x",
        "x + x.prod(-1, keepdim=True)", "x.cumprod(-1)", "x.logcumsumexp(-1)", "x.cummax(1).values", "x.diff(dim=-1, prepend=x[..., :1])", "torch.trapezoid(x, dim=-1).unsqueeze(-1) + x", "x.nanmean(-1, keepdim=True) + x", "x.nansum(1, keepdim=True) + x",
        "x.quantile(0.5, -1, keepdim=True).to(x.dtype) + x" if False else "x.aminmax(dim=-1, keepdim=True).max + x", "x.kthvalue(2, -1, keepdim=True).values + x", "x.to(torch.float64).sum(-1, keepdim=True).to(x.dtype) + x",
        "torch.func.vmap(torch.tanh)(x)", "torch.vmap(lambda z: z * z.sum())(x)", "F.gumbel_softmax(x, dim=-1)", "F.gumbel_softmax(x, hard=True)", "F.softmin(x, -1)", "torch.sgn(x) * x", "torch.addcmul(x, x, x, value=0.5)", "torch.addcdiv(x, x.detach(), x.detach().abs() + 1)",
        "torch.where(x > 0, x, 0)", "torch.where(x.detach() > 0, torch.tensor(0.0, device=x.device), x)", "x.where(x > 0, -x)", "torch.tensor_split(x, 2, -1)[0].repeat_interleave(2, -1)[..., :x.shape[-1]]" if net.shape[-1] % 2 == 0 else "x * 1", "x.rot90(2, (1, 2))", "torch.cat((x, x), 1).narrow(1, 0, x.shape[1])", "x.unflatten(1, (1, -1)).squeeze(1)", "torch.stack((x, x.tanh())).sum(0)", "x.expand_as(x).contiguous()", "torch.broadcast_to(x.mean(1, keepdim=True), x.shape) + x", "torch.outer(x.flatten(1).mean(1), x.flatten(1).mean(0)).mean() + x", "F.dropout1d(x, 0.1)" if len(net.shape) == 2 else "F.feature_alpha_dropout(x, 0.1, True)", "x.bfloat16().tanh().to(x.dtype)", "torch.complex(x.float(), x.float()).abs()", "x.view(torch.int32).view(torch.float32)" if False else "x.double().to(x.dtype)",
    ))  # fmt: skip


@sequence
def rare_attention(net: Net) -> None:
    t, c = net.shape
    if c % 8 or t > 256:
        return
    how = net.number_of(*range(16))
    joint, out = net.module(f"nn.Linear({c}, {3 * c}, bias={net.flip()})"), net.module(f"nn.Linear({c}, {c})")
    net.add(
        "b, t, c = x.shape", f"q, k, v = (z.view(b, t, 4, c // 4).transpose(1, 2) for z in {joint}(x).split(c, -1))"
    )
    drop = net.one("", ", dropout_p=0.1", ", dropout_p=0.1 if self.training else 0.0")
    call = f"F.scaled_dot_product_attention(q, k, v{drop}"
    steps = {
        0: (f"y = {call}, is_causal=True)",), 1: (f"y = {call}, scale=0.1)",),
        2: ("k, v = k[:, :2], v[:, :2]", f"y = {call}, enable_gqa=True)"), 3: ("k, v = k[:, :1].expand(b, 4, t, c // 4), v[:, :1].expand(b, 4, t, c // 4)", f"y = {call})"),
        4: ("m = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()", f"y = {call}, attn_mask=m)"), 5: ("m = torch.zeros(b, 1, t, t, device=x.device, dtype=q.dtype)", f"y = {call}, attn_mask=m)"),
        6: ("q, k = F.rms_norm(q, (c // 4,)), F.rms_norm(k, (c // 4,))", "y = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v)"),
        7: (f"q, k = {net.module(f'nn.LayerNorm({c // 4})')}(q), {net.module(f'nn.LayerNorm({c // 4})')}(k)", "y = F.scaled_dot_product_attention(q.to(v.dtype), k.to(v.dtype), v)"),
        8: ("from torch.nn.attention import SDPBackend, sdpa_kernel", "with sdpa_kernel(SDPBackend.MATH):", f"    y = {call})"),
        9: ("q = q.mean(2, keepdim=True)", f"y = {call}).expand(b, 4, t, c // 4)"), 10: ("s = q @ k.mT * c ** -0.5", f"s = s + {net.parameter(4, t, t)}", "y = F.dropout(s.softmax(-1, dtype=torch.float32).to(q.dtype), 0.1) @ v"),
        11: ("s = torch.matmul(q, k.transpose(2, 3)).masked_fill(~torch.ones(t, t, dtype=torch.bool, device=x.device).tril(), float('-inf'))", "y = torch.matmul(F.softmax(s.float(), -1).type_as(s), v)"),
        12: ("s = torch.einsum('bhid,bhjd->bhij', q, k).softmax(-1)", "y = torch.einsum('bhij,bhjd->bhid', s, v)"), 13: ("q, k = q.softmax(-1), k.softmax(-2)", "y = q @ (k.transpose(-2, -1) @ v)"),
        14: ("q, k, v = (z.reshape(b * 4, t, c // 4) for z in (q, k, v))", "y = torch.bmm(torch.baddbmm(torch.zeros(1, 1, 1, device=x.device, dtype=q.dtype), q, k.transpose(1, 2), alpha=0.1).softmax(-1), v).view(b, 4, t, c // 4)"),
        15: ("y = F.scaled_dot_product_attention(q.contiguous(), k.contiguous(), v.contiguous(), is_causal=True)",),
    }[how]  # fmt: skip
    net.add(
        *steps, f"x = {net.one('x + ', '')}{out}(y.transpose(1, 2).{net.one('reshape', 'contiguous().view')}(b, t, c))"
    )


@sequence
def rare_layers_of_attention(net: Net) -> None:
    t, c = net.shape
    if c % 4 or t > 128:
        return
    how = net.number_of(*range(9))
    if how == 0:
        net.add(
            f"x = {net.module(f'nn.MultiheadAttention({c}, 2, add_bias_kv=True, add_zero_attn={net.flip()}, batch_first=True)')}(x, x, x)[0]"
        )
    elif how == 1:
        net.add(
            f"x = {net.module(f'nn.MultiheadAttention({c}, 4, kdim={c}, vdim={c}, bias=False)')}(x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1))[0].transpose(0, 1)"
        )
    elif how == 2:
        net.add(
            f"m = torch.zeros(x.shape[0], {t}, dtype=torch.bool, device=x.device)",
            f"x = {net.module(f'nn.MultiheadAttention({c}, 4, batch_first=True)')}(x, x, x, key_padding_mask=m, need_weights={net.flip()})[0]",
        )
    elif how == 3:
        net.add(
            f"x = {net.module(f'nn.MultiheadAttention({c}, 4, batch_first=True)')}(x, x, x, average_attn_weights=False)[0]"
        )
    elif how == 4:
        net.add(
            f"m = nn.Transformer.generate_square_subsequent_mask({t}, device=x.device)",
            f"x = {net.module(f'nn.TransformerEncoderLayer({c}, 4, {2 * c}, activation={chr(39)}gelu{chr(39)}, batch_first=True)')}(x, src_mask=m, is_causal=True)",
        )
    elif how == 5:
        net.add(
            f"m = torch.zeros(x.shape[0], {t}, dtype=torch.bool, device=x.device)",
            f"x = {net.module(f'nn.TransformerEncoder(nn.TransformerEncoderLayer({c}, 4, {2 * c}, dropout=0.0, batch_first=True), 2, norm=nn.LayerNorm({c}))')}(x, src_key_padding_mask=m)",
        )
    elif how == 6:
        net.add(
            f"x = {net.module(f'nn.TransformerDecoder(nn.TransformerDecoderLayer({c}, 4, {2 * c}, batch_first=True), 2)')}(x, x[:, :{max(1, t // 2)}])"
        )
    elif how == 7:
        net.add(f"x = {net.module(f'nn.Transformer({c}, 4, 1, 1, {2 * c}, batch_first=True)')}(x, x.flip(1))")
    else:
        net.add(f"x = {net.module(f'nn.TransformerEncoderLayer({c}, 4, {2 * c})')}(x.transpose(0, 1)).transpose(0, 1)")


@sequence
def rare_indexing(net: Net) -> None:
    t, c = net.shape
    how = net.number_of(*range(18))
    index = f"torch.arange({t}, device=x.device)"
    if how == 0:
        net.add("i = x.argsort(1)", "x = torch.gather(x, 1, i)")
    elif how == 1:
        net.add(f"x = x.scatter(1, torch.zeros(x.shape[0], 1, {c}, dtype=torch.long, device=x.device), 1.0)")
    elif how == 2:
        net.add(
            f"x = torch.zeros(4, {t}, {c}, device=x.device, dtype=x.dtype).index_add_(0, torch.zeros(x.shape[0], dtype=torch.long, device=x.device), x)[:1] + x"
        )
    elif how == 3:
        net.add("x = x.scatter_reduce(1, torch.zeros(x.shape, dtype=torch.long, device=x.device), x, 'sum')")
    elif how == 4:
        net.add(f"x = x.index_copy(1, {index}, x * 2)")
    elif how == 5:
        net.add("x = x.index_fill(1, torch.tensor([0], device=x.device), 0.0)")
    elif how == 6:
        net.add(f"x = x[torch.arange(x.shape[0], device=x.device)[:, None], {index}[None]]")
    elif how == 7:
        net.add(f"x = torch.take_along_dim(x, torch.zeros(x.shape[0], 4, {c}, dtype=torch.long, device=x.device), 1)")
        net.shape = (4, c)
    elif how == 8 and c > 4:
        net.add(
            "v, i = x.contiguous().topk(4, -1)", "x = torch.zeros_like(x).scatter(-1, i, v.softmax(-1).to(x.dtype))"
        )
    elif how == 9:
        net.add("x = x.contiguous().sort(-1, descending=True)[0]")
    elif how == 10:
        net.add(
            f"x = x + {net.module(f'nn.EmbeddingBag(50, {c}, mode={net.one(chr(39) + chr(115) + chr(117) + chr(109) + chr(39), chr(39) + chr(109) + chr(101) + chr(97) + chr(110) + chr(39))})')}(torch.zeros(x.shape[0], 5, dtype=torch.long, device=x.device)).unsqueeze(1)"
        )
    elif how == 11:
        net.add(
            f"x = x + {net.module(f'nn.Embedding(50, {c}, padding_idx=0)')}(torch.zeros(x.shape[0], {t}, dtype=torch.long, device=x.device))"
        )
    elif how == 12:
        net.add(f"x = x + {net.module(f'nn.Embedding(50, {c}, max_norm=1.0, scale_grad_by_freq=True)')}({index} % 50)")
    elif how == 13:
        net.add("y = x.clone()", "y[:, 1:] = y[:, 1:] + x[:, :-1]", "x = y")
    elif how == 14:
        net.add("y = x.clone()", "y.diagonal(dim1=1, dim2=2).zero_()", "x = y")
    elif how == 15:
        net.add(
            "y = x.clone()",
            f"y.index_put_((torch.zeros(1, dtype=torch.long, device=x.device),), x[:1] * 2, accumulate={net.flip()})",
            "x = y",
        )
    elif how == 16:
        net.add("x = x.select_scatter(x[:, 0] * 2, 1, 0)")
    else:
        net.add("x = torch.cat([x[:, -1:], x[:, :-1]], 1) + x.diagonal(0, 1, 2).mean()")


@sequence
def rare_products(net: Net) -> None:
    t, c = net.shape
    if t > 256:
        return
    how = net.number_of(*range(18))
    w = net.parameter(c, c)
    if how == 0:
        net.add(f"x = torch.einsum('btc,cd,de->bte', x, {w}, {net.parameter(c, c)})")
    elif how == 1:
        net.add(f"x = {net.module(f'nn.Bilinear({c}, {c}, {c})')}(x, x)" if c <= 32 else "x = x * x")
    elif how == 2:
        net.add("x = x + torch.cdist(x, x).softmax(-1) @ x")
    elif how == 3:
        net.add(f"x = torch.tensordot(x, {w}, dims=([2], [0]))")
    elif how == 4:
        net.add(
            f"x = x @ torch.linalg.matrix_norm({w}) + x"
            if net.flip() and False
            else f"x = x / torch.linalg.matrix_norm({w})"
        )
    elif how == 5:
        net.add(f"x = {net.module(f'nn.utils.parametrizations.orthogonal(nn.Linear({c}, {c}))')}(x)")
    elif how == 6:
        net.add(f"x = {net.module(f'nn.utils.parametrizations.spectral_norm(nn.Linear({c}, {c}))')}(x)")
    elif how == 7:
        net.add(
            f"x = x * torch.kron({net.parameter(c // 2)}, torch.ones(2, device=x.device))"
            if c % 2 == 0
            else "x = x * 2"
        )
    elif how == 8:
        net.add(f"x = F.linear(x, torch.tanh({w}), {net.parameter(c)})")
    elif how == 9:
        net.add(f"x = F.linear(x, {w} * (torch.rand_like({w}) > 0.5))")
    elif how == 10:
        net.add(f"x = F.linear(x, {w} + {net.parameter(c, 4)} @ {net.parameter(4, c)})")
    elif how == 11:
        net.add(
            f"x = torch.chain_matmul({net.parameter(t, t)}, {net.parameter(t, t)}) @ x"
            if False
            else f"x = torch.linalg.multi_dot([{net.parameter(t, 8)}, {net.parameter(8, t)}]) @ x"
        )
    elif how == 12:
        net.add("with torch.no_grad():", "    s = torch.cdist(x, x)", "x = x + (s < 1).to(x.dtype) @ x")
    elif how == 13:
        net.add(
            "with torch.no_grad():",
            f"    s = torch.einsum('btc,cd,bud->btu', x, {w}, x)",
            "x = x + s.softmax(-1).to(x.dtype) @ x",
        )
    elif how == 14:
        net.add(f"x = torch.einsum('btc,bsc,cd->bsd', x, x, {w})" if t <= 64 else "x = x.relu()")
    elif how == 15:
        net.add(
            f"x = torch.func.functional_call({net.module(f'nn.Linear({c}, {c})')}, dict(self.m{net.number}.named_parameters()), (x,))"
        )
    elif how == 16:
        net.add(f"a, b = x.mean(1), {w}", "x = x * torch.mv(b, a.mean(0)) + torch.dot(a[0], a[1])")
    else:
        net.add(
            f"x = torch.matmul(x.unsqueeze(-2), {net.parameter(t, c, c)}).squeeze(-2)" if t <= 64 else "x = x.tanh()"
        )


@sequence
def rare_sequences(net: Net) -> None:
    t, c = net.shape
    how = net.number_of(*range(12))
    if how == 0:
        net.add(
            f"x = {net.module(f'nn.ConvTranspose1d({c}, 16, 4, stride=2, padding=1)')}(x.transpose(1, 2)).transpose(1, 2)"
        )
        net.shape = (2 * t, 16)
    elif how == 1:
        net.add(f"x = {net.module(f'nn.Conv1d({c}, 16, 3, dilation=2, padding=2)')}(x.mT).mT")
        net.shape = (t, 16)
    elif how == 2:
        net.add(
            f"x = {net.module(f'nn.utils.parametrizations.weight_norm(nn.Conv1d({c}, {c}, 3, padding=1))')}(F.pad(x.transpose(1, 2), (1, 1), mode='replicate'))[..., 1:-1].transpose(1, 2)"
        )
    elif how == 3:
        net.add("x = F.adaptive_avg_pool1d(x.transpose(1, 2), 8).transpose(1, 2)")
        net.shape = (8, c)
    elif how == 4:
        net.add(f"x = {net.module(f'nn.InstanceNorm1d({c})')}(x.transpose(1, 2)).transpose(1, 2)")
    elif how == 5 and c % 4 == 0:
        net.add(f"x = {net.module(f'nn.GroupNorm(4, {c})')}(x.transpose(1, 2)).transpose(1, 2)")
    elif how == 6:
        checkpointed(
            net,
            net.module(
                net.one(
                    f"nn.Sequential(nn.Linear({c}, {4 * c}), nn.GELU(), nn.Linear({4 * c}, {c}))",
                    f"nn.Sequential(nn.LayerNorm({c}), nn.Linear({c}, {c}), nn.Dropout(0.1))",
                )
            ),
        )
    elif how == 7:
        net.add(f"x = {net.module(f'nn.PReLU({net.one(str(t), str(1))})')}(x)")
    elif how == 8:
        net.add(
            "g = torch.zeros(x.shape[1], device=x.device)",
            "h = []",
            f"for i in range({min(t, 6)}):",
            "    g = g.mean() * 0.9 + x[:, i]",
            "    h.append(g)",
            "x = torch.stack(h, 1)",
        )
        net.shape = (min(t, 6), c)
    elif how == 9:
        net.add("a = torch.cumsum(x, 1)", f"x = a / torch.arange(1, {t + 1}, device=x.device)[:, None]")
    elif how == 10:
        net.add(f"x = {net.module(f'nn.BatchNorm1d({t})')}(x)")
    else:
        net.add(f"x = {net.module(f'nn.LayerNorm([{t}, {c}], elementwise_affine={net.flip()})')}(x)")
