"""The language server as an editor meets it: the real command, the protocol over pipes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from flake8_cnnmem.hints import FileHints
from flake8_cnnmem.lsp.analyst import Answer
from flake8_cnnmem.lsp.project import Project
from flake8_cnnmem.lsp.server import PATIENCE, OpenDocument, server_for
from flake8_cnnmem.settings.options import Settings
from tests.lsp.client import Client

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures" / "editor"
UNET = (FIXTURES / "unet.py").read_text()

NET = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.fc = nn.Linear(8 * 30 * 30, 10)

    def forward(self, x):
        x = self.conv(x)
        x = x.view(x.size(0), -1)
        return self.fc(x)


net = Net()
net(torch.randn(4, 3, 32, 32))
"""


@pytest.fixture(autouse=True)
def no_strictness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CNNMEM_STRICT", raising=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server without options, for the tests that ask no more of it: an editor has many files open."""
    with Client(tmp_path_factory.mktemp("project")) as client:
        yield client


@pytest.fixture
def client(server: Client) -> Iterator[Client]:
    """That server, with a folder of the test's own."""
    server.root = Path(mkdtemp(dir=server.project))
    yield server
    for name in [*server.versions]:
        server.close(name)


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n")) if part in line)


def waited_for(found: Callable[[], bool], patience: float = 60) -> bool:
    """Whether something comes true in time: of what the server does by itself, nobody is told that it is done."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if found():
            return True
        time.sleep(0.1)
    return False


def test_hints_hover_and_lens_of_a_unet(tmp_path: Path) -> None:
    with Client(tmp_path, "--gpu-limit", "T4") as client:
        client.open("unet.py", UNET)
        hints = dict(client.hints("unet.py"))
        assert hints[line_of(UNET, "self.grow = ")] == "172,256 parameters in 3 layers"
        assert hints[line_of(UNET, "return self.last(x)")].startswith("(N, 2, 100, 100)")
        hover = client.hover("unet.py", line_of(UNET, "x = self.grow(x)"), 18)
        assert "(N, 128, 24, 24)\n(N, 64, 50, 50)\n(N, 32, 100, 100)" in hover
        hover = client.hover("unet.py", line_of(UNET, "return self.conv(torch.cat"), 22)
        assert "for the backward pass at batch 8" in hover
        lenses = dict(client.lenses("unet.py"))
        loop = lenses[line_of(UNET, "for images, masks in loader")]
        assert loop.startswith("UNet: needs ")
        assert "within the 15.0 GiB limit (T4), fits up to batch " in loop
        assert line_of(UNET, "class UNet") in lenses


def test_hints_come_for_the_lines_that_are_asked_for(client: Client) -> None:
    client.open("net.py", NET)
    assert {line for line, _ in client.hints("net.py")} == {7, 8, 11, 12, 13, 16}
    assert {line for line, _ in client.hints("net.py", lines=8)} == {7, 8}


def test_a_bug_is_found_while_it_is_typed_and_its_fix_is_offered(client: Client) -> None:
    wrong = NET.replace("8 * 30 * 30", "8 * 28 * 28")
    client.open("net.py", wrong)
    [found] = client.findings("net.py")
    assert found["code"] == "CNM201"
    assert found["message"].startswith("fc takes 6272 features, but is given 7200")
    assert found["range"]["start"] == {"line": 8, "character": 18}
    assert found["range"]["end"] == {"line": 8, "character": 44}
    [action] = client.ask(
        "textDocument/codeAction",
        textDocument={"uri": client.uri("net.py")},
        range=found["range"],
        context={"diagnostics": [found]},
    )
    assert action["kind"] == "quickfix"
    [[edit]] = action["edit"]["changes"].values()
    assert edit["newText"] == "8 * 30 * 30"
    assert edit["range"]["start"] == {"line": 8, "character": 28}
    client.change("net.py", NET)
    assert client.findings("net.py") == []


def test_half_typed_text_keeps_what_is_known_of_the_other_lines(client: Client) -> None:
    client.open("net.py", NET)
    before = dict(client.hints("net.py"))
    lines = NET.split("\n")
    lines.insert(12, "        x = (x +")
    client.change("net.py", "\n".join(lines))
    after = dict(client.hints("net.py"))
    assert after == {line + (line >= 12): text for line, text in before.items()}
    client.change("net.py", "")
    assert client.hints("net.py") == []


def test_half_typed_from_the_start_there_are_no_hints(client: Client) -> None:
    client.open("net.py", NET + "\n)")
    assert client.hints("net.py") == []
    assert client.findings("net.py") == []


def test_the_unsaved_text_of_another_open_file_counts(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("WIDTH = 8\n")
    user = "from sizes import WIDTH\n" + NET.replace("nn.Conv2d(3, 8, 3)", "nn.Conv2d(3, WIDTH, 3)")
    with Client(tmp_path) as client:
        client.open("net.py", user)
        assert client.findings("net.py") == []
        client.open("sizes.py", "WIDTH = 8\n")
        client.change("sizes.py", "WIDTH = 16\n")
        # The open file that imports it is looked at again without being touched.
        found = client.findings("net.py")
        while not found:
            found = client.findings("net.py")
        assert "is given 14400" in found[0]["message"]
        assert waited_for(lambda: not client.notices.empty())
        assert client.notices.get()["method"] == "workspace/inlayHint/refresh"
        assert (tmp_path / "sizes.py").read_text() == "WIDTH = 8\n"


def test_columns_count_as_the_client_counts_them(tmp_path: Path) -> None:
    text = NET.replace("        x = self.conv(x)", '        n = "𝄞é"; x = self.conv(x)')
    for encoding, units in (("utf-16", 3), ("utf-8", 6), ("utf-32", 2)):
        with Client(tmp_path, encodings=[encoding]) as client:
            assert client.abilities["positionEncoding"] == encoding
            client.open("net.py", text)
            whole = {"start": {"line": 11, "character": 0}, "end": {"line": 11, "character": 99}}
            hints = client.ask("textDocument/inlayHint", textDocument={"uri": client.uri("net.py")}, range=whole)
            assert [hint["position"]["character"] for hint in hints] == [
                len('        n = ""; x = self.conv(x)') + units
            ]
            assert "(N, 8, 30, 30)" in client.hover("net.py", 11, len('        n = ""; x = self') + units)


def test_the_project_s_options_and_the_editor_s_over_them(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[flake8]\ncnnmem-gpu-limit = 1MiB\ncnnmem-batch-size = 7\n")
    with Client(tmp_path) as client:
        client.open("net.py", NET)
        [found] = client.findings("net.py")
        assert found["code"] == "CNM101"
        assert "over the 1.0 MiB limit" in found["message"]
    with Client(tmp_path, options={"cnnmem": {"gpu-limit": "2GiB"}}) as client:
        client.open("net.py", NET)
        assert client.findings("net.py") == []
        assert "within the 2.0 GiB limit" in client.lenses("net.py")[0][1]


def test_a_bad_option_is_told_and_the_rest_goes_on(tmp_path: Path) -> None:
    with Client(tmp_path, options={"gpu-limit": "T44"}) as client:
        client.open("net.py", NET)
        assert client.hints("net.py")
        assert waited_for(lambda: not client.notices.empty())
        notice = client.notices.get()
        assert notice["method"] == "window/showMessage"
        assert "gpu-limit" in notice["params"]["message"]


def test_what_is_silenced_is_silent(client: Client) -> None:
    wrong = NET.replace("8 * 30 * 30, 10)", "8 * 28 * 28, 10)  # noqa: CNM201")
    client.open("net.py", wrong)
    assert client.findings("net.py") == []


def test_a_closed_file_is_forgotten(client: Client) -> None:
    client.open("net.py", NET.replace("8 * 30", "9 * 30"))
    assert client.findings("net.py")
    client.close("net.py")
    assert client.findings("net.py") == []
    assert client.hints("net.py") == []


def test_only_the_newest_of_many_texts_is_answered(client: Client) -> None:
    client.open("net.py", NET)
    client.hints("net.py")
    waiting = []
    with client.at_once():
        for width in range(9, 40):
            client.change("net.py", NET.replace("nn.Conv2d(3, 8, 3)", f"nn.Conv2d(3, {width}, 3)"))
            uri = {"uri": client.uri("net.py")}
            whole = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
            waiting.append(client.begin("textDocument/inlayHint", textDocument=uri, range=whole))
    shown = [[hint["label"] for hint in client.answer(number)["result"]] for number in waiting]
    # Who has waited long enough is given what is known so far, and is told to ask again.
    assert waited_for(lambda: any(label.startswith("(N, 39, 30, 30)") for _, label in client.hints("net.py")))
    # All who have waited are given the newest answer: what lies between was never worked out.
    assert len({tuple(labels) for labels in shown}) < 5


def test_odd_texts_do_no_harm(client: Client) -> None:
    for number, text in enumerate(["", "\n", "import torch\n" * 3, "\x00", "def f(:\n  torch", "x = '𝄞\n# torch"]):
        name = f"net{number}.py"
        client.open(name, text)
        assert client.hints(name) == []
        assert client.hover(name, 0, 0) == ""
        client.change(name, NET)
        assert client.hints(name)


def test_other_languages_are_left_alone(client: Client) -> None:
    client.open("notes.md", "torch", language="markdown")
    assert client.hints("notes.md") == []


def test_without_the_extra_the_command_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    from flake8_cnnmem.cli import main

    for name in [name for name in sys.modules if name.partition(".")[0] in ("pygls", "lsprotocol")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "flake8_cnnmem.lsp.server", raising=False)
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    assert main(["lsp"]) == 2
    assert "pip install 'flake8-cnnmem[lsp]'" in capsys.readouterr().err


def test_what_has_not_changed_is_shown_before_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the work on a text takes longer than anybody waits, hints are those of the last text, and the editor is
    told to ask again when there is more."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "net.py"
    uri = path.as_uri()
    serving = server_for(Project(lambda options: None, Settings, lambda source, report, settings: ()))
    told: list[str] = []
    monkeypatch.setattr(serving, "refreshes", lambda what: True)
    monkeypatch.setattr(serving, "refresh", lambda: told.append("again"))
    monkeypatch.setattr(serving, "publish", lambda *arguments: None)
    old, new = Answer(1, NET, FileHints("net.py")), Answer(2, NET, FileHints("net.py"))
    monkeypatch.setattr(serving.analyst, "known", lambda path: old)

    async def typed() -> None:
        document = serving.documents[str(path)] = OpenDocument(uri, version=2, changed=time.monotonic())
        assert await serving.soon(uri, "inlay_hint") is old
        assert time.monotonic() - document.changed >= PATIENCE
        assert told == []
        serving.deliver(str(path), new, False)
        assert told == ["again"]
        assert await serving.soon(uri, "inlay_hint") is new
        serving.deliver(str(path), new, False)
        assert told == ["again"]
        # An editor that does not ask again waits.
        document.version = 3
        monkeypatch.setattr(serving, "refreshes", lambda what: False)
        waiting = asyncio.ensure_future(serving.soon(uri, "inlay_hint"))
        await asyncio.sleep(2 * PATIENCE)
        assert not waiting.done()
        last = Answer(3, NET, FileHints("net.py"))
        serving.deliver(str(path), last, False)
        assert await waiting is last

    try:
        asyncio.run(typed())
    finally:
        serving.analyst.end()
