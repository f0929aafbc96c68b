"""Codes of acts: equal for another attempt at the same, different for anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.history.cues.calls import cue_of_call

Call = tuple[str, dict[str, Any]]


def shell(command: str) -> Call:
    """A call that runs a command."""
    return "bash", {"command": command}


def code(call: Call) -> int:
    """Return the code of a call."""
    name, arguments = call
    return cue_of_call(name, json.dumps(arguments), arguments).act


ANOTHER_ATTEMPT: list[tuple[Call, Call]] = [
    (shell("pytest tests/test_a.py -q"), shell("cd /repo && uv run pytest -x tests/test_a.py --tb=short")),
    (shell("npm run build"), shell("npm run build 2>&1 | tail -20")),
    (shell("npm run build > build.log"), shell("npm run build")),
    (shell("# once more\nflyway migrate ledger"), shell("flyway migrate ledger")),
    (shell("git commit -m 'Add the reader'"), shell('git commit -m "Add the reader, and its tests"')),
    (shell("ssh db1 'systemctl start ledger'"), shell("ssh db1 'systemctl start ledger --no-block'")),
    (shell("RUST_BACKTRACE=1 cargo test parser"), shell("cargo test parser")),
    (
        ("Edit", {"file_path": "/repo/src/a.py", "old_string": "a", "new_string": "b"}),
        ("Edit", {"file_path": "/repo/src/a.py", "old_string": "aa", "new_string": "b"}),
    ),
    (
        ("write_file", {"path": "src/a.py", "content": "one"}),
        ("write_file", {"path": "/repo/src/a.py", "content": "two"}),
    ),
    (
        ("db_apply", {"statement": "ALTER TABLE ledger ADD COLUMN tenant int NOT NULL"}),
        ("db_apply", {"statement": "ALTER TABLE ledger ADD COLUMN tenant int DEFAULT 0", "timeout": 60}),
    ),
    (
        ("book_flight", {"from": "OSL", "to": "LIS", "passenger": "Ana Sá"}),
        ("book_flight", {"to": "LIS", "passenger": "Ana Sá", "from": "OSL"}),
    ),
]
ANYTHING_ELSE: list[tuple[Call, Call]] = [
    (shell("pytest tests/test_a.py"), shell("pytest tests/test_b.py")),
    (shell("psql app -c 'ALTER TABLE ledger ADD tenant int'"), shell("psql app -c 'SELECT 1'")),
    (shell('python -c "import load_ledger"'), shell('python -c "print(1)"')),
    (shell("python - <<'EOF'\nload('ledger')\nEOF"), shell("python - <<'EOF'\nprint(1)\nEOF")),
    (shell("ssh db1 'systemctl start ledger'"), shell("ssh db1 uptime")),
    (shell("ssh db1 uptime"), shell("ssh db2 uptime")),
    (shell("terraform apply -target=module.ledger"), shell("terraform apply -target=module.dns")),
    (shell("# step\nflyway migrate ledger"), shell("# step\nls -l")),
    (shell("docker compose -f prod.yml up -d web"), shell("docker compose -f prod.yml up -d db")),
    (("cell_exec", {"code": "load('ledger')"}), ("cell_exec", {"code": "1+1"})),
    (("actuate", {"device": "arm_3", "to": "A7"}), ("actuate", {"device": "pump_9", "to": "off"})),
    (("refund", {"order": 4411}), ("refund", {"order": 4412})),
    (("http", {"method": "POST", "url": "/orders"}), ("http", {"method": "GET", "url": "/orders"})),
    (
        ("Edit", {"file_path": "/repo/prod/values.yaml", "old_string": "a", "new_string": "b"}),
        ("Edit", {"file_path": "/repo/test/values.yaml", "old_string": "a", "new_string": "b"}),
    ),
    (
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: b.py\n@@\n-x\n+y\n*** End Patch"}),
    ),
    (("crm", {"records": [{"id": "T-81"}]}), ("crm", {"records": [{"id": "T-82"}]})),
]


@pytest.mark.parametrize(("call", "later"), ANOTHER_ATTEMPT)
def test_is_equal_for_another_attempt(call: Call, later: Call) -> None:
    """Options, redirections, messages, timeouts and the order of arguments only say how."""
    assert code(call) == code(later)


@pytest.mark.parametrize(("call", "later"), ANYTHING_ELSE)
def test_differs_for_anything_else(call: Call, later: Call) -> None:
    """An unrelated success of the same tool resolves no failure."""
    assert code(call) != code(later)


def test_reads_the_beginning_of_a_long_command() -> None:
    """A program of a megabyte takes no longer than a short one."""
    assert code(shell("python -c '" + "x" * 1_000_000 + "'")) == code(
        shell("python -c '" + "x" * 2_000_000 + "'")
    )
