"""What modules of a project do to others when they are imported: they fill containers, by keys that no text shows, and
change classes and settings.

Each idiom was run by Python with PyTorch: every registry builds `Big`, whose convolution has 5 * 7 * 9 + 7 parameters.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from flake8_cnnmem.analysis import analyse
from flake8_cnnmem.settings.options import Settings
from flake8_cnnmem.source import load

BODY = """
    def __init__(self, n=3):
        super().__init__()
        self.c = nn.Conv2d({channels}, n, 3)

    def forward(self, x):
        return self.c(x)
"""

REGISTRY = "class {name}(nn.Module):"
"""How a class of the idioms that decorate begins."""

KEYED = """
R = {}
def register(cls):
    R[cls.__name__.lower()] = cls
    return cls
"""

IDIOMS = {
    "an object that is a dict": (
        """
class Registry(dict):
    def register(self, name=None):
        def put(cls):
            self[name or cls.__name__.lower()] = cls
            return cls
        return put
MODELS = Registry()
def build(*args):
    if "big" not in MODELS:
        raise KeyError(sorted(MODELS))
    return MODELS["big"](*args)
""",
        "from .registry import MODELS\n\n@MODELS.register()\n" + REGISTRY,
    ),
    "a dict that is asked": (
        KEYED + "def build(*args):\n    cls = R.get('big')\n    assert cls is not None\n    return cls(*args)\n",
        "from .registry import register\n\n@register\n" + REGISTRY,
    ),
    "a dict that is gone through": (
        KEYED + "def build(*args):\n    return {key: cls(*args) for key, cls in R.items()}['big']\n",
        "from . import registry\n\n@registry.register\n" + REGISTRY,
    ),
    "the first of a dict": (
        KEYED + "def build(*args):\n    return sorted(R.items())[0][1](*args)\n",
        "from .registry import register as known\n\n@known\n" + REGISTRY,
    ),
    "a dict that must not be empty": (
        KEYED + "def build(*args):\n    if not R:\n        raise RuntimeError\n"
        "    name, = (k for k in R if k[0] == 'b')\n    return R[name](*args)\n",
        "from .registry import register\n\n@register\n" + REGISTRY,
    ),
    "an object with a length": (
        """
class Registry:
    def __init__(self):
        self.held = {}
    def __call__(self, cls):
        self.held[cls.__name__.lower()] = cls
        return cls
    def names(self):
        return list(self.held)
    def __len__(self):
        return len(self.held)
MODELS = Registry()
def build(*args):
    assert len(MODELS) == 2
    return MODELS.held[MODELS.names()[MODELS.names().index("big")]](*args)
""",
        "from .registry import MODELS\n\n@MODELS\n" + REGISTRY,
    ),
    "a list": (
        """
MODELS = []
def register(cls):
    MODELS.append(cls)
    return cls
def build(*args):
    return next(cls for cls in MODELS if cls.__name__ == "Big")(*args)
""",
        "from .registry import register\n\n@register\n" + REGISTRY,
    ),
    "a class": (
        """
class Factory:
    known = {}
    @classmethod
    def register(cls):
        def put(made):
            cls.known[made.__name__.lower()] = made
            return made
        return put
    @classmethod
    def build(cls, *args):
        return cls.known["big"](*args)
build = Factory.build
""",
        "from .registry import Factory\n\n@Factory.register()\n" + REGISTRY,
    ),
    "subclasses": (
        """
from torch import nn
class Base(nn.Module):
    known = {}
    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Base.known[cls.__name__.lower()] = cls
def build(*args):
    return Base.known["big"](*args)
""",
        "from .registry import Base\n\nclass {name}(Base):",
    ),
    "a metaclass": (
        """
from torch import nn
class Meta(type):
    known = {}
    def __new__(meta, name, bases, namespace):
        cls = super().__new__(meta, name, bases, namespace)
        meta.known[name.lower()] = cls
        return cls
class Base(nn.Module, metaclass=Meta):
    pass
def build(*args):
    return Meta.known["big"](*args)
""",
        "from .registry import Base\n\nclass {name}(Base):",
    ),
    "what subclasses a class has": (
        """
from torch import nn
class Base(nn.Module):
    pass
def build(*args):
    return {cls.__name__.lower(): cls for cls in Base.__subclasses__()}["big"](*args)
""",
        "from .registry import Base\n\nclass {name}(Base):",
    ),
    "two keys": (
        """
from collections import defaultdict
R = defaultdict(dict)
def register(kind):
    def put(cls):
        R[kind][cls.__name__.lower()] = cls
        return cls
    return put
def build(*args):
    return R["models"]["big"](*args)
