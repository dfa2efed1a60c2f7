"""The layers: one stub each, with Keras' own signature, in files by what they are about."""

from __future__ import annotations
