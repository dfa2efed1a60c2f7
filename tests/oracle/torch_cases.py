# ruff: noqa: ISC004
"""Lines of PyTorch code with an input `x`, a module `m` (or none) and a result `y`, for measure_torch.py.

Each case is run in PyTorch itself and by the interpreter. Shapes, dtypes and weights must be equal.
"""

from __future__ import annotations

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch import Tensor\n"

IMAGE = "x = torch.randn(2, 8, 13, 11)\n"
LINE = "x = torch.randn(2, 8, 15)\n"
VOLUME = "x = torch.randn(2, 4, 7, 6, 5)\n"
ROWS = "x = torch.randn(3, 8)\n"
SEQUENCE = "x = torch.randn(3, 5, 8)\n"
INDICES = "x = torch.randint(0, 9, (3, 5))\n"

LAYERS: dict[str, list[str]] = {
    IMAGE: [
        "nn.Conv2d(8, 16, 3)",
        "nn.Conv2d(8, 16, (3, 1), stride=(2, 1), padding=(1, 0), dilation=(1, 2), bias=False)",
        "nn.Conv2d(8, 16, 3, padding='same')",
        "nn.Conv2d(8, 16, 4, padding='same', dilation=2)",
        "nn.Conv2d(8, 16, 3, padding='valid', groups=4)",
        "nn.Conv2d(8, 24, 5, 2, 2, groups=8, padding_mode='reflect')",
        "nn.Conv2d(8, 8, 3, padding=1, padding_mode='circular')",
        "nn.ConvTranspose2d(8, 6, 3)",
        "nn.ConvTranspose2d(8, 6, 4, 2, 1, output_padding=1, groups=2, dilation=2, bias=False)",
        "nn.ConvTranspose2d(8, 6, (3, 2), stride=(2, 3), padding=(1, 0))",
        "nn.LazyConv2d(5, 3)", "nn.LazyConvTranspose2d(5, 3, bias=False)", "nn.LazyBatchNorm2d()",
        "nn.LazyInstanceNorm2d()", "nn.LazyLinear(7)",
        "nn.Linear(11, 3)", "nn.Identity()", "nn.Identity(3, unused=2)",
        "nn.MaxPool2d(2)", "nn.MaxPool2d(3, 2, 1)", "nn.MaxPool2d((3, 2), ceil_mode=True)",
        "nn.MaxPool2d(3, 1, 1, dilation=2)", "nn.MaxPool2d(2, return_indices=True)", "nn.AvgPool2d(3, 2, ceil_mode=True)",
        "nn.AvgPool2d(2, count_include_pad=False)", "nn.LPPool2d(2, 3, stride=2)", "nn.LPPool2d(1.5, (2, 3))",
        "nn.AdaptiveAvgPool2d(1)", "nn.AdaptiveAvgPool2d((None, 4))", "nn.AdaptiveAvgPool2d((5, 7))",
        "nn.AdaptiveMaxPool2d(3)", "nn.AdaptiveMaxPool2d((2, 3), return_indices=True)",
        "nn.FractionalMaxPool2d(3, output_size=(5, 6))", "nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.6))",
        "nn.FractionalMaxPool2d(3, output_size=4, return_indices=True)",
        "nn.BatchNorm2d(8)", "nn.BatchNorm2d(8, affine=False)", "nn.BatchNorm2d(8, track_running_stats=False)",
        "nn.BatchNorm2d(8, bias=False)", "nn.SyncBatchNorm(8).eval()", "nn.GroupNorm(4, 8)",
        "nn.GroupNorm(2, 8, affine=False)", "nn.GroupNorm(2, 8, bias=False)", "nn.InstanceNorm2d(8)",
        "nn.InstanceNorm2d(8, affine=True, track_running_stats=True)", "nn.LayerNorm(11)", "nn.LayerNorm((13, 11))",
        "nn.LayerNorm([8, 13, 11], elementwise_affine=False)", "nn.LayerNorm(11, bias=False)", "nn.RMSNorm(11)",
        "nn.RMSNorm((13, 11), elementwise_affine=False)", "nn.LocalResponseNorm(3)", "nn.CrossMapLRN2d(3)",
        "nn.ReLU()", "nn.ReLU(inplace=True)", "nn.ReLU6()", "nn.RReLU()", "nn.LeakyReLU(0.2)", "nn.ELU()", "nn.SELU()",
        "nn.CELU()", "nn.GELU()", "nn.GELU('tanh')", "nn.SiLU()", "nn.Mish()", "nn.Hardswish()", "nn.Hardsigmoid()",
        "nn.Hardtanh(-2, 2)", "nn.Hardshrink()", "nn.Softshrink()", "nn.Sigmoid()", "nn.Tanh()", "nn.LogSigmoid()",
        "nn.Softplus()", "nn.Softsign()", "nn.Tanhshrink()", "nn.Threshold(0.1, 20)", "nn.PReLU()", "nn.PReLU(8)",
        "nn.Softmax(1)", "nn.Softmax2d()", "nn.LogSoftmax(dim=1)", "nn.Softmin(1)", "nn.GLU(1)",
        "nn.Dropout()", "nn.Dropout2d(0.3)", "nn.AlphaDropout()", "nn.FeatureAlphaDropout()",
        "nn.Flatten()", "nn.Flatten(0, 1)", "nn.Flatten(2)", "nn.Unflatten(1, (2, 4))", "nn.Unflatten(1, (2, -1))",
        "nn.ZeroPad2d(2)", "nn.ZeroPad2d((1, 2, 3, 4))", "nn.ConstantPad2d(1, 3.5)", "nn.ReflectionPad2d((1, 2, 0, 3))",
        "nn.ReplicationPad2d(2)", "nn.CircularPad2d((1, 1, 2, 0))", "nn.ZeroPad2d((-1, 0, 0, -2))",
        "nn.Upsample(scale_factor=2)", "nn.Upsample((20, 21), mode='bilinear')", "nn.Upsample(scale_factor=(1.5, 2.3))",
        "nn.Upsample(size=9, mode='nearest')", "nn.UpsamplingNearest2d(scale_factor=3)",
        "nn.UpsamplingBilinear2d(size=(4, 5))", "nn.PixelShuffle(2)", "nn.ChannelShuffle(4)",
        "nn.Unfold(3)", "nn.Unfold((2, 3), dilation=2, padding=1, stride=2)",
        "nn.Sequential(nn.Conv2d(8, 4, 1), nn.ReLU(), nn.Flatten())",
        "nn.utils.weight_norm(nn.Conv2d(8, 4, 3))", "nn.utils.spectral_norm(nn.Conv2d(8, 4, 3))",
        "nn.utils.weight_norm(nn.Conv2d(8, 4, 3), dim=None)",
        "nn.utils.spectral_norm(nn.ConvTranspose2d(8, 4, 3))",
        "nn.utils.parametrizations.weight_norm(nn.Conv2d(8, 4, 3))",
        "nn.utils.parametrizations.spectral_norm(nn.Conv2d(8, 4, 3))",
        "nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Conv2d(8, 4, 3)))",
        "nn.DataParallel(nn.Conv2d(8, 4, 3))",
    ],
    LINE: [
        "nn.Conv1d(8, 4, 3)", "nn.Conv1d(8, 4, 3, 2, 1, 2)", "nn.Conv1d(8, 4, 3, padding='same')",
        "nn.Conv1d(8, 4, 2, padding=3, padding_mode='replicate')", "nn.ConvTranspose1d(8, 4, 3, 2)",
        "nn.LazyConv1d(4, 3)", "nn.LazyConvTranspose1d(4, 3)", "nn.LazyBatchNorm1d()",
        "nn.MaxPool1d(2)", "nn.MaxPool1d(3, 2, return_indices=True)", "nn.AvgPool1d(2, 3)", "nn.LPPool1d(2, 3)",
        "nn.AdaptiveAvgPool1d(4)", "nn.AdaptiveMaxPool1d(5)", "nn.BatchNorm1d(8)", "nn.InstanceNorm1d(8)",
        "nn.Dropout1d()", "nn.ZeroPad1d(2)", "nn.ConstantPad1d((1, 2), 0)", "nn.ReflectionPad1d(2)",
        "nn.ReplicationPad1d((3, 1))", "nn.CircularPad1d(2)", "nn.Upsample(scale_factor=2, mode='linear')",
        "nn.Bilinear(15, 15, 4)", "nn.GLU()",
    ],
    VOLUME: [
        "nn.Conv3d(4, 6, 3)", "nn.Conv3d(4, 6, (1, 3, 3), padding=(0, 1, 1), bias=False)",
        "nn.ConvTranspose3d(4, 2, 2, 2)", "nn.LazyConv3d(2, 3)", "nn.LazyConvTranspose3d(2, 3)", "nn.LazyBatchNorm3d()",
        "nn.MaxPool3d(2)", "nn.MaxPool3d((1, 2, 2), return_indices=True)", "nn.AvgPool3d(2, 1)", "nn.LPPool3d(2, 2)",
        "nn.AdaptiveAvgPool3d((None, 2, 1))", "nn.AdaptiveMaxPool3d(2)", "nn.FractionalMaxPool3d(2, output_size=3)",
        "nn.BatchNorm3d(4)", "nn.InstanceNorm3d(4, affine=True)", "nn.Dropout3d()", "nn.ZeroPad3d(1)",
        "nn.ConstantPad3d((1, 2, 0, 0, 3, 1), 0)", "nn.ReflectionPad3d(1)", "nn.ReplicationPad3d(1)",
        "nn.CircularPad3d(1)", "nn.Upsample(scale_factor=2, mode='trilinear')",
    ],
    "x = torch.randn(2, 8, 4, 6)\n": ["nn.PixelUnshuffle(2)", "nn.Flatten(start_dim=1, end_dim=2)"],
    "x = torch.randn(2, 12, 20)\n": ["nn.Fold((4, 5), 1)", "nn.Fold(output_size=(6, 5), kernel_size=2)"],
    ROWS: [
        "nn.Linear(8, 4)", "nn.Linear(8, 4, bias=False)", "nn.Linear(8, 4, dtype=torch.float64).float()",
        "nn.BatchNorm1d(8)", "nn.LazyLinear(4, bias=False)", "nn.RNNCell(8, 6)", "nn.LSTMCell(8, 6)",
        "nn.GRUCell(8, 6, bias=False)", "nn.utils.weight_norm(nn.Linear(8, 4))",
        "nn.utils.parametrizations.weight_norm(nn.Linear(8, 4), dim=1)", "nn.utils.spectral_norm(nn.Linear(8, 4))",
    ],
    SEQUENCE: [
        "nn.RNN(8, 6)", "nn.RNN(8, 6, 2, nonlinearity='relu', batch_first=True)", "nn.LSTM(8, 6)",
        "nn.LSTM(8, 6, num_layers=2, batch_first=True, bidirectional=True)", "nn.LSTM(8, 6, proj_size=3)",
        "nn.LSTM(8, 6, 2, bias=False, dropout=0.2)", "nn.GRU(8, 6, bidirectional=True)", "nn.GRU(8, 6, 3, batch_first=True)",
        "nn.Linear(8, 4)", "nn.TransformerEncoderLayer(8, 2)",
        "nn.TransformerEncoderLayer(8, 4, 16, 0.0, 'gelu', batch_first=True, norm_first=True)",
        "nn.TransformerEncoderLayer(8, 2, bias=False)",
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 3, norm=nn.LayerNorm(8))",
    ],
    INDICES: [
        "nn.Embedding(9, 4)", "nn.Embedding(9, 4, padding_idx=0)", "nn.EmbeddingBag(9, 4)",
        "nn.EmbeddingBag(9, 4, mode='sum')", "nn.Embedding.from_pretrained(torch.randn(9, 7))",
        "nn.Embedding.from_pretrained(torch.randn(9, 7), freeze=False)",
    ],
}  # fmt: skip

