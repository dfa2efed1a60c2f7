"""Holds what the program finds in fixtures/scripts against fixtures/truth/scripts.json, as a table.

python tests/score_scripts.py [--search-path ZOO] [TEXT]

One line a script, one column a fact: `ok`, or what was found instead. Models are compared by their parameters; of a
script that trains several, each must be found (as one finding that names the parts, or as findings of their own).
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import time
from pathlib import Path
from typing import Any

from flake8_cnnmem.cli import main as cnnmem

FIXTURES = Path(__file__).parents[1] / "fixtures"
FACTS = ("model", "line", "input_shape", "batch_size", "optimizer", "dtype", "memory")


def report(script: str, search_path: str | None) -> list[dict[str, Any]]:
    """The models of `cnnmem report SCRIPT --format json`, run in the script's folder."""
    path = FIXTURES / "scripts" / script
    arguments = ["report", path.name, "--format", "json"]
    if search_path:
        arguments += ["--search-path", f"{path.parent},{search_path}"]
    before = os.getcwd()
    os.chdir(path.parent)
    output = io.StringIO()
    try:
        with contextlib.redirect_stdout(output):
            cnnmem(arguments)
    except SystemExit:
        pass
    finally:
        os.chdir(before)
    with contextlib.suppress(ValueError):
        return list(json.loads(output.getvalue())["models"])
    return []


def compare(truth: dict[str, Any], models: list[dict[str, Any]]) -> dict[str, str]:
    """By fact: `ok`, or what was found."""
    if not models:
        return dict.fromkeys(FACTS, "nothing found")
    wanted = {model["parameters"]: model for model in truth["models"]}
    parts = [part for model in models for part in (model["parts"] or [model])]
    found = [part for part in parts if part["parameters"]["total"] in wanted]
    complete = {part["parameters"]["total"] for part in found} == set(wanted)
    first = next((model for model in models if set(totals(model)) & set(wanted)), models[0])
    training = first["training"]
    optimizer_part = next((part for part in found if part["parameters"]["trainable"]), first)
    part = wanted.get(optimizer_part["parameters"]["total"], truth["models"][0])
    optimizer = truth["optimizer"]["name"]
    if truth["optimizer"].get("options", {}).get("momentum") and optimizer == "sgd":
        optimizer = "momentum"
    result = {"model": "ok" if complete else str([totals(model) for model in models])}
    for each in found:
        trainable = each["parameters"]["trainable"]
        if complete and trainable != wanted[each["parameters"]["total"]]["trainable"]:
            result["model"] = f"trainable {trainable}"
    result["line"] = "ok" if first["line"] in [model["line"] for model in truth["models"]] else str(first["line"])
    shape = truth["input_shape"]
    result["input_shape"] = "ok" if first["input_shape"] == shape else str(first["input_shape"])
    for fact, expected in (("batch_size", truth["batch_size"]), ("dtype", truth["dtype"])):
        result[fact] = "ok" if training[fact] == expected else str(training[fact])
    said = str(training["optimizer"]).split(" ")[0]
    result["optimizer"] = (
        "ok"
        if said in (optimizer, truth["optimizer"]["name"])
        and (optimizer != "momentum" or "momentum" in str(training["optimizer"]))
        else str(training["optimizer"])
    )
    result["memory"] = memory(part, first)
    return result


def totals(model: dict[str, Any]) -> list[int]:
    """The parameters of a model, and of its parts."""
    return [each["parameters"]["total"] for each in (model, *model["parts"])]


def memory(part: dict[str, Any], model: dict[str, Any]) -> str:
    peak = (model.get("memory") or {}).get("tensor_peak")
    if "peak_bytes" not in part:
        return "-"
    return f"{100 * (peak / part['peak_bytes'] - 1):+.1f}%" if peak else "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="?", default="")
    parser.add_argument("--search-path")
    options = parser.parse_args()
    truth = json.loads((FIXTURES / "truth" / "scripts.json").read_text())["scripts"]
    right = dict.fromkeys(FACTS, 0)
    cases = [case for case in truth if options.only in case["script"]]
    for case in cases:
        started = time.perf_counter()
        compared = compare(case, report(case["script"], options.search_path))
        for fact, said in compared.items():
            right[fact] += said == "ok"
        wrong = {fact: said for fact, said in compared.items() if said not in ("ok", "-")}
        print(f"{case['script']:30} {time.perf_counter() - started:5.1f}s  {wrong or 'all right'}", flush=True)
    print({fact: f"{count}/{len(cases)}" for fact, count in right.items() if fact != "memory"})


if __name__ == "__main__":
    main()
