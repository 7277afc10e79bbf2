"""The text of a prompt, made from its content blocks. Pure.

Source: https://agentclientprotocol.com/protocol/content
"""

from collections.abc import Mapping
from typing import Any

from uwf_agent_acp.protocol.errors import INVALID_PARAMS, RpcError


def text_of_blocks(blocks: Any) -> str:
    """One text: the texts as they are, links as links, and embedded files in fences.

    Raises:
        RpcError: a block is of a kind that uwf does not announce, or nothing is said.
    """
    if not isinstance(blocks, list):
        raise RpcError(INVALID_PARAMS, "`prompt` is not a list of content blocks")
    text = "".join(_text(block) for block in blocks)
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be stored
    if not text.strip():
        raise RpcError(INVALID_PARAMS, "the prompt is blank")
    return text


def _text(block: Any) -> str:
    kind = block.get("type") if isinstance(block, Mapping) else None
    match kind:
        case "text" if isinstance(block.get("text"), str):
            return str(block["text"])
        case "resource_link" if isinstance(block.get("uri"), str):
            return f"[{block.get('name') or block['uri']}]({block['uri']})"
        case "resource" if isinstance(block.get("resource"), Mapping):
            return _embedded(block["resource"])
    raise RpcError(
        INVALID_PARAMS, f"uwf takes text, links and embedded text files, not a block {kind!r:.100}"
    )


def _embedded(resource: Mapping[str, Any]) -> str:
    text, uri = resource.get("text"), resource.get("uri", "")
    if not isinstance(text, str):
        raise RpcError(INVALID_PARAMS, f"the embedded file {uri!r:.200} is not text")
    fence = "```"
    while fence in text:
        fence += "`"
    return f"\n\n{uri}\n{fence}\n{text}\n{fence}\n"
