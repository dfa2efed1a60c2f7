"""More single ops for torch_ops.py to measure: what a module makes in its constructor, and what its forward returns.

`x` is (4, 16, 32, 32), the result of a convolution; `y` is another one like it.
"""

from __future__ import annotations


def each(texts: str) -> list[tuple[str, str]]:
    """One op a line, none of which needs a layer."""
    return [("None", line.strip()) for line in texts.strip().splitlines()]


def layers(texts: str) -> list[tuple[str, str]]:
    """One layer a line; behind a semicolon how it is called, if not on `x` alone."""
    found = []
    for line in texts.strip().splitlines():
        make, _, apply = line.strip().partition("; ")
        found.append((make, apply or "self.op(x)"))
    return found


PLACES = "torch.zeros(x.size(0), 16, 32, 32, dtype=torch.int64)"

MATHEMATICS = each("""
    x.pow(0.5)
    x.pow(3)
    x ** y
    2.0 ** x
    torch.atan2(x, y)
    torch.hypot(x, y)
    x % 2
    x.fmod(2.0)
    torch.lerp(x, y, 0.5)
    torch.erfc(x)
    torch.log2(x)
    torch.exp2(x)
    torch.sinh(x)
    torch.cosh(x)
    torch.tan(x)
    torch.atan(x)
    torch.asin(x)
    torch.sinc(x)
    torch.logit(x)
    torch.nan_to_num(x)
    torch.logaddexp(x, y)
    torch.angle(x)
    torch.frac(x)
    torch.deg2rad(x)
    x.round()
    x.abs_()
    x.neg_()
    x.sqrt_()
    x.pow_(2)
    x.div_(2)
    x.sub_(y)
    x.mul_(y)
    x.clamp_(0, 1)
    x.clamp(max=1)
    F.threshold(x, 0.1, 0.0)
    F.softmin(x, 1)
    F.rrelu(x, training=True)
    x.double().float()
    x.half().float()
    x.bfloat16().float()
    torch.fft.irfft2(torch.fft.rfft2(x))
""")

REDUCTIONS = each("""
    sum(torch.var_mean(x, (2, 3)))
    sum(torch.std_mean(x, (2, 3)))
    x.var((2, 3), unbiased=False)
    x.mean()
    x.sum()
    x.max()
    x.min()
    x.norm()
    x.median(1)[0]
    x.mode(1)[0]
    x.prod(1)
    x.cumsum(1)
    x.cumprod(1)
    x.logcumsumexp(1)
    x.kthvalue(2, 1)[0]
    x.amin(1, keepdim=True)
    torch.linalg.norm(x, dim=1)
    torch.linalg.vector_norm(x, 1, dim=1)
    torch.logsumexp(x, (2, 3))
    x * (x > 0)
    x * ((x > 0) & (y > 0))
    x * torch.logical_or(x > 0, y > 0)
    x.masked_fill(x > 0, 0.0)
    x.masked_fill_(x.detach() > 0, 0.0)
    x.masked_fill(~(x > 0), 1.0)
    torch.where(x > 0, x, 0.0)
    x.tril()
    x.triu(1)
    x * torch.bucketize(x.detach(), torch.tensor([0.0, 1.0]))
    x[:, 0] * x.argmax(1)
    F.one_hot(x.argmax(1), 16).permute(0, 3, 1, 2) * x
    F.cosine_similarity(x, y)
""")

