"""The MCP server of dlpctl: tools that check, mask, scan and explain texts on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dlpctl.cli.session import Session
from dlpctl.errors import UsageError
from dlpctl.version import __version__

_MISSING = "the MCP server needs the package mcp 2: install dlpctl with its extra, dlpctl[mcp]"


def serve(vault: Path | None, *, allow_unmask: bool) -> None:
    """Serve over stdio until the client ends."""
    build(Session.start(), vault, allow_unmask=allow_unmask).run("stdio")


def build(session: Session, vault: Path | None, *, allow_unmask: bool) -> Any:
    """Return the server; raise `UsageError` if the SDK is missing."""
    try:
        from mcp.server import MCPServer
        from mcp.types import ToolAnnotations
    except ImportError:
        raise UsageError(_MISSING) from None
    if allow_unmask and vault is None:
        raise UsageError("--allow-unmask needs a vault to unmask from: pass --vault FILE")
    server = MCPServer("dlpctl", version=__version__, log_level="WARNING")
    local = ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    store = None if vault is None else session.vault(vault, create=True)

    def check(text: str, destination: str = "AI_TOOL") -> dict[str, Any]:
        """Decide by the policy whether a text may go to AI_TOOL, VENDOR or CUSTOMER."""
        return session.checker(destination, None).check(text).to_dict()

    def mask(text: str, destination: str = "AI_TOOL") -> str:
        """Mask what the policy masks or blocks."""
        from dlpctl.cli.session import open_masker

        operator = None if store is None else "token"
        checker = session.checker(destination, None, operator, for_mask=True)
        with open_masker(store, checker) as masker:
            return checker.mask(text, masker)

    def scan(text: str) -> list[dict[str, Any]]:
        """List the sensitive values in a text: positions, types and masked samples."""
        return _explained(session, text, 0)

    def explain(text: str) -> list[dict[str, Any]]:
        """Explain the score of each finding in a text, and why near misses were rejected."""
        return _explained(session, text, 5)

    def unmask(text: str) -> str:
        """Replace the tokens of masked values by the values."""
        from dlpctl.masking.unmask import unmask

        assert store is not None
        store.refresh()
        return unmask(text, store)

    for tool in (check, mask, scan, explain, *((unmask,) if allow_unmask else ())):
        server.tool(annotations=local)(tool)
    return server


def _explained(session: Session, text: str, misses: int) -> list[dict[str, Any]]:
    from dlpctl.cli.commands.explain import describe
    from dlpctl.cli.line_index import LineIndex
    from dlpctl.detect.explain import explain

    detector = session.detector()
    found = explain(detector, text, session.config.min_score, set(), misses)
    lines = LineIndex(text)
    return [describe(each, text, lines) for each in (*found.counts, *found.misses)]
