"""What the stub fused_scan.pyi describes, as functions whose kernels do nothing but ask for memory."""

import torch


class Scan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, decay):
        result = torch.empty_like(x)
        state = torch.empty(x.shape[0], x.shape[1], decay.shape[2], device=x.device)
        ctx.save_for_backward(x, decay, state)
        return result

    @staticmethod
    def backward(ctx, gradient):
        x, decay, _ = ctx.saved_tensors
        return torch.empty_like(x), torch.empty_like(decay)


class ScanWithState(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, decay):
        result = torch.empty_like(x)
        ctx.save_for_backward(x, decay, result)
        return result, torch.empty(x.shape[0], x.shape[1], decay.shape[2], device=x.device)

    @staticmethod
    def backward(ctx, gradient, of_state):
        x, decay, _ = ctx.saved_tensors
        return torch.empty_like(x), torch.empty_like(decay)


def scan(x, decay, bias=None, *, reverse=False):
    return Scan.apply(x, decay)


def scan_with_state(x, decay, return_state=True):
    return ScanWithState.apply(x, decay)
