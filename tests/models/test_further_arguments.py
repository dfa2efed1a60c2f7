"""What `forward` takes beside its inputs: a call that is not known in whole gives it, and is not without it."""

from __future__ import annotations

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import Source

NET = """import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)

    def forward(self, ids, mask=None, scale=1.0):
        return self.fc(ids) * mask.unsqueeze(1) * scale

"""
TRAINING = """model = Net()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for batch in torch.load("batches.pt"):
    loss = {call}.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NOT_KNOWN = "what the model is given as 'mask' is not known"
RAISES = "the code raises AttributeError: 'NoneType' object has no attribute 'unsqueeze'"
CASES = {
    "by name": (TRAINING.format(call="model(batch['x'], mask=batch['mask'])"), NOT_KNOWN),
    "by place": (TRAINING.format(call="model(batch['x'], batch['mask'])"), NOT_KNOWN),
    "spread": (TRAINING.format(call="model(**batch)"), NOT_KNOWN),
    "never called": ("", NOT_KNOWN),
    "another one": (TRAINING.format(call="model(batch['x'], scale=batch['scale'])"), RAISES),
    "without": (TRAINING.format(call="model(batch['x'])"), RAISES),
}


@pytest.mark.parametrize(("training", "cause"), CASES.values(), ids=CASES)
def test_the_first_cause_is_true(training: str, cause: str) -> None:
    report = analyse(Source("net.py", NET + training), Settings()).reports[-1]
    assert report.status != "exact"
    assert report.causes[0].reason == cause
