"""The protocol: what an editor sends, and what it is answered. What there is to say comes from the analyst."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer

import flake8_cnnmem
from flake8_cnnmem.hints import FileHints, Hint, Span, Told
from flake8_cnnmem.lazy_dataclass import dataclass
from flake8_cnnmem.lsp.analyst import Analyst, Answer
from flake8_cnnmem.lsp.positions import Positions, diagnostics, plain
from flake8_cnnmem.lsp.project import BadSettings, Project

if TYPE_CHECKING:
    from flake8_cnnmem.fixes import Fix

WATCHED = ("**/*.py", "**/*.{yaml,yml,json,toml,cfg,ini}", "**/.flake8")
"""Files whose change on the disk may change what an open file's models are."""


PATIENCE = 0.12
"""Seconds behind a keystroke until what has not changed is shown as it was: the rest follows when it is known."""


@dataclass(slots=True)
class OpenDocument:
    """An open document. `version` counts its texts here."""

    uri: str
    version: int = 0
    client_version: int | None = None
    """The editor's own number of the text."""
    changed: float = 0.0
    """When its text came, on the clock that only goes forward."""
    answer: Answer | None = None
    owing: bool = False
    """Whether the editor has been shown what was known before, and is to ask again."""
    waiting: list[asyncio.Future[Answer]] = field(default_factory=list)


class Server(LanguageServer):
    """One editor, one project: that in the folder which the editor names first."""

    def __init__(self, project: Project) -> None:
        super().__init__("cnnmem", flake8_cnnmem.__version__)
        self.project = project
        self.documents: dict[str, OpenDocument] = {}
        """By the path that the analyst knows."""
        self.analyst = Analyst(project, self.from_analyst)
        self.loop: asyncio.AbstractEventLoop | None = None
        self.told: set[str] = set()

    # Texts

    def take(self, uri: str) -> None:
        """A document has another text."""
        found = self.workspace.get_text_document(uri)
        path = path_of(uri)
        self.loop = self.loop or asyncio.get_running_loop()
        analysed = found.language_id == "python" or path.endswith(".py")
        document = self.documents.setdefault(path, OpenDocument(uri))
        document.version += 1
        document.changed = time.monotonic()
        document.client_version = found.version
        self.analyst.change(path, plain(found.source), document.version, analysed)

    def close(self, uri: str) -> None:
        path = path_of(uri)
        document = self.documents.pop(path, None)
        for waiter in document.waiting if document is not None else ():
            waiter.cancel()
        self.analyst.close(path)
        self.publish(uri, Answer(0, "", FileHints(path)))

    # Answers

    def from_analyst(self, path: str, answer: Answer, behind: bool) -> None:
        if self.loop is not None:
            self.loop.call_soon_threadsafe(self.deliver, path, answer, behind)

    def deliver(self, path: str, answer: Answer, behind: bool) -> None:
        document = self.documents.get(path)
        if document is None or answer.version != document.version:
            return
        document.answer = answer
        waiting, document.waiting = document.waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(answer)
        self.publish(document.uri, answer, document.client_version)
        if answer.problem:
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, answer.problem))
        if behind or document.owing:
            # Nobody has asked since the other file changed, or who asked was shown something else.
            document.owing = False
            self.refresh()

    def publish(self, uri: str, answer: Answer, version: int | None = None) -> None:
        found = diagnostics(answer.findings, answer.text, self.workspace.position_codec)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def refreshes(self, what: Literal["inlay_hint", "code_lens"]) -> bool:
        """Whether the editor asks again when it is told to."""
        shown = getattr(self.client_capabilities.workspace, what, None)
        return shown is not None and bool(shown.refresh_support)

    def refresh(self) -> None:
        if self.refreshes("inlay_hint"):
            self.workspace_inlay_hint_refresh(None)
        if self.refreshes("code_lens"):
            self.workspace_code_lens_refresh(None)

    async def current(self, uri: str) -> Answer | None:
        """The answer to the text as it is, waited for; None for what is not analysed."""
        path = path_of(uri)
        document = self.documents.get(path)
        if document is None or path in self.analyst.others:
            return None
        if document.answer is not None and document.answer.version == document.version:
            return document.answer
        waiter: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        document.waiting.append(waiter)
        return await waiter

    async def soon(self, uri: str, what: Literal["inlay_hint", "code_lens"]) -> Answer | None:
        """The answer to the text as it is if there is one soon; else what was known, where the text is the same, for an
        editor that asks again when there is more."""
        asked = asyncio.ensure_future(self.current(uri))
        document = self.documents.get(path_of(uri))
        if document is None or not self.refreshes(what):
            return await asked
        done, _ = await asyncio.wait([asked], timeout=max(0.0, document.changed + PATIENCE - time.monotonic()))
        known = None if done else self.analyst.known(path_of(uri))
        if known is None:
            return await asked
        asked.cancel()
        document.owing = True
        return known

    def positions(self, answer: Answer) -> Positions:
        return Positions(answer.text, self.workspace.position_codec)

    # Settings

    def configure(self, options: Any) -> None:
        """Options that the editor sets: an object by their names, or one below "cnnmem"."""
        found = options.get("cnnmem", options) if isinstance(options, Mapping) else None
        if not isinstance(found, Mapping):
            return
        try:
            self.project.configure(found)
        except BadSettings as error:
            self.tell(str(error))

    def tell(self, message: str) -> None:
        """Show a message, once."""
        if message not in self.told:
            self.told.add(message)
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"cnnmem: {message}"))