""",
        "from .registry import register as known\n\n@known('models')\n" + REGISTRY,
    ),
}

MAIN = "import torch\nfrom zoo.registry import build\n{more}\nnet = build(7)\nnet(torch.zeros(4, 5, 8, 8))\n"


def project(folder: Path, registry: str, head: str, init: str, more: str) -> Path:
    zoo = folder / "zoo"
    zoo.mkdir()
    (zoo / "registry.py").write_text(registry)
    for name, channels in (("Big", 5), ("Small", 3)):
        text = "from torch import nn\n" + head.format(name=name) + BODY.format(channels=channels)
        (zoo / f"{name.lower()}.py").write_text(text)
    (zoo / "__init__.py").write_text(init)
    main = folder / "main.py"
    main.write_text(MAIN.format(more=more))
    return main


def parameters(path: Path) -> int | None:
    """The parameters of the one model of a file."""
    (report,) = analyse(load(str(path)), Settings()).reports
    return report.parameters


@pytest.mark.parametrize("init", ["from . import big, small\n", "from .big import Big\nfrom .small import Small\n"])
@pytest.mark.parametrize("idiom", IDIOMS)
def test_what_is_imported_registers_itself(idiom: str, init: str, tmp_path: Path) -> None:
    assert parameters(project(tmp_path, *IDIOMS[idiom], init, "")) == 5 * 7 * 9 + 7


def test_packages_that_import_all_of_their_modules(tmp_path: Path) -> None:
    registry, head = IDIOMS["a dict that is gone through"]
    init = "import importlib, pkgutil\nfor each in pkgutil.iter_modules(__path__):\n"
    init += "    importlib.import_module(f'{__name__}.{each.name}')\n"
    assert parameters(project(tmp_path, registry, head, init, "")) == 5 * 7 * 9 + 7


@pytest.mark.parametrize("idiom", ["the first of a dict", "a list"])
def test_what_nobody_imports_is_not_registered(idiom: str, tmp_path: Path) -> None:
    registry, head = IDIOMS[idiom]
    registry = registry.replace('if cls.__name__ == "Big"', "")
    registry = registry.replace("sorted(R.items())[0][1]", "list(R.values())[0]")
    main = project(tmp_path, registry, head, "", "import zoo.small\n")
    main.write_text(main.read_text().replace("4, 5, 8, 8", "4, 3, 8, 8"))
    assert parameters(main) == 3 * 7 * 9 + 7


NET = """
from torch import nn
class Options:
    width = 8
options, table = Options(), {"width": 8}
class Net(nn.Module):
    width = 8
    def __init__(self):
        super().__init__()
        self.c = nn.Conv2d(3, self.width + options.width + table["width"], 3)
    def forward(self, x):
        return self.c(x)
"""

CHANGES = {
    "an attribute of a class": "import net\nnet.Net.width = 64\n",
    "an attribute of an object": "from net import options as o\no.width = 64\n",
    "an item": "from net import table\ntable['width'] = 64\n",
    "setattr": "from net import Net\nsetattr(Net, 'width', 64)\n",
    "a method": "from net import table\ntable.update(width=64)\n",
    "a function that is called": "from net import Net\ndef apply():\n    Net.width = 64\napply()\n",
    "a loop": "import net\nfor each in (net.Net,):\n    each.width = 64\n",
    "a condition": "import net\nif not hasattr(net.Net, 'height'):\n    net.Net.width = 64\n",
    "a class of the framework": "from torch import nn\nsetattr(nn.Module, 'width', 64)\ndel net.Net.width\n",
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(
    "by", ["import changes", "import through", "from through import *", "from changes import net as _"]
)
def test_what_is_imported_changes_others(change: str, by: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "changes.py").write_text("import net\n" + CHANGES[change])
    (tmp_path / "through.py").write_text("import changes\nMORE = 1\n")
    main = tmp_path / "main.py"
    main.write_text(f"import torch\n{by}\nfrom net import Net\nmodel = Net()\nmodel(torch.zeros(1, 3, 8, 8))\n")
    assert parameters(main) == 80 * 28


@pytest.mark.parametrize("by", ["", "from torch import nn", "if __name__ != '__main__':\n    import changes"])
def test_what_is_not_imported_changes_nothing(by: str, tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(NET)
    (tmp_path / "changes.py").write_text(CHANGES["an attribute of a class"])
    main = tmp_path / "main.py"
    main.write_text(f"import torch\n{by}\nfrom net import Net\nmodel = Net()\nmodel(torch.zeros(1, 3, 8, 8))\n")
    assert parameters(main) == 24 * 28
