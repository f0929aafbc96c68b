"""Claude Code's hooks and status line: they read JSON on stdin and write an answer on stdout.

PreCompact's stdout becomes additional instructions for the summariser; SessionStart and UserPromptSubmit add a context
to the next request. The answer is empty if there is nothing worth its tokens.
"""

from __future__ import annotations

from webapp.agents.hook_runtime import hints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BAR = 10
CELLS = "▏▎▍▌▋▊▉█"
# More tokens than any context has; a larger number is damage.
MOST_TOKENS = 10**12


def hook(payload: dict[str, Any]) -> str:
    """Return the text that a hook writes on stdout; "" for nothing."""
    session, event = str(payload.get("session_id", "")), payload.get("hook_event_name")
    hint = hints.read(session, hints.HINT)
    if event == "PreCompact":
        return hints.text(hint, "survive")
    if event == "SessionStart":
        return hints.context(event, hints.text(hint, "lost")) if payload.get("source") == "compact" else ""
    if event == "UserPromptSubmit":
        return hints.context(event, hints.warning(session, hint))
    return ""


def status_line(payload: dict[str, Any]) -> str:
    """Return the line: utilization with a bar, trend, and the saving of a prune if the server's hint has one."""
    session = str(payload.get("session_id", ""))
    window = _object(payload.get("context_window"))
    usage = _object(window.get("current_usage"))
    size = _count(window.get("context_window_size"))
    tokens = sum(_count(usage.get(key)) for key in _INPUT)
    if not size or not tokens:
        return ""
    percent = 100 * tokens / size
    if tokens < size:
        percent = min(99, percent)  # only a full one is 100 % full
    parts = [f"{_bar(tokens / size)} {percent:.0f} %", f"{_short(tokens)} of {_short(size)}"]
    if trend := _trend(session, tokens):
        parts.append(trend)
    pays = _count(hints.read(session, hints.HINT).get("prune_pays"))
    if pays:
        parts.append(f"prune pays: {_short(pays)}")
    return " · ".join(parts)


_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _trend(session: str, tokens: int) -> str:
    """Return the change in tokens by the last call that changed the context; it is stored between calls."""
    state = hints.read(session, hints.STATE)
    before, last = _count(state.get("tokens_before")), _count(state.get("tokens"))
    if tokens != last:
        before = last
        hints.write(session, hints.STATE, {**state, "tokens": tokens, "tokens_before": before})
    if not before or tokens == before:
        return ""
    return f"{'↑' if tokens > before else '↓'} {_short(abs(tokens - before))}"


def _bar(share: float) -> str:
    """Return a bar of `BAR` cells, filled by eighths; only a full context fills it."""
    eighths = max(0, min(8 * BAR - (share < 1), round(8 * BAR * share)))
    full, rest = divmod(eighths, 8)
    return ("█" * full + (CELLS[rest - 1] if rest else "")).ljust(BAR, "░")


def _short(tokens: int) -> str:
    """Return tokens in at most four characters: 950, 4.2k, 62k, 1.2M."""
    if tokens < 1_000:
        return str(tokens)
    unit, value = ("M", tokens / 1_000_000) if tokens >= 999_500 else ("k", tokens / 1_000)
    text = f"{value:.1f}" if value < 9.95 else f"{value:.0f}"
    return text.removesuffix(".0") + unit


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 < value <= MOST_TOKENS else 0
