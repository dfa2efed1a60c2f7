"""A client of the language server over pipes: the protocol itself, without a library in between."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

PATIENCE = 60
"""Seconds: the first analysis of a process loads frameworks, on a machine that may be busy."""


class Client:
    """An editor with one folder open; files are named from `root`, which may be a folder in it."""

    def __init__(
        self, root: Path, *arguments: str, options: Mapping[str, object] | None = None, encodings: Sequence[str] = ()
    ) -> None:
        self.project = self.root = root
        self.numbers = itertools.count(1)
        self.gathers = False
        self.versions: dict[str, int] = {}
        self.answers: dict[int, queue.Queue[dict[str, Any]]] = {}
        self.diagnostics: queue.Queue[dict[str, Any]] = queue.Queue()
        self.notices: queue.Queue[dict[str, Any]] = queue.Queue()
        """All other notifications and requests of the server."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "flake8_cnnmem", "lsp", "--stdio", *arguments],
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=2**20,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        workspace = {"inlayHint": {"refreshSupport": True}, "codeLens": {"refreshSupport": True}}
        self.abilities = self.ask(
            "initialize",
            processId=None,
            rootUri=root.as_uri(),
            workspaceFolders=[{"uri": root.as_uri(), "name": "project"}],
            capabilities={"workspace": workspace, "general": {"positionEncodings": list(encodings) or ["utf-16"]}},
            initializationOptions=options or {},
        )["capabilities"]
        self.tell("initialized")

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None and kind is None:
            self.ask("shutdown")
            self.tell("exit")
            assert self.process.wait(PATIENCE) == 0
        self.process.kill()
        self.process.wait()
        self.reader.join()
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()

    # The protocol

    def send(self, message: Mapping[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        if not self.gathers:
            self.process.stdin.flush()

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """What is sent meanwhile reaches the server at its end, however slow this process is."""
        assert self.process.stdin is not None
        self.gathers = True
        yield
        self.gathers = False
        self.process.stdin.flush()

    def read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while header := stream.readline():
            size = 0
            while header.strip():
                name, _, value = header.partition(b":")
                size = int(value) if name.lower() == b"content-length" else size
                header = stream.readline()
            message = json.loads(stream.read(size))
            if "method" not in message:
                self.answers[message["id"]].put(message)
            elif message["method"] == "textDocument/publishDiagnostics":
                self.diagnostics.put(message["params"])
            else:
                self.notices.put(message)
                if "id" in message:
                    self.send({"id": message["id"], "result": None})

    def begin(self, method: str, **params: Any) -> int:
        number = next(self.numbers)
        self.answers[number] = queue.Queue()
        self.send({"id": number, "method": method, "params": params})
        return number

    def answer(self, number: int) -> dict[str, Any]:
        found = self.answers[number].get(timeout=PATIENCE)
        del self.answers[number]
        return found

    def ask(self, method: str, **params: Any) -> Any:
        answer = self.answer(self.begin(method, **params))
        assert "error" not in answer, answer
        return answer["result"]

    def tell(self, method: str, **params: Any) -> None:
        self.send({"method": method, "params": params})

    # What an editor does

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    def open(self, name: str, text: str, language: str = "python") -> None:
        self.versions[name] = 1
        document = {"uri": self.uri(name), "languageId": language, "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)

    def close(self, name: str) -> None:
        self.tell("textDocument/didClose", textDocument={"uri": self.uri(name)})
        del self.versions[name]

    def change(self, name: str, text: str) -> None:
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[{"text": text}])

    def type(self, name: str, line: int, column: int, text: str) -> None:
        """Type something at a place counted from 0."""
        self.versions[name] += 1
        document = {"uri": self.uri(name), "version": self.versions[name]}
        place = {"line": line, "character": column}
        change = {"range": {"start": place, "end": place}, "text": text}
        self.tell("textDocument/didChange", textDocument=document, contentChanges=[change])

    def hints(self, name: str, lines: int = 10_000) -> list[tuple[int, str]]:
        """The inlay hints: the line counted from 0, and the text."""
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}}
        found = self.ask("textDocument/inlayHint", textDocument={"uri": self.uri(name)}, range=whole)
        return [(hint["position"]["line"], hint["label"]) for hint in found]

    def begin_hover(self, name: str, line: int, column: int) -> int:
        place = {"line": line, "character": column}
        return self.begin("textDocument/hover", textDocument={"uri": self.uri(name)}, position=place)

    def hover(self, name: str, line: int, column: int) -> str:
        answer = self.answer(self.begin_hover(name, line, column))
        assert "error" not in answer, answer
        found = answer["result"]
        return "" if found is None else str(found["contents"]["value"])

    def lenses(self, name: str) -> list[tuple[int, str]]:
        found = self.ask("textDocument/codeLens", textDocument={"uri": self.uri(name)})
        return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]

    def findings(self, name: str) -> list[dict[str, Any]]:
        """The diagnostics of a file's text as it is now."""
        while True:
            found = self.diagnostics.get(timeout=PATIENCE)
            if found["uri"] == self.uri(name) and found.get("version") == self.versions.get(name):
                return list(found["diagnostics"])