INDEXING = each(f"""
    x.gather(1, {PLACES})
    torch.take_along_dim(x, {PLACES}, 1)
    x.scatter(1, {PLACES}, y)
    x.scatter_add(1, {PLACES}, y)
    x.index_select(1, torch.zeros(5, dtype=torch.int64))
    x.index_add(1, torch.zeros(2, dtype=torch.int64), y[:, :2])
    x.index_fill(1, torch.zeros(2, dtype=torch.int64), 0.0)
    x[:, torch.zeros(5, dtype=torch.int64)]
    x[x.argmax(0)[0, 0]]
    x.unfold(2, 4, 4)
    x.unfold(2, 4, 2)
    F.fold(F.unfold(x, 2, stride=2), (32, 32), 2, stride=2)
    F.grid_sample(x, y[:, :2].permute(0, 2, 3, 1), align_corners=False)
    F.grid_sample(x, F.affine_grid(y.mean((2, 3))[:, :6].view(-1, 2, 3), x.size(), False), align_corners=False)
    x.rot90(1, (2, 3))
    x.movedim(1, -1)
    x.diagonal(dim1=2, dim2=3)
    torch.diag_embed(x[:, :, :, 0])
    x.repeat_interleave(2, 1)
    x.tile(1, 2, 1, 1)
    torch.broadcast_to(x.mean(1, keepdim=True), x.size())
    torch.stack(x.unbind(1)[::2], 1)
    torch.cat([x[:, ::2], x[:, 1::2]], 1)
    torch.cat([x, x.mean((2, 3), keepdim=True).expand(-1, -1, 32, 32)], 1)
    torch.flatten(x.transpose(1, 3), 1)
    F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2)
    F.max_pool3d(x.unsqueeze(1), 2)
    F.avg_pool3d(x.unsqueeze(1), 2)
    F.interpolate(x, size=(50, 50), mode='nearest-exact')
    F.interpolate(x.flatten(2), scale_factor=2, mode='linear')
    F.interpolate(x.unsqueeze(1), scale_factor=2, mode='trilinear')
    F.pad(x, (1, 1, 1, 1), mode='circular')
    F.pad(x, (1, 1), value=2.0)
    x * torch.empty(x.size(0), 1, 1, 1).bernoulli_(0.5)
    torch.linalg.inv(x)
    torch.linalg.qr(x)[0]
    torch.linalg.qr(x)[1]
""")

PRODUCTS = each("""
    torch.einsum('bchw,bdhw->bcd', x, y)
    torch.einsum('...hw,...kw,...h->...hk', x, y, x.sum(-1))
    torch.einsum('bchw,bcvw->bhv', x, y)
    torch.einsum('bchw,bchw->bhw', x, y)
    torch.einsum('bhid,bhjd->bhij', x, y)
    torch.einsum('bhij,bhjd->bhid', x.softmax(-1), y)
    torch.einsum('nctv,ncvw->nctw', x, y)
    torch.bmm(x.flatten(0, 1), y.flatten(0, 1))
    torch.baddbmm(x.flatten(0, 1), x.flatten(0, 1), y.flatten(0, 1))
    torch.matmul(x.transpose(2, 3), y.transpose(2, 3))
    (x.flatten(2).transpose(1, 2) @ y.flatten(2)).softmax(-1)
    x.flatten(2) @ y.flatten(2).transpose(1, 2)
    torch.mm(x.flatten(1), y.flatten(1).t())
    x.flatten(0, 2) @ y.mean((0, 1))
    x @ y.mean((0, 1, 2))
    F.scaled_dot_product_attention(x, y, y, is_causal=True)
    F.scaled_dot_product_attention(x, y, y, attn_mask=torch.zeros(32, 32))
""") + layers("""
    nn.Parameter(torch.zeros(16, 8)); torch.einsum('bchw,cd->bdhw', x, self.op)
    nn.Parameter(torch.zeros(4, 32, 32)); torch.einsum('nkctv,kvw->nctw', x.view(-1, 4, 4, 32, 32), self.op)
    nn.Parameter(torch.zeros(16, 32, 8)); torch.einsum('bchw,cwd->bchd', x, self.op)
    nn.MultiheadAttention(32, 4, batch_first=True, kdim=16, vdim=16); self.op(x[:, 0], y[:, 0, :, :16], y[:, 0, :, :16])[0]
    nn.MultiheadAttention(32, 4, batch_first=True); self.op(x[:, 0], x[:, 0], x[:, 0], average_attn_weights=False)[0]
    nn.MultiheadAttention(32, 4, batch_first=True); self.op(x[:, 0], y[:, 0], y[:, 0], attn_mask=torch.zeros(32, 32))[0]
    nn.MultiheadAttention(32, 4, batch_first=True, bias=False); self.op(x[:, 0], y[:, 0], y[:, 0], need_weights=False)[0]
    nn.TransformerDecoderLayer(32, 4, 64, dropout=0.0, batch_first=True); self.op(x.flatten(1, 2), y.flatten(1, 2))
    nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, norm_first=True); self.op(x.flatten(1, 2))
    nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, activation='gelu', batch_first=True); self.op(x[:, 0])
    nn.Transformer(32, 4, 1, 1, 64, dropout=0.0, batch_first=True); self.op(x[:, 0], y[:, 0])
""")

