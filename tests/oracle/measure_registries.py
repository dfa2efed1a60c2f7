"""Counts the parameters of the models in fixtures/registries with the frameworks that they are written for.

    python tests/oracle/measure_registries.py

needs torch, mmengine, yacs, hydra-core, lightning, PyYAML and detectron2 (of its repository); it writes fixtures/truth/registries.json.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"
COUNT = "from build import model; print(sum(each.numel() for each in model.parameters()))"
PACKAGES = ("torch", "mmengine", "yacs", "hydra-core", "lightning", "PyYAML", "detectron2")


def measured(project: Path) -> int:
    done = subprocess.run([sys.executable, "-c", COUNT], cwd=project, capture_output=True, text=True, check=True)
    return int(done.stdout.split()[-1])


def main() -> None:
    projects = sorted(path.parent for path in (FIXTURES / "registries").glob("*/build.py"))
    truth = {
        "versions": {name: importlib.metadata.version(name) for name in PACKAGES},
        "parameters": {project.name: measured(project) for project in projects},
    }
    (FIXTURES / "truth" / "registries.json").write_text(json.dumps(truth, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