CALLED: list[str] = [
    "x = torch.randn(3, 5, 8)\nm = nn.MultiheadAttention(8, 2)\ny = m(x, x, x)",
    "x = torch.randn(3, 5, 8)\nm = nn.MultiheadAttention(8, 2, batch_first=True, bias=False)\ny = m(x, x, x, need_weights=False)",
    "x = torch.randn(5, 8)\nm = nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)\ny = m(x, x, x)",
    "x = torch.randn(4, 3, 8)\nm = nn.MultiheadAttention(8, 4, kdim=6, vdim=5)\n"
    "y = m(x, torch.randn(7, 3, 6), torch.randn(7, 3, 5), average_attn_weights=False)",
    "x = torch.randn(4, 3, 8)\nm = nn.MultiheadAttention(8, 4)\nk = torch.randn(7, 3, 8)\n"
    "y = m(x, k, k, key_padding_mask=torch.zeros(3, 7) > 1, need_weights=False)",
    "x = torch.randn(4, 3, 8)\nm = nn.MultiheadAttention(8, 4)\nk = torch.randn(7, 3, 8)\n"
    "y = m(x, k, torch.randn(7, 3, 8), attn_mask=torch.zeros(4, 7))",
    "x = torch.randn(4, 3, 8)\nm = nn.TransformerDecoderLayer(8, 2, 12)\ny = m(x, torch.randn(6, 3, 8))",
    "x = torch.randn(4, 3, 8)\nm = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 12, norm_first=True), 2)\n"
    "y = m(x, torch.randn(6, 3, 8))",
    "x = torch.randn(3, 4, 8)\nm = nn.Transformer(8, 2, 1, 2, 16, batch_first=True)\ny = m(x, torch.randn(3, 6, 8))",
    "x = torch.randn(2, 8, 10, 12)\np, i = nn.MaxPool2d(2, return_indices=True)(x)\nm = nn.MaxUnpool2d(2)\ny = m(p, i)",
    "x = torch.randn(2, 8, 11, 13)\np, i = nn.MaxPool2d(2, return_indices=True)(x)\nm = nn.MaxUnpool2d(2)\n"
    "y = m(p, i, output_size=x.size())",
    "x = torch.randn(2, 6, 12)\nm = nn.ConvTranspose1d(6, 4, 3, 2)\ny = m(x, output_size=[26])",
    "x = torch.randn(3, 5, 8)\nm = nn.LSTM(8, 6)\ny, (h, c) = m(x, (torch.zeros(1, 5, 6), torch.zeros(1, 5, 6)))\ny = (y, h, c)",
    "x = torch.randn(5, 8)\nm = nn.GRU(8, 6)\ny = m(x)",
    "x = torch.randn(3, 5, 8)\nm = nn.LSTM(8, 6, batch_first=True)\n"
    "from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence\n"
    "out, _ = m(pack_padded_sequence(x, [5, 5, 5], batch_first=True))\ny = pad_packed_sequence(out, batch_first=True)",
    "x = torch.randn(3, 5, 8)\nm = nn.LSTM(8, 6, batch_first=True)\n"
    "from torch.nn.utils.rnn import pack_padded_sequence\n"
    "out, _ = m(pack_padded_sequence(x, [5, 4, 2], batch_first=True))\ny = (out.data, out[0])",
    "x = torch.randn(5, 3, 8)\nm = nn.GRU(8, 6)\nfrom torch.nn.utils.rnn import pack_padded_sequence\n"
    "out, _ = m(pack_padded_sequence(x, [5, 5, 5]))\nrows, *_ = out\ny = rows",
    "x = torch.randn(3, 8)\ny = torch.FloatTensor(x.size()).normal_()",
    "x = torch.randn(3, 8, 5)\ny = torch.Tensor(x.shape[1:])",
    "x = torch.randn(3, 8)\ny = x.new(x.size())",
    "x = torch.randn(3, 8)\ny = torch.LongTensor((3, 8))",
    "x = torch.randn(3, 8)\ny = torch.IntTensor(torch.Size([2, 3]))",
    "x = torch.randn(3, 8)\ny = torch.FloatTensor(tuple(x.shape))",
    "x = torch.randn(3, 8)\ny = torch.FloatTensor(x.shape + (1,))",
    "x = torch.randn(3, 8)\ny = torch.FloatTensor((2,) + x.size()[1:])",
    "x = torch.randn(3, 8, 5)\ny = (x.shape.numel(), x.size()[1:].numel())",
    "x = torch.zeros(3, 5).long()\nfrom torch.nn.utils.rnn import pack_padded_sequence\n"
    "y = pack_padded_sequence(x, [5, 5, 1], batch_first=True).data",
    "x = torch.randn(4, 6)\nm = nn.Bilinear(6, 3, 5)\ny = m(x, torch.randn(4, 3))",
    "x = torch.randn(4, 6)\nm = nn.CosineSimilarity()\ny = m(x, x)",
    "x = torch.randn(4, 6)\nm = nn.PairwiseDistance(keepdim=True)\ny = m(x, x)",
    "x = torch.randn(4, 6)\nm = nn.CrossEntropyLoss(weight=torch.ones(6))\ny = m(x, torch.zeros(4).long())",
    "x = torch.randn(4, 6)\nm = nn.CrossEntropyLoss(reduction='none')\ny = m(x, torch.zeros(4).long())",
    "x = torch.randn(4, 6)\nm = nn.MSELoss()\ny = m(x, x)",
    "x = torch.randn(4, 6)\nm = nn.SmoothL1Loss(reduction='none')\ny = m(x, x + 1)",
    "x = torch.randn(4, 20)\nm = nn.AdaptiveLogSoftmaxWithLoss(20, 100, [10, 50])\nn = sum(p.numel() for p in m.parameters())\ny = m.head(x)",
    "x = torch.randn(2, 3, 8, 8)\nm = nn.ModuleList([nn.Conv2d(3, 3, 1) for _ in range(3)])\nfor layer in m:\n    x = layer(x)\ny = x",
    "x = torch.randn(2, 3)\nm = nn.ModuleDict({'a': nn.Linear(3, 4), 'b': nn.Linear(4, 5)})\ny = m['b'](m['a'](x))",
    "x = torch.randn(2, 3)\nm = nn.ParameterList([torch.randn(3, 4), nn.Parameter(torch.zeros(4))])\ny = x @ m[0] + m[1]",
    "x = torch.randn(2, 3)\nm = nn.ParameterDict({'w': nn.Parameter(torch.randn(3, 4))})\ny = x.mm(m['w'])",
    "x = torch.randn(2, 3)\nm = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5), nn.Linear(5, 6))\nm = m[:2]\ny = m(x)",
    "x = torch.randn(2, 3)\nm = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 5), nn.Linear(5, 6))\ndel m[-1]\nm.append(nn.Linear(5, 2))\ny = m(x)",
    "x = torch.randn(2, 3)\nm = nn.Sequential()\nm.add_module('a', nn.Linear(3, 4))\nm.extend([nn.ReLU(), nn.Linear(4, 5)])\ny = m(x)",
    "x = torch.randn(2, 3)\na = nn.Linear(3, 3)\nm = nn.Sequential(a, nn.ReLU(), a)\ny = m(x)",
    "x = torch.randn(2, 3)\nm = nn.Sequential(nn.Linear(3, 4)) + nn.Sequential(nn.Linear(4, 5))\ny = m(x)",
    "x = torch.randn(2, 3, 8, 8)\nm = nn.Conv2d(3, 4, 3)\nm.weight = nn.Parameter(torch.randn(6, 3, 5, 5))\nm.bias = None\nm.stride = (2, 2)\ny = m(x)",
]

