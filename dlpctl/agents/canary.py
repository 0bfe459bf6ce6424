"""Events with made-up secrets, one for each agent: the answer to such an event shows whether the
hook works.
"""

from __future__ import annotations

import secrets
import string
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_SESSION = "dlpctl-doctor"


def canary_event(agent: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return a made-up secret and an event of the agent that contains it."""
    letters = string.ascii_letters + string.digits
    value = "ghp_" + "".join(secrets.choice(letters) for _ in range(30))
    value += _checksum(value[4:])
    text = f"The token of the build is {value}"
    where = str(folder)
    events: dict[str, dict[str, Any]] = {
        "claude-code": {
            "hook_event_name": "UserPromptSubmit",
            "session_id": _SESSION,
            "transcript_path": "",
            "cwd": where,
            "prompt": text,
        },
        "copilot": {
            "sessionId": _SESSION,
            "timestamp": 0,
            "cwd": where,
            "prompt": text,
            "transformedPrompt": text,
        },
        "cursor": {
            "hook_event_name": "beforeSubmitPrompt",
            "conversation_id": _SESSION,
            "cursor_version": "0",
            "workspace_roots": [where],
            "prompt": text,
        },
        "gemini": {
            "hook_event_name": "BeforeAgent",
            "session_id": _SESSION,
            "transcript_path": "",
            "timestamp": "",
            "cwd": where,
            "prompt": text,
        },
        "opencode": {
            "dlpctl_agent": "opencode",
            "event": "prompt",
            "session": _SESSION,
            "cwd": where,
            "content": text,
        },
        "windsurf": {
            "agent_action_name": "pre_user_prompt",
            "trajectory_id": _SESSION,
            "tool_info": {"user_prompt": text, "cwd": where},
        },
    }
    events["codex"] = events["claude-code"] | {"turn_id": "0", "model": ""}
    return value, events[agent]


def _checksum(random: str) -> str:
    """Return the last six characters of a GitHub token: the CRC-32 of the others in base 62."""
    import zlib

    number = zlib.crc32(random.encode())
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase
    written = ""
    for _ in range(6):
        number, rest = divmod(number, 62)
        written = digits[rest] + written
    return written
