"""Keys of a request's messages: the proxy and the server know a message by the same one, and an edit script names it.

A key is a hash over everything up to the message, so that it is valid for this history alone. Cache markers
and thoughts are left out: clients move the markers and drop the thoughts between calls. A model's answer is
identified by the message that it answers, because a client may send an answer back in a different form of the
same format. System messages at the beginning are the prompt, which some formats have beside the list: some clients
write the time into it, with each call. They have no key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from scoring.formats.blocks import BOUND_THOUGHTS

# A model's thoughts in a chat completion, as text: DeepSeek's and Moonshot's name, and that of vLLM and OpenRouter.
CHAT_THOUGHTS = ("reasoning_content", "reasoning")
_THOUGHT_FIELDS = (*CHAT_THOUGHTS, "reasoning_details")
ANSWERED = ">"
PROMPT_ROLES = ("system", "developer")
NO_KEY = ""
# An answer that was repeated, or came back in another form, is stored under its key with this and a number behind it.
AGAIN = "~"
CACHE_MARK = "cache_control"
# Fields of a message that do not identify it: providers add the last two, and clients keep or leave them out.
_LEFT_OUT = (CACHE_MARK, *_THOUGHT_FIELDS, "id", "status")
_TEXTS = ("input_text", "output_text")
_REFERENCE = "item_reference"
# The item by which a call of Responses asks for a compaction.
TRIGGER: Mapping[str, Any] = {"type": "compaction_trigger"}
# The first part of an item's id at OpenAI -> the kind of the item.
_KINDS_OF_IDS = {
    "rs": "reasoning",
    "msg": "assistant",
    "fc": "function_call",
    "ctc": "custom_tool_call",
    "ws": "web_search_call",
    "fs": "file_search_call",
    "ci": "code_interpreter_call",
    "ig": "image_generation_call",
    "mcp": "mcp_call",
    "mcpl": "mcp_list_tools",
    "cmp": "compaction",
}
_BYTES = 12


@dataclass(frozen=True, slots=True)
class Protocol:
    """A call whose body holds a conversation: its wire format, the end of its path, the name of its list.

    The answer to one that `compacts` stands for the whole conversation.
    """

    format: str
    provider: Literal["openai", "anthropic"]
    end: str
    list_name: str
    compacts: bool = False


PROTOCOLS = (
    Protocol("anthropic", "anthropic", "/v1/messages", "messages"),
    Protocol("openai", "openai", "/chat/completions", "messages"),
    Protocol("responses", "openai", "/responses", "input"),
    Protocol("responses", "openai", "/responses/compact", "input", compacts=True),
)


def protocol_of(provider: str, path: str) -> Protocol | None:
    """Return the protocol of a call by its path, without its query; None for any other call.

    Providers with OpenAI's API have it below many paths: /v1, /v4, /v1beta/openai, /openai/deployments/NAME.
    """
    return next((one for one in PROTOCOLS if one.provider == provider and path.endswith(one.end)), None)


def followed_answer(format: str, fields: Mapping[str, Any]) -> str:
    """Return the id of the answer that a call of new messages alone follows, "" for a call with the whole history.

    OpenAI's Responses name it in `previous_response_id`; Anthropic's `thread` does if the call continues one.
    """
    thread = fields.get("thread") if format == "anthropic" else None
    found = thread.get("previous_message_id") if isinstance(thread, Mapping) else None
    if format == "responses":
        found = fields.get("previous_response_id")
    return found if isinstance(found, str) else ""


def keys_of(items: Sequence[Any], known: Sequence[str] = ()) -> list[str]:
    """Return the keys of a request's messages or items, in order; `known` are those of the first messages.

    Raises:
        ValueError: one is nested too deeply.
    """
    # The chain goes on from a message that is no answer: its key is the whole state.
    keys = list(known[: next((i + 1 for i in reversed(range(len(known))) if ANSWERED not in known[i]), 0)])
    prompts = prompts_of(items)
    if keys.count(NO_KEY) != prompts:  # these were the whole list
        keys = [NO_KEY] * prompts
    asked = keys[-1] if keys else ""
    chain, answers = bytes.fromhex(asked), dict[str, int]()
    for item in items[len(keys) :]:
        kind = answer_kind(item)
        if kind != "reasoning":
            chain = hashlib.blake2b(chain + _written(_essence(item)), digest_size=_BYTES).digest()
        if kind is None:
            asked, answers = chain.hex(), {}
            keys.append(asked)
        else:
            number = answers[kind] = answers.get(kind, 0) + 1
            keys.append(f"{asked}{ANSWERED}{kind}{'' if number == 1 else number}")
    return keys


def prompts_of(items: Sequence[Any]) -> int:
    """Return the number of system messages at the beginning of a list; 0 if the list has no others."""
    roles = (item.get("role") if isinstance(item, dict) else None for item in items)
    return next((i for i, role in enumerate(roles) if role not in PROMPT_ROLES), 0)


def without_repetition(name: str | None) -> str:
    """Return the key in the name under which a message is stored; "" for None."""
    return (name or "").partition(AGAIN)[0]


def _written(value: Any) -> bytes:
    """Return a value as bytes, the same in proxy and server.

    They read numbers beyond 64 bits and halves of characters in different ways.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        try:
            text = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
            plain = orjson.loads(text.decode("utf-16", "replace"))
            return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
        except (TypeError, ValueError, RecursionError):
            raise ValueError("a message is nested too deeply") from None


