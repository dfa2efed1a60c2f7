"""What stands behind an `exit()` or `raise` that is reached for sure never runs; behind any other the code goes on."""

from __future__ import annotations

import pytest

from flake8_cnnmem.evaluate.interpreter import Interpreter
from flake8_cnnmem.evaluate.modules import Module
from flake8_cnnmem.source import Source


def runs_to_its_end(text: str) -> bool:
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("code.py", f"import os, sys, argparse\n{text}\nreached = True\n"), lazy=False)
    module.variables["__name__"] = "__main__"
    run.run_module(module)
    return "reached" in module.variables


ENDS = {
    "sys.exit": "sys.exit(0)",
    "exit": "exit()",
    "quit": "quit()",
    "raise": "raise ValueError('enough')",
    "raise SystemExit": "raise SystemExit",
    "behind the test of the name": "if __name__ == '__main__':\n    print()\n    sys.exit()",
    "in a with block": "with open('log') as file:\n    exit()",
    "in a try block that lets it through": "try:\n    exit()\nexcept ValueError:\n    pass",
    "in a function": "def main():\n    print()\n    sys.exit(0)\nmain()",
    "in a function of a function": "def leave():\n    exit()\ndef main():\n    leave()\nmain()",
    "under a constant of the file": "DEBUG = True\nif DEBUG:\n    sys.exit()",
    "under a comparison of constants": "MODE = 'eval'\nif MODE == 'train':\n    print()\nelse:\n    exit()",
    "in a function, under a constant": "DRY = True\ndef main():\n    if DRY and not False:\n        sys.exit()\nmain()",
    "with what a function gives": "def main():\n    return 0\nsys.exit(main())",
}


@pytest.mark.parametrize("text", ENDS.values(), ids=ENDS)
def test_nothing_behind_it_runs(text: str) -> None:
    assert not runs_to_its_end(text)


GOES_ON = {
    "under a condition on the command line": "if len(sys.argv) < 2:\n    sys.exit('usage')",
    "under a condition on the disk": "if not os.path.exists('data'):\n    exit()",
    "in a function that a condition calls": "def leave():\n    exit()\nif len(sys.argv) < 2:\n    leave()",
    "under a constant that says no": "DEBUG = False\nif DEBUG:\n    sys.exit()",
    "under a constant that is given another value": "DRY = True\nDRY = os.path.exists('x')\nif DRY:\n    sys.exit()",
    "under a constant and what is on the disk": "STRICT = True\nif STRICT and not os.path.exists('x'):\n    sys.exit()",
    "in a loop": "for each in sys.argv:\n    exit()",
    "where it is dealt with": "try:\n    sys.exit()\nexcept SystemExit:\n    pass",
    "of a parser that misses what is required": (
        "parser = argparse.ArgumentParser()\nparser.add_argument('--data', required=True)\nargs = parser.parse_args()"
    ),
    "another statement that raises": "size = {}['size']",
    "an abstract method": "class Net:\n    def build(self):\n        raise NotImplementedError\nNet().build()",
    "a name of the program's own": "def exit():\n    pass\nexit()",
    "a function that nobody calls": "def main():\n    exit()",
}


@pytest.mark.parametrize("text", GOES_ON.values(), ids=GOES_ON)
def test_the_rest_is_followed(text: str) -> None:
    assert runs_to_its_end(text)


def test_classes_behind_it_are_known() -> None:
    run = Interpreter([], strict=True)
    module = Module("__main__", Source("code.py", "exit()\nclass Net:\n    pass\nnet = Net()\n"), lazy=False)
    run.run_module(module)
    assert "Net" in module.variables
    assert "net" not in module.variables
