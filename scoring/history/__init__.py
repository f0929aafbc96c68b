"""History: everything known about the messages of a session, computed once per message."""

from scoring.history.content import Content, Rows, content_of
from scoring.history.content.hashes import line_hash
from scoring.history.content.key_lines import error_lines
from scoring.history.content.rows import MARK_CHARS, TAIL, Row, shorten, without_changed
from scoring.history.content.words import UNSPACED
from scoring.history.cues import (
    ABOUT_ONESELF,
    CORRECTION,
    MACHINE_MADE,
    ORDERED,
    PERMITTING,
    QUESTION,
    REVISING,
    RULE,
    SHORT,
    STATEMENT,
    STRICT,
    Cues,
    Edit,
    is_compacted,
)
from scoring.history.cues.calls import LOOK, PLANS, RUN, CallCue, cue_of_call
from scoring.history.cues.file_names import own_name, own_path, same_files
from scoring.history.cues.places import OTHER_SHELL, UNKNOWN
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
from scoring.history.task_recognition import TaskCounts, names_file, recognise, settings_for, task_type_of
from scoring.history.tool_traces import (
    FAILED,
    MOVE,
    READ,
    WRITE,
    Touch,
    acts_of,
    output_lines,
    read_output,
    touches_in,
)

__all__ = [
    "ABOUT_ONESELF",
    "CORRECTION",
    "FAILED",
    "LOOK",
    "MACHINE_MADE",
    "MARK_CHARS",
    "MOVE",
    "ORDERED",
    "OTHER_SHELL",
    "PERMITTING",
    "PLANS",
    "QUESTION",
    "READ",
    "REVISING",
    "RULE",
    "RUN",
    "SHORT",
    "STATEMENT",
    "STRICT",
    "TAIL",
    "UNKNOWN",
    "UNSPACED",
    "WRITE",
    "CallCue",
    "Content",
    "Cues",
    "Edit",
    "Features",
    "History",
    "Mentions",
    "Row",
    "Rows",
    "TaskCounts",
    "Touch",
    "acts_of",
    "analyse",
    "argument_values",
    "content_of",
    "counter_of",
    "cue_of_call",
    "error_lines",
    "is_compacted",
    "line_hash",
    "names_file",
    "output_lines",
    "outputs_of",
    "own_name",
    "own_path",
    "rated",
    "read_output",
    "reads_content",
    "reads_keywords",
    "reads_traces",
    "recognise",
    "same_files",
    "settings_for",
    "shorten",
    "task_type_of",
    "text_of",
    "touches_in",
    "with_content",
    "without_changed",
]
