"""How the analysis itself runs in Python: garbage collector, stack of frames, fields that are worked out late."""
