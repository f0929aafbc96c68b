"""The content of one message: its names, text lines and stems, and the rows of its outputs."""

from scoring.history.content.content import READ_CHARS, VERSION, Content, Rows, Stems, clipped, content_of

__all__ = ["READ_CHARS", "VERSION", "Content", "Rows", "Stems", "clipped", "content_of"]
