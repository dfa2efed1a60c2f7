"""Texts before anything is evaluated: files and their lines, notebooks, YAML and TOML, bodies parsed on demand."""