def path_of(uri: str) -> str:
    """The path of a file; of what has none yet a name for it."""
    path = uris.to_fs_path(uri) if uri.startswith("file:") else None
    return os.path.abspath(path) if path else f"{uri.rpartition(':')[2].replace('/', '_')}.py"


def serve(project: Project) -> None:
    """Serve the editor on standard input and output until it says goodbye."""
    logging.getLogger("pygls").setLevel(logging.ERROR)
    server = server_for(project)
    # The streams are closed at the end; and nothing that is printed on the way may come between messages.
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            server.start_io(os.fdopen(os.dup(sys.stdin.fileno()), "rb"), messages)
    finally:
        server.analyst.end()


def server_for(project: Project) -> Server:
    """The server with all that it understands."""
    server = Server(project)

    @server.feature(types.INITIALIZE)
    def initialize(ls: Server, params: types.InitializeParams) -> None:
        folders = params.workspace_folders or []
        root = uris.to_fs_path(folders[0].uri if folders else params.root_uri or "") or params.root_path
        if root and os.path.isdir(root):
            # Configuration, imports and the paths in messages are those of `cnnmem check` in the project's root.
            os.chdir(root)
        ls.configure(params.initialization_options)

    @server.feature(types.INITIALIZED)
    def initialized(ls: Server, params: types.InitializedParams) -> None:
        abilities = ls.client_capabilities.workspace
        watching = abilities.did_change_watched_files if abilities is not None else None
        if watching is not None and watching.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            ls.client_register_capability(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.take(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.take(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.close(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def files_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        ls.analyst.again()

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    async def configured(ls: Server, params: types.DidChangeConfigurationParams) -> None:
        ls.configure(params.settings)
        ls.analyst.again()

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    async def inlay_hints(ls: Server, params: types.InlayHintParams) -> list[types.InlayHint]:
        answer = await ls.soon(params.text_document.uri, "inlay_hint")
        if answer is None:
            return []
        positions = ls.positions(answer)
        first, last = params.range.start.line + 1, params.range.end.line + 1
        return [inlay_hint(hint, positions) for hint in answer.hints.hints if first <= hint.span.end_line <= last]

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:
        answer = await ls.current(params.text_document.uri)
        if answer is None:
            return None
        positions = ls.positions(answer)
        told = answer.hints.at(*positions.back(params.position))
        return None if told is None else types.Hover(markdown(told), positions.range(told.span))

    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    async def code_lens(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        answer = await ls.soon(params.text_document.uri, "code_lens")
        if answer is None:
            return []
        positions = ls.positions(answer)
        return [
            types.CodeLens(positions.range(Span(lens.line, 0, lens.line, 0)), types.Command(lens.text, ""))
            for lens in answer.hints.lenses
        ]

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
    )
    async def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        answer = await ls.current(params.text_document.uri)
        if answer is None:
            return []
        positions, found = ls.positions(answer), []
        first, last = params.range.start.line + 1, params.range.end.line + 1
        for line in dict.fromkeys(finding.line for finding in answer.findings if first <= finding.line <= last):
            fixes = await asyncio.wrap_future(ls.analyst.fixes(path_of(params.text_document.uri), line))
            found += [code_action(fix, params.text_document.uri, positions, params.context) for fix in fixes]
        return found

    return server


def inlay_hint(hint: Hint, positions: Positions) -> types.InlayHint:
    place = positions.to(hint.span.end_line, hint.span.end_column)
    return types.InlayHint(place, hint.text, types.InlayHintKind.Type, tooltip=hint.detail, padding_left=True)


def markdown(told: Told) -> types.MarkupContent:
    value = f"```python\n{told.value}\n```\n" if told.value else ""
    return types.MarkupContent(types.MarkupKind.Markdown, value + "\n\n".join(told.lines))


def code_action(fix: Fix, uri: str, positions: Positions, context: types.CodeActionContext) -> types.CodeAction:
    edits = [
        types.TextEdit(positions.range(Span(each.line, each.column - 1, each.end_line, each.end_column - 1)), each.text)
        for each in fix.edits
    ]
    mended = [each for each in context.diagnostics if each.code == fix.code and each.range.start.line == fix.line - 1]
    return types.CodeAction(
        f"{fix.title} ({fix.code})",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=mended,
        is_preferred=True,
        edit=types.WorkspaceEdit(changes={uri: edits}),
    )
