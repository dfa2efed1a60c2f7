"""What K.*, keras.ops.* and tf.* share: one function for each computation, and the tables that name them."""

from __future__ import annotations
