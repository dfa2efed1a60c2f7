"""Where a report goes: standard output, or the one file that `-o` names."""

from __future__ import annotations


class CannotWrite(Exception):
    """The file cannot be written; the message is one plain sentence."""


def deliver(text: str, path: str | None = None) -> None:
    """Print the text, or write it to `path` in UTF-8. Raises CannotWrite. An empty text prints nothing."""
    if path is None:
        if text:
            print(text)
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text if not text or text.endswith("\n") else f"{text}\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CannotWrite(f"{path}: cannot be written: {reason}") from None
