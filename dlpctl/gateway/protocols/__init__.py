"""The protocols of providers, one module each."""

from __future__ import annotations

from dlpctl.gateway.protocol import Protocol
from dlpctl.gateway.protocols import anthropic, gemini, ollama, openai

PROTOCOLS: dict[str, Protocol] = {
    each.name: each
    for each in (anthropic.PROTOCOL, openai.PROTOCOL, gemini.PROTOCOL, ollama.PROTOCOL)
}