# The ends of the types of items that are sent to a model, although they have no role.
_PROGRAM_OUTPUT = "program_output"  # the provider runs the program
_SENT = ("_output", "_response", "configuration_update", TRIGGER["type"])


def answer_kind(item: Any) -> str | None:
    """Return the kind of a message that a model wrote, None for one that was sent to it."""
    if not isinstance(item, dict):
        return None
    role, kind = item.get("role"), item.get("type")
    if role is not None:
        return "assistant" if role == "assistant" else None
    if is_reference(item):
        return _KINDS_OF_IDS.get(item["id"].partition("_")[0], _REFERENCE)
    if isinstance(kind, str) and (kind == _PROGRAM_OUTPUT or not kind.endswith(_SENT)):
        return kind
    return None


def is_reference(item: Any) -> bool:
    """Return whether an item of Responses stands for one that the provider stored: it has the id of that one."""
    if not isinstance(item, dict) or "role" in item or not isinstance(item.get("id"), str):
        return False
    return item.get("type") in (None, _REFERENCE)


def is_compaction(item: Mapping[str, Any]) -> bool:
    """Return whether the provider reads nothing of a conversation that comes before an answer or item."""
    content = item.get("content")
    blocks = [item, *(content if isinstance(content, list) else ())]
    return any(
        isinstance(one, dict)
        and one.get("type") == "compaction"
        and bool(one.get("content") or one.get("encrypted_content"))  # a failed one is empty
        for one in blocks
    )


def _essence(item: Any) -> Any:
    """Return what identifies a message.

    A client that stores items of Responses at the provider reads them from there for the next call, with ids added and
    texts as blocks.
    """
    if not isinstance(item, dict) or is_reference(item):
        return item
    said = {name: value for name, value in item.items() if name not in _LEFT_OUT}
    if said.get("type") == "message":
        del said["type"]
    content = said.get("content")
    if isinstance(content, str):
        said["content"] = [{"type": "text", "text": content}]
    elif isinstance(content, list):
        said["content"] = [_block(one) for one in content if not is_thought(one)]
    return said


def _block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") in _TEXTS:
        return {"type": "text", "text": block.get("text")}
    said = {name: value for name, value in block.items() if name != CACHE_MARK}
    if isinstance(said.get("content"), list):
        said["content"] = [_block(one) for one in said["content"]]
    return said


def is_thought(block: Any) -> bool:
    """Return whether a content block is a model's thought."""
    return isinstance(block, dict) and block.get("type") in BOUND_THOUGHTS
