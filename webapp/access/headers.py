"""The headers that tell a browser what a page, or any other answer, may do."""

from __future__ import annotations

# The policy of everything that is not a page. It goes with each of a page's files, so it is short.
NO_PAGE_POLICY = "default-src 'none'; frame-ancestors 'none'"

SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",  # our own files, which are not private, have their own
}
# Those that only a page needs.
PAGE_HEADERS = {
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def content_policy(nonce: str, host: str) -> str:
    """Return the Content-Security-Policy of a page: our own files, the one inline import map that bears `nonce`.

    `host` is the checked `Host` header; older browsers do not take 'self' to cover websockets.
    """
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'nonce-{nonce}'",
            f"style-src 'self' 'nonce-{nonce}'",
            "img-src 'self' data:",
            f"connect-src 'self' ws://{host} wss://{host}",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )
