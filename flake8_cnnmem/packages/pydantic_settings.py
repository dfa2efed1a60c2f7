"""pydantic_settings: pydantic's models for what the environment may say, which says nothing here."""

from __future__ import annotations

from flake8_cnnmem.packages.pydantic import MODEL, NAMES

MODULES = {"pydantic_settings": {"BaseSettings": MODEL, "SettingsConfigDict": NAMES["ConfigDict"]}}