FUNCTIONS: dict[str, list[str]] = {
    IMAGE: [
        "F.conv2d(x, torch.randn(4, 8, 3, 3), padding=1)", "F.conv2d(x, torch.randn(16, 1, 3, 3), groups=8, stride=2)",
        "F.conv_transpose2d(x, torch.randn(8, 3, 2, 2), stride=2)", "F.max_pool2d(x, 2)", "F.max_pool2d(x, 3, 2, 1)",
        "F.max_pool2d(x, kernel_size=x.size()[2:])", "F.avg_pool2d(x, (13, 11))", "F.adaptive_avg_pool2d(x, (1, 1))",
        "F.adaptive_max_pool2d(x, 2)", "F.max_pool2d(x, 2, return_indices=True)", "torch.max_pool2d(x, 2)",
        "F.relu(x)", "F.relu(x, inplace=True)", "torch.relu(x)", "x.relu()", "F.leaky_relu(x, 0.1)", "torch.sigmoid(x)",
        "F.softmax(x, dim=1)", "torch.softmax(x, 1)", "x.softmax(-1)", "F.log_softmax(x, 1)", "F.gumbel_softmax(x)",
        "F.dropout(x)", "F.dropout2d(x, 0.2, True)", "F.normalize(x)", "F.layer_norm(x, (11,))", "F.glu(x, 1)",
        "F.batch_norm(x, torch.zeros(8), torch.ones(8), training=True)", "F.instance_norm(x)", "F.group_norm(x, 2)",
        "F.local_response_norm(x, 2)", "F.pad(x, (1, 2, 3, 4))", "F.pad(x, (1, 1, 2, 2), mode='reflect')",
        "F.pad(x, (0, 0, 0, 0, 2, 3))", "F.pad(x, [1, -1])", "F.interpolate(x, scale_factor=2)",
        "F.interpolate(x, (5, 6), mode='bilinear', align_corners=False)", "F.interpolate(x, size=7, mode='area')",
        "F.interpolate(x, scale_factor=0.5, mode='bicubic')", "F.upsample(x, scale_factor=2)", "F.pixel_shuffle(x, 2)",
        "F.unfold(x, 3, padding=1)", "F.grid_sample(x, torch.zeros(2, 4, 5, 2))", "F.affine_grid(torch.zeros(2, 2, 3), x.size())",
        "x.view(2, -1)", "x.view(x.size(0), -1)", "x.view(-1, 11)", "x.reshape(2, 8, -1)", "x.reshape((16, 143))",
        "x.view(x.shape[0], 2, 4, 13, 11)", "x.flatten(1)", "torch.flatten(x, 1)", "torch.flatten(x)", "x.flatten(2, 3)",
        "x.permute(0, 2, 3, 1)", "x.permute((0, 3, 1, 2)).contiguous()", "torch.permute(x, (1, 0, 2, 3))", "x.transpose(1, 2)",
        "torch.transpose(x, 1, -1)", "x.swapaxes(0, 1)", "x.movedim(1, -1)", "x.squeeze()", "x.unsqueeze(1).squeeze(1)",
        "x.unsqueeze(-1)", "x[:, None]", "x[0]", "x[..., 0]", "x[:, :4]", "x[:, ::2, 1:-1, -3:]", "x[:, [0, 2]]",
        "x[:, torch.tensor([0, 2, 5])]", "x[0, 0, 0, 0]", "x[:, :, None, None].shape[2:4]", "x[1, ..., 2:4]",
        "x.mean(1)", "x.mean((2, 3))", "x.mean([2, 3], keepdim=True)", "torch.mean(x, dim=1, keepdim=True)", "x.mean()",
        "x.sum(axis=1)", "x.sum(-1, True)", "x.max(1)", "x.max()", "torch.max(x, 1, keepdim=True)", "torch.max(x, x)",
        "x.max(dim=1)[0]", "torch.min(x, 2)", "x.amax(1)", "x.amax((2, 3), keepdim=True)", "x.argmax(1)", "x.argmax()",
        "x.var(1)", "x.std(1, keepdim=True)", "x.std(dim=(2, 3), unbiased=False)", "torch.var_mean(x, 1)", "x.norm(dim=1)",
        "x.norm()", "x.norm(2, 1, True)", "torch.logsumexp(x, 1)", "x.prod(1)", "x.any(1)", "(x > 0).all()", "x.cumsum(1)",
        "x.median()", "x.median(1)", "x.topk(3, 1)", "torch.topk(x, 2)", "x.sort(1)", "x.argsort(-1)", "x.numel()",
        "x.chunk(2, 1)", "torch.chunk(x, 3, dim=1)", "x.split(3, 1)", "torch.split(x, [2, 6], dim=1)", "x.unbind(1)[0]",
        "torch.cat([x, x], 1)", "torch.cat((x, x, x), dim=-1)", "torch.stack([x, x])", "torch.stack((x, x), dim=2)",
        "torch.cat(x.chunk(2, 1), 0)", "torch.hstack((x, x))", "torch.vstack([x, x])",
        "x + 1", "1 - x", "x * 2.5", "x / 3", "2 / x", "x ** 2", "2 ** x", "-x", "x // 2", "x % 2", "x + x", "x * x", "x - x[:, :1]",
        "x * torch.ones(8, 1, 1)", "x > 0", "x == x", "(x > 0) & (x < 1)", "~(x > 0)", "x.add(x)", "x.mul(2)", "x.div(2.0)",
        "torch.add(x, x, alpha=2)", "x.sub(x)", "abs(x)", "pow(x, 2)", "sum([x, x])", "torch.pow(x, 2)", "x.pow(3)", "torch.exp(x)", "x.sqrt()", "x.abs()", "x.rsqrt()",
        "x.clamp(0, 1)", "x.clamp(min=0)", "torch.clamp(x, -1, 1)", "torch.where(x > 0, x, torch.zeros_like(x))",
        "x.masked_fill(x > 0, 0.0)", "x.matmul(x.transpose(2, 3))", "x @ x.mT", "torch.einsum('bchw,bdhw->bcd', x, x)",
        "torch.einsum('bchw->bhwc', x)", "torch.einsum('b...w->b...', x)", "x.expand(2, 8, 13, 11)", "x[:, :1].expand(-1, 5, -1, -1)",
        "x[:, :1].expand_as(x)", "x.repeat(1, 2, 1, 1)", "x.repeat(3, 1, 1, 1, 1)", "x.repeat_interleave(2, dim=1)", "x.roll(1, 2)",
        "torch.roll(x, shifts=(1, 2), dims=(2, 3))", "x.flip(1)", "torch.flip(x, (2, 3))", "x.tile(2)", "x.T.shape if x.dim() == 2 else x",
        "x.detach()", "x.clone()", "x.contiguous()", "x.float()", "x.half()", "x.double()", "x.to(torch.float16)", "x.type_as(x)",
        "x.long()", "x.bool()", "x.new_zeros(3, 4)", "x.new_ones((2, 2))", "torch.zeros_like(x)", "torch.ones(x.shape)",
        "torch.zeros(x.size(0), 3)", "torch.empty(2, 3).normal_()", "x.unfold(2, 3, 2)", "x.narrow(1, 2, 3)", "x.select(1, 0)",
        "x.index_select(1, torch.tensor([0, 1]))", "x.gather(1, torch.zeros(2, 3, 13, 11).long())", "torch.tril(x)", "x.diagonal(dim1=2, dim2=3)",
        "x.dim()", "x.ndim", "x.size()", "x.shape[-1]", "len(x)", "x.size(-2)", "x.shape[1:]", "tuple(x.shape)", "list(x.size())",
        "torch.addcmul(x, x, x)", "torch.lerp(x, x, 0.5)", "torch.maximum(x, x)", "torch.atan2(x, x)", "torch.outer(x[0, 0, 0], x[0, 0, 0])",
        "torch.linspace(0, 1, 5).tolist()", "[v.item() for v in torch.linspace(0, 0.2, 4)]", "torch.arange(5).sum().item()",
        "torch.arange(0, 1, 0.25).tolist()", "torch.tensor([1, 2, 3]).max().item()", "torch.arange(6).view(2, 3).tolist()",
        "torch.arange(6).view(2, 3).t().tolist()", "torch.tensor([[1., 2.], [3., 4.]])[1, 0].item()", "(torch.arange(4) * 2 + 1).tolist()",
        "[t.tolist() for t in torch.linspace(0, 1, 6).split([2, 4])]", "torch.cumsum(torch.tensor([1, 2, 3]), 0).tolist()",
        "torch.stack(torch.meshgrid(torch.arange(3), torch.arange(4), indexing='ij'))", "torch.stack(torch.meshgrid([torch.arange(3), torch.arange(4)])).flatten(1)",
        "F.one_hot(torch.zeros(4).long(), 7)", "torch.eye(4)", "torch.eye(3)[1].tolist()", "torch.full((2, 3), 1.5)", "torch.rand(2, 3)",
        "torch.randint(0, 9, (2, 3))", "torch.randperm(7)", "torch.tensor(3.5)", "torch.tensor([True, False])", "torch.tensor([[1, 2], [3, 4]])",
        "x.reshape_as(x)", "x.view_as(x)", "x.fill_(0)", "x.add_(1)", "x.mul_(x)", "x.relu_()", "x.zero_()", "x.transpose(1, 2).reshape(2, 13, -1)",
        "F.scaled_dot_product_attention(x, x, x)", "F.cosine_similarity(x, x)", "F.cross_entropy(x, torch.zeros(2, 13, 11).long())",
        "F.mse_loss(x, x)", "F.binary_cross_entropy_with_logits(x, x, reduction='none')", "F.kl_div(x, x, reduction='sum')",
        "torch.fft.fft2(x)", "torch.fft.rfft2(x)", "torch.fft.irfft2(torch.fft.rfft2(x))", "torch.fft.rfft(x, dim=2)", "torch.view_as_real(torch.fft.fft(x))",
        "torch.broadcast_to(x, (3, 2, 8, 13, 11))", "torch.cdist(x, x)", "torch.bmm(x[0], x[0].transpose(1, 2))", "torch.baddbmm(torch.zeros(8, 13, 13), x[0], x[0].transpose(1, 2))",
        "torch.addmm(torch.zeros(13), x[0, 0], torch.zeros(11, 13))", "torch.diag_embed(x[0, 0])", "x.diff()", "torch.linalg.norm(x, dim=1)",
        "F.softplus(x)", "F.hardtanh(x, 0, 6)", "F.prelu(x, torch.ones(1))", "F.embedding(torch.zeros(3).long(), torch.randn(5, 4))", "F.linear(x, torch.randn(5, 11))",
        "torch.nonzero(x > 1).shape[1]", "x.nelement()", "x.is_floating_point()", "x.element_size()", "x.stride()", "torch.tensor_split(x, 3, dim=1)",
        "torch.atleast_1d(torch.tensor(3.0))", "torch.bucketize(x, torch.tensor([0.0, 1.0]))", "x.scatter(1, torch.zeros(2, 1, 13, 11).long(), 1.0)",
        "torch.isnan(x)", "x.isfinite().all()", "torch.logical_not(x > 0)", "x.round()", "torch.floor(x)", "x.sign()", "x.square()", "torch.log1p(x)",
        "torch.kron(torch.ones(2), torch.ones(2)).dim()", "x.unflatten(1, (2, 4))", "x.movedim((2, 3), (1, 2))", "x.swapdims(1, 3)",
    ],
}  # fmt: skip


