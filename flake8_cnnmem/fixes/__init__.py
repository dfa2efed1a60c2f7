"""What mends a finding: edits of the file's text, each tried by analysing the changed text before it is offered.

`fixes_of` is what an editor asks for a file, `mended` what `cnnmem fix` asks. Where a value is written is found in
`places`, what may be changed for a code in the module of that name, and whether it helps in `trial`.
"""

from __future__ import annotations

from flake8_cnnmem.fixes.documents import Document, document_with
from flake8_cnnmem.fixes.offered import CODES, DEFAULT, Mended, fixes_of, mended
from flake8_cnnmem.fixes.to_fit import Fitted, fitted
from flake8_cnnmem.fixes.trial import harmed
from flake8_cnnmem.text.edits import Edit, Fix, applied

__all__ = [
    "CODES",
    "DEFAULT",
    "Document",
    "Edit",
    "Fitted",
    "Fix",
    "Mended",
    "applied",
    "document_with",
    "fitted",
    "fixes_of",
    "harmed",
    "mended",
]
