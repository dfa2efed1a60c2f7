"""The manual: a page for each topic, in Markdown, as it lies in this folder and as `cnnmem explain TOPIC` prints it."""

from __future__ import annotations

from importlib import resources

ENDING = ".md"

SCHEMA = "json-2.schema.json"
"""The form of what `--format json` prints."""


def topics() -> dict[str, str]:
    """The title of each page by its topic, in order."""
    files = resources.files(__name__).iterdir()
    names = sorted(file.name.removesuffix(ENDING) for file in files if file.name.endswith(ENDING))
    return {name: page(name).partition("\n")[0].removeprefix("# ") for name in names}


def page(topic: str) -> str:
    """The text of a page, or the schema's. Raises FileNotFoundError."""
    name = SCHEMA if topic == "json-schema" else f"{topic}{ENDING}"
    return resources.files(__name__).joinpath(name).read_text(encoding="utf-8")