NET = """
class Net(nn.Module):
    def __init__(self, width=4):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(3, width, 3)
        self.bn = nn.BatchNorm2d(width)
        self.blocks = nn.ModuleList([nn.Conv2d(width, width, 1) for _ in range(2)])
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(width, 2))
        self.register_buffer("mask", torch.ones(2, 2))
        self.scale = nn.Parameter(torch.ones(width, 1, 1))
        self.extra = None

    def forward(self, x):
        x = torch.relu(self.bn(self.conv1(x))) * self.scale
        for block in self.blocks:
            x = x + block(x)
        return self.head(x.mean((2, 3)))

m = Net()
x = torch.randn(2, 3, 9, 9)
"""
"""A module that has a bit of everything."""

RESULTS: list[str] = [
    "y = m(x)",
    "y = [name for name, _ in m.named_modules()]",
    "y = [type(module).__name__ for module in m.modules()]",
    "y = [name for name, _ in m.named_children()]",
    "y = len(list(m.children()))",
    "y = [(name, tuple(p.shape)) for name, p in m.named_parameters()]",
    "y = sum(p.numel() for p in m.parameters() if p.requires_grad)",
    "y = [name for name, _ in m.named_buffers()]",
    "y = [(key, tuple(value.shape)) for key, value in m.state_dict().items()]",
    "y = [name for name, _ in m.named_parameters(prefix='net')]",
    "y = [name for name, _ in m.named_modules(prefix='net')]",
    "y = [name for name, _ in m.named_buffers('net')]",
    "y = list(m.state_dict(prefix='net.'))",
    "y = list(m.state_dict(prefix='net'))",
    "m.again = m.conv1\ny = [name for name, _ in m.named_modules(remove_duplicate=False)], list(m.state_dict())",
    "try:\n    m.get_submodule(3)\nexcept AttributeError:\n    y = 'no name'",
    "try:\n    m.set_submodule(None, nn.ReLU())\nexcept AttributeError:\n    y = 'no name'",
    "try:\n    list(m.named_buffers(3))\nexcept TypeError:\n    y = 'no name'",
    "m.me = m\ntry:\n    m.state_dict()\nexcept RecursionError:\n    y = 'endless'",
    "y = len(list(m.bn.parameters(recurse=False)))",
    "y = next(m.parameters()).shape",
    "y = str(next(m.parameters()).dtype)",
    "y = next(iter(m.blocks)).out_channels",
    "m.head = nn.Identity()\ny = m(x)",
    "m.head[1] = nn.Linear(4, 7)\ny = m(x)",
    "m.head[-1] = nn.Linear(m.head[-1].in_features, 9, bias=False)\ny = m(x)",
    "m.conv1 = nn.Conv2d(3, 4, 5, stride=2)\ny = m(x)",
    "del m.head\ny = hasattr(m, 'head')",
    "y = hasattr(m, 'nothing'), hasattr(m, 'conv1'), hasattr(m, 'mask'), hasattr(m, 'extra')",
    "y = getattr(m, 'conv1').out_channels + getattr(m, 'nothing', 3)",
    "try:\n    m.nothing\nexcept AttributeError:\n    y = 'absent'",
    "setattr(m, 'fc', nn.Linear(3, 3))\ny = [name for name, _ in m.named_children()]",
    "m.conv1.bias = None\ny = [name for name, _ in m.named_parameters()]",
    "m.extra = nn.Linear(2, 2)\ny = [name for name, _ in m.named_children()]",
    "m.scale = None\ny = [name for name, _ in m.named_parameters()][:2]",
    "m.mask = torch.zeros(3)\ny = [(name, tuple(b.shape)) for name, b in m.named_buffers()]",
    "m.register_parameter('none', None)\ny = m.none is None",
    "m.register_module('late', nn.ReLU())\ny = m.late(x).shape",
    "m.add_module('0', nn.Linear(2, 3))\ny = getattr(m, '0').weight.shape",
    "y = m.get_submodule('blocks.1').weight.shape",
    "y = m.get_parameter('head.1.weight').shape",
    "for p in m.parameters():\n    p.requires_grad = False\ny = sum(p.requires_grad for p in m.parameters())",
    "m.bn.requires_grad_(False)\ny = [name for name, p in m.named_parameters() if not p.requires_grad]",
    "y = m.training, m.eval().training, m.bn.training, m.train().bn.training",
    "seen = []\nm.apply(lambda module: seen.append(type(module).__name__))\ny = seen",
    "def init(module):\n    if isinstance(module, (nn.Conv2d, nn.Linear)):\n        nn.init.kaiming_normal_(module.weight)\n"
    "        if module.bias is not None:\n            nn.init.zeros_(module.bias)\nm.apply(init)\ny = m(x)",
    "for module in m.modules():\n    if isinstance(module, nn.Conv2d):\n"
    "        n = module.kernel_size[0] * module.kernel_size[1] * module.out_channels\n"
    "        module.weight.data.normal_(0, (2. / n) ** 0.5)\n    elif isinstance(module, nn.BatchNorm2d):\n"
    "        module.weight.data.fill_(1)\n        module.bias.data.zero_()\ny = m(x)",
    "import copy\nn = copy.deepcopy(m)\nm = nn.ModuleList([m, n])\ny = len(list(m.parameters()))",
    "import copy\nn = copy.copy(m)\ny = n.conv1 is m.conv1",
    "m = nn.Sequential(*list(m.children())[:2])\ny = m(x)",
    "y = 'conv1' in m._modules, list(m._modules), list(m._parameters), list(m._buffers)",
    "m._modules['conv1'] = nn.Conv2d(3, 4, 1)\ny = m(x)",
    "y = isinstance(m, nn.Module), isinstance(m.bn, nn.modules.batchnorm._BatchNorm), isinstance(m.scale, nn.Parameter), "
    "isinstance(m.mask, nn.Parameter), isinstance(m.mask, torch.Tensor)",
    "y = m.conv1.kernel_size, m.conv1.stride, m.conv1.padding, m.conv1.dilation, m.conv1.groups",
    "y = m.bn.num_features, m.bn.eps, m.bn.momentum, m.bn.affine",
    "y = m.conv1.weight.size(0), m.conv1.weight.numel(), m.conv1.bias.dim()",
    "y = m.conv1.weight.mean(dim=(1, 2, 3), keepdim=True)",
    "y = m.blocks[0] is m.blocks[-2], len(m.blocks), m.blocks[1:][0] is m.blocks[1]",
    "m.blocks.append(nn.Conv2d(4, 4, 3, padding=1))\nm.blocks.insert(0, nn.Identity())\ny = [type(b).__name__ for b in m.blocks]",
    "m.blocks.extend([nn.Identity()])\nm.blocks += [nn.Identity()]\ny = len(m.blocks)",
    "y = m.blocks[0] in m.blocks",
    "m.blocks.pop(0)\ny = m(x)",
    "y = [i for i, _ in enumerate(m.head)]",
    "y = [name for name, _ in m.head.named_children()]",
    "from collections import OrderedDict\nm.head = nn.Sequential(OrderedDict([('flat', nn.Flatten()), ('fc', nn.Linear(4, 3))]))\n"
    "y = m(x).shape, m.head.fc.out_features, m.head[1].out_features",
    "d = nn.ModuleDict([('a', nn.ReLU()), ('b', nn.Tanh())])\nd['c'] = nn.Sigmoid()\nd.update({'d': nn.ELU()})\n"
    "y = list(d.keys()), [type(v).__name__ for v in d.values()], 'a' in d, len(d), list(d)",
    "d = nn.ModuleDict({'a': nn.ReLU()})\nd.pop('a')\ny = len(d), [k for k, v in d.items()]",
    "y = nn.functional.relu is F.relu, torch.nn.Linear is nn.Linear, nn.modules.conv.Conv2d is nn.Conv2d",
    "m.load_state_dict(m.state_dict())\ny = m(x)",
    "m = m.to('cpu')\nm = m.float()\ny = m(x.to('cpu'))",
    "m.half()\ny = str(m.conv1.weight.dtype), str(m.bn.num_batches_tracked.dtype)",
    "m = m.double()\ny = m(x.double())",
    "m.share = m.conv1\ny = len(list(m.parameters())), len(list(m.modules()))",
    "m.head[1].weight = nn.Parameter(torch.randn(5, 4))\nm.head[1].bias = nn.Parameter(torch.zeros(5))\ny = m(x)",
    "with torch.no_grad():\n    m.conv1.weight.copy_(torch.zeros(4, 3, 3, 3))\n    y = m(x)",
    "@torch.no_grad()\ndef f(x):\n    return m(x)\ny = f(x)",
    "@torch.no_grad\ndef f(x):\n    return torch.is_grad_enabled()\ny = f(x), torch.is_grad_enabled()",
    "def f():\n    torch.set_grad_enabled(False)\n    off = torch.is_grad_enabled()\n    torch.set_grad_enabled(True)\n    return off\ny = f()",
    "with torch.set_grad_enabled(False):\n    a = torch.is_grad_enabled()\ny = a, torch.is_grad_enabled()",
    "from torch.utils.checkpoint import checkpoint\ny = checkpoint(m, x, use_reentrant=False)",
    "from torch.utils.checkpoint import checkpoint_sequential\n"
    "y = checkpoint_sequential(nn.Sequential(m.conv1, m.bn, nn.ReLU()), 2, x, use_reentrant=False)",
    "m.register_forward_hook(lambda *a: None)\ny = m(x)",
    "o = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9)\ny = len(o.param_groups), o.param_groups[0]['momentum']",
    "o = torch.optim.Adam([{'params': m.conv1.parameters()}, {'params': m.head.parameters(), 'lr': 0.5}], lr=0.1)\n"
    "y = [(g['lr'], len(g['params'])) for g in o.param_groups]",
    "class Double(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n"
    "        return x * 2\n    @staticmethod\n    def backward(ctx, g):\n        return g\ny = Double.apply(x)",
    "class Std(nn.Conv2d):\n    def forward(self, x):\n        w = self.weight\n"
    "        w = w - w.mean(dim=(1, 2, 3), keepdim=True)\n"
    "        return F.conv2d(x, w, self.bias, self.stride, self.padding, self.dilation, self.groups)\n"
    "m.conv1 = Std(3, 4, 3)\ny = m(x)",
    "class Own(nn.Sequential):\n    def __init__(self, a, b):\n        super().__init__(nn.Conv2d(a, b, 1), nn.ReLU())\n"
    "        self.out = b\nm = Own(3, 5)\ny = m(x)",
    "class Layer(nn.Sequential):\n    def __init__(self, a):\n        super().__init__()\n        self.add_module('norm', nn.BatchNorm2d(a))\n"
    "        self.add_module('conv', nn.Conv2d(a, 2, 1))\n    def forward(self, x):\n        return torch.cat([x, super().forward(x)], 1)\n"
    "m = Layer(3)\ny = m(x)",
    "class Tied(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.a = nn.Embedding(5, 4)\n"
    "        self.b = nn.Linear(4, 5, bias=False)\n        self.b.weight = self.a.weight\n    def forward(self, i):\n"
    "        return self.b(self.a(i))\nm = Tied()\ny = m(torch.zeros(3).long())",
    "class Token(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.token = nn.Parameter(torch.zeros(1, 1, 8))\n"
    "        self.position = nn.Parameter(torch.empty(1, 5, 8).normal_(std=0.02))\n    def forward(self, x):\n"
    "        t = self.token.expand(x.shape[0], -1, -1)\n        return torch.cat((t, x), dim=1) + self.position\n"
    "m = Token()\ny = m(torch.randn(2, 4, 8))",
    "a, b = x.chunk(2, dim=-1)[0], x[..., :4]\nb += 1\nb *= b\ny = torch.cat((a[..., :4], b), -1)",
    "x[:, 0] = 0\nx[..., 1:] += 2\ny = x",
    "y = x.to(x.device, x.dtype), x.dtype == torch.float32, x.requires_grad",
    "y = torch.zeros(3, dtype=torch.long), torch.zeros(2, dtype=torch.float16), torch.ones(2).bool()",
    "b, c, h, w = x.shape\ny = x.view(b, c, h * w).transpose(1, 2)",
    "b, c, *rest = x.size()\ny = x.reshape(b, c, -1), list(rest)",
    "y = F.relu6(x + 3) / 6 * x, -x.sum() + 1, 2 - x.mean(1), (x >= 0).float()",
    "y = x.size(0) * 2, x.shape[2] // 2, [x.shape[i] for i in (2, 3)], x.shape == (2, 3, 9, 9), tuple(x.shape[-2:])",
    "y = torch.jit.is_scripting(), torch.jit.script(m) is not None if False else True",
    "y = m(torch.autograd.Variable(x))",
    "layers = [nn.Conv2d(3, 6, 3), nn.ReLU(True)]\nlayers += [nn.MaxPool2d(2, 2)]\nm = nn.Sequential(*layers)\ny = m(x)",
    "y = nn.Conv2d(3, 6, 3)(x[0]), nn.MaxPool2d(2)(x[0]), nn.Linear(9, 2)(x[0, 0, 0])",
    "y = [p.ndim for p in m.parameters() if p.ndim > 1]",
    "m.blocks[0].weight.requires_grad_(False)\ny = [p.requires_grad for p in m.blocks.parameters()]",
    "y = m.bn.running_mean, m.bn.running_var, m.bn.num_batches_tracked, m.bn.weight",
    "y = nn.init.calculate_gain('relu'), nn.init._calculate_fan_in_and_fan_out(m.conv1.weight)",
    "m.conv1.register_buffer('k', torch.arange(3).float())\ny = m.conv1.k * 2, 'conv1.k' in m.state_dict()",
    "m.apply(lambda z: None)\nm.zero_grad()\nm.train(False)\ny = m.training",
    "from torch.nn.modules.utils import _pair\ny = _pair(3), _pair((1, 2))",
    "y = torch.finfo(torch.float32).eps > 0, torch.iinfo(torch.int64).max, torch.finfo(x.dtype).min < 0",
    "m = nn.utils.fusion.fuse_conv_bn_eval(nn.Conv2d(3, 4, 1, bias=False).eval(), nn.BatchNorm2d(4).eval())\ny = m(x)",
]


def cases() -> list[str]:
    found = [f"{HEAD}{head}m = {layer}\ny = m(x{', x' if layer.startswith('nn.Bilinear') else ''})"
             for head, layers in LAYERS.items() for layer in layers]  # fmt: skip
    found += [HEAD + code for code in CALLED]
    found += [f"{HEAD}{head}y = {code}" for head, codes in FUNCTIONS.items() for code in codes]
    return found + [HEAD + NET + code for code in RESULTS]
