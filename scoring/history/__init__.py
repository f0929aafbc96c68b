"""History: everything known about the messages of a session, computed once per message."""

from scoring.history.content import Content, Rows, content_of
from scoring.history.content.hashes import line_hash
from scoring.history.content.rows import MARK_CHARS, TAIL, Row, shorten, without_changed
from scoring.history.content.words import UNSPACED
from scoring.history.cues import (
    ABOUT_ONESELF,
    MACHINE_MADE,
    RULE,
    SHORT,
    STATEMENT,
    STRICT,
    Cues,
    Edit,
)
from scoring.history.features import (
    Features,
    analyse,
    argument_values,
    outputs_of,
    rated,
    text_of,
    with_content,
)
from scoring.history.history import History, counter_of, reads_content, reads_keywords, reads_traces
from scoring.history.mentions import Mentions
from scoring.history.task_recognition import Facts, names_file, recognise, settings_for, task_type_of
from scoring.history.tool_traces import FAILED, READ, WRITE, Touch, output_lines, read_output, touches_of

__all__ = [
    "ABOUT_ONESELF",
    "FAILED",
    "MACHINE_MADE",
    "MARK_CHARS",
    "READ",
    "RULE",
    "SHORT",
    "STATEMENT",
    "STRICT",
    "TAIL",
    "UNSPACED",
    "WRITE",
    "Content",
    "Cues",
    "Edit",
    "Facts",
    "Features",
    "History",
    "Mentions",
    "Row",
    "Rows",
    "Touch",
    "analyse",
    "argument_values",
    "content_of",
    "counter_of",
    "line_hash",
    "names_file",
    "output_lines",
    "outputs_of",
    "rated",
    "read_output",
    "reads_content",
    "reads_keywords",
    "reads_traces",
    "recognise",
    "settings_for",
    "shorten",
    "task_type_of",
    "text_of",
    "touches_of",
    "with_content",
    "without_changed",
]
