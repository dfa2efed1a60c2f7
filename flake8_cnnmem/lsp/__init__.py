"""The language server: what an editor shows of a file that is being written. Needs the extra `lsp`.

`analyst` works in a thread of its own and knows nothing of the protocol; `server` is the protocol alone.
"""
