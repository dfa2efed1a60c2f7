"""`python -m flake8_cnnmem`: the command `cnnmem`."""

from __future__ import annotations

import sys

from flake8_cnnmem.cli import main

if __name__ == "__main__":
    sys.exit(main())
