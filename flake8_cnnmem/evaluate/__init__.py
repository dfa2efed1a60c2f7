"""The interpreter: it evaluates the code that builds models, abstractly, and never runs it."""
