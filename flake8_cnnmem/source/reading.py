"""A file's content and its text."""

from __future__ import annotations

import io
import tokenize

from flake8_cnnmem.source.parsing import LARGEST, SourceError, check_size
from flake8_cnnmem.text.files import DISK, Files


def read(path: str, files: Files = DISK) -> str:
    """A file's text, decoded as Python does (byte-order mark, encoding cookie), else as Latin-1 like flake8.

    Raises SourceError for what is not there, no plain file, not readable or too large.
    """
    return decode(read_bytes(path, LARGEST, files))


def read_bytes(path: str, largest: int, files: Files = DISK) -> bytes:
    """A file's content. Raises SourceError as `read` does."""
    try:
        if not files.is_file(path):
            raise SourceError("not a file" if files.exists(path) else "no such file", path)
        content = files.content(path, largest + 1)
        if len(content) > largest:
            check_size(max(files.size(path), len(content)), path, largest)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}", path) from None
    except ValueError as error:
        raise SourceError(f"cannot be read: {error}", path) from None
    return content


def decode(content: bytes) -> str:
    """Text with universal newlines, as `tokenize.open` gives it; Latin-1 where the encoding is unknown or wrong."""
    text, _ = text_and_encoding(content)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def text_and_encoding(content: bytes) -> tuple[str, str]:
    """The text with its own newlines, and the encoding that makes the same bytes of it."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
        return content.decode(encoding), encoding
    except (SyntaxError, UnicodeError, LookupError):
        return content.decode("latin-1"), "latin-1"
