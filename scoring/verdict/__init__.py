"""The verdict on a session: one sentence and one action, with its cost compared to the session's own pace."""

from scoring.verdict.verdict import (
    Action,
    Activity,
    Clearing,
    Kind,
    Price,
    SessionFacts,
    Verdict,
    price_needed,
    verdict_of,
)

__all__ = [
    "Action",
    "Activity",
    "Clearing",
    "Kind",
    "Price",
    "SessionFacts",
    "Verdict",
    "price_needed",
    "verdict_of",
]