LAYERS = layers("""
    nn.Conv2d(16, 16, 3, padding=1, padding_mode='circular')
    nn.Conv2d(16, 16, 3, padding=1, padding_mode='replicate')
    nn.Conv2d(16, 32, 3, padding='same', dilation=2)
    nn.Conv2d(16, 32, 1); self.op(x.to(memory_format=torch.channels_last))
    nn.Conv2d(32, 8, 1); self.op(x.permute(0, 3, 1, 2))
    nn.ConvTranspose3d(16, 4, 2, 2); self.op(x.unsqueeze(2))
    nn.Conv2d(16, 16, 3, groups=16, bias=False)
    nn.BatchNorm1d(16); self.op(x.flatten(2))
    nn.BatchNorm1d(16); self.op(x.mean((2, 3)))
    nn.BatchNorm3d(16); self.op(x.unsqueeze(2))
    nn.BatchNorm2d(16, track_running_stats=False)
    nn.InstanceNorm1d(16); self.op(x.flatten(2))
    nn.GroupNorm(1, 16); self.op(x.permute(0, 2, 3, 1).permute(0, 3, 1, 2))
    nn.LayerNorm(32, bias=False)
    nn.LayerNorm(32, elementwise_affine=False)
    nn.Dropout1d(0.5); self.op(x.flatten(2))
    nn.FeatureAlphaDropout(0.5)
    nn.Softmax2d()
    nn.LogSoftmax(1)
    nn.CELU()
    nn.Threshold(0.1, 20)
    nn.ReLU6(inplace=True)
    nn.ZeroPad2d(1)
    nn.ReflectionPad2d(2)
    nn.CircularPad2d(1)
    nn.ConstantPad2d(1, 3.5)
    nn.AvgPool2d(3, 2, 1)
    nn.MaxPool2d(3, 2, 1, ceil_mode=True)
    nn.Unflatten(1, (4, 4))
    nn.UpsamplingBilinear2d(scale_factor=2)
    nn.Embedding(10, 32); x + self.op(torch.zeros(x.size(0), 16, 32, dtype=torch.int64))
    nn.utils.weight_norm(nn.Conv2d(16, 32, 3))
    nn.utils.parametrizations.weight_norm(nn.Linear(32, 64))
    nn.utils.spectral_norm(nn.Conv2d(16, 32, 3))
    nn.utils.parametrizations.spectral_norm(nn.Conv2d(16, 32, 3))
    nn.Sequential(nn.Conv2d(16, 16, 1), nn.ReLU(True), nn.Conv2d(16, 16, 1)); x + self.op(x)
    nn.CosineSimilarity(1); self.op(x, y)
""")

MORE = [*MATHEMATICS, *REDUCTIONS, *INDEXING, *PRODUCTS, *LAYERS]

ON_THE_CPU = layers("""
    nn.GRU(32, 16, batch_first=True); self.op(x[:, 0].contiguous())[0]
    nn.GRU(32, 16); self.op(x[:, 0].transpose(0, 1).contiguous(), y[:, 0, :1, :16].transpose(0, 1).contiguous())[0]
    nn.RNN(32, 16, 2, batch_first=True, dropout=0.5); self.op(x[:, 0].contiguous())[0]
    nn.RNN(32, 16, bidirectional=True); self.op(x[:, 0].transpose(0, 1).contiguous())[1]
    nn.LSTM(32, 16, batch_first=True); self.op(x[:, 0].contiguous())[0]
    nn.LSTM(32, 16, 2, bidirectional=True); self.op(x[:, 0].transpose(0, 1).contiguous())[0]
    nn.LSTM(32, 16, 3, dropout=0.5); self.op(x[:, 0].transpose(0, 1).contiguous())[0]
    nn.LSTMCell(32, 16); self.op(x[:, 0, 0])[0]
    nn.GRUCell(32, 16); self.op(x[:, 0, 0], y[:, 0, 0, :16])
    nn.RNNCell(32, 16); self.op(x[:, 0, 0])
    nn.RMSNorm(32)
    nn.LogSigmoid()
    nn.Dropout(0.2)
    nn.MultiheadAttention(32, 4, dropout=0.1, batch_first=True); self.op(x[:, 0], y[:, 0], y[:, 0])[0]
""")
"""What CUDA has other kernels for: measured as the CPU runs it, to be held against the rules of that build."""
