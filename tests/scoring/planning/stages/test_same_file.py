"""Pairs of calls that read the same file, and pairs that only look so.

A reading is cleared with the words that its file was read or written again, which has to be true: the same path on
another host, of another ref or in another folder is another file.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.messages import Message, ToolCall, ToolResult, message
from scoring.planning.stages import superseded
from tests.scoring.builders import user
from tests.scoring.planning.stages.sessions import file_text, given

Call = tuple[str, dict[str, Any]]

OTHER = "print('another text')\n" * 40
PATCH = "*** Begin Patch\n*** Add File: notes.md\n+x\n*** End Patch"
HERE = "cat > {} <<'EOF'\nx = 1\nEOF"


def tool(name: str, **arguments: Any) -> Call:
    """A call of a tool."""
    return name, arguments


def bash(command: str, **more: Any) -> Call:
    """A command in a shell."""
    return tool("bash", command=command, **more)


def on(host: str, command: str, **more: Any) -> Call:
    """A command on a host that an argument names."""
    return tool("remote_sh", host=host, command=command, **more)


# The first call reads what the last one reads or writes again.
SAME: list[tuple[Call, ...]] = [
    # Claude Code
    (tool("Read", file_path="/repo/a.py"), tool("Read", file_path="/repo/a.py")),
    (tool("Read", file_path="/repo/a.py", offset=9, limit=40), tool("Read", file_path="/repo/a.py")),
    (tool("Read", file_path="/repo/a.py"), tool("Write", file_path="/repo/a.py", content=OTHER)),
    (tool("Bash", command="cat /repo/a.py", description="Show a", timeout=9), tool("Read", file_path="/repo/a.py")),
    (tool("Bash", command="cd /repo && cat src/a.py"), tool("Read", file_path="/repo/src/a.py")),
    (tool("Bash", command="cat /repo/a.py", run_in_background=False),
     tool("Bash", command="cat /repo/a.py", dangerouslyDisableSandbox=True)),
    (tool("Read", file_path="/repo/a.py"), tool("Bash", command=HERE.format("/repo/a.py"))),
    (tool("Read", file_path="/repo/a.py"), tool("Bash", command="cd /repo && " + HERE.format("a.py"))),
    (tool("Read", file_path="/repo/a.py", offset=None, pages=""), tool("Read", file_path="/repo/./a.py")),
    (tool("NotebookRead", notebook_path="/repo/a.ipynb"), tool("NotebookRead", notebook_path="/repo/a.ipynb")),
    # Codex
    (tool("shell", command=["bash", "-lc", "cat src/a.py"], workdir="/repo", timeout_ms=9),
     tool("exec_command", cmd="cat src/a.py", workdir="/repo", yield_time_ms=9, max_output_tokens=6000)),
    (tool("exec_command", cmd="cat a.py", workdir="/repo", login=True, tty=True),
     tool("exec_command", cmd="cat a.py", workdir="/repo", sandbox_permissions="require_escalated",
          justification="The sandbox hides it.", prefix_rule=["cat"])),
    (tool("shell_command", command="cat notes.md", workdir="/repo"),
     tool("shell", command=["apply_patch", PATCH], workdir="/repo")),
    (tool("exec_command", cmd="cat notes.md"), tool("apply_patch", input=PATCH)),
    # Gemini CLI
    (tool("read_file", absolute_path="/repo/a.ts"), tool("write_file", file_path="/repo/a.ts", content=OTHER)),
    (tool("run_shell_command", command="cat a.ts", directory="/repo", description="Show a"),
     tool("read_file", absolute_path="/repo/a.ts")),
    (tool("run_shell_command", command="cat a.ts", dir_path="/repo"), tool("read_file", file_path="/repo/a.ts")),
    # OpenCode, pi
    (tool("read", filePath="/repo/a.ts"), tool("write", filePath="/repo/a.ts", content=OTHER)),
    (tool("bash", command="cat src/x.ts", workdir="/repo", description="Shows x"),
     tool("read", filePath="/repo/src/x.ts")),
    (tool("read", path="a.py", offset=20, limit=30), tool("read", path="a.py")),
    (tool("bash", command="cat a.py", timeout=60), tool("read", path="a.py")),
    # editors
    (tool("read_file", target_file="a.py", should_read_entire_file=True, explanation="To see it."),
     tool("read_file", target_file="a.py", should_read_entire_file=True, explanation="To see it again.")),
    (tool("read_file", path="a.py", task_progress="- [ ] read it"), tool("write_to_file", path="a.py", content=OTHER)),
    (tool("read_file", filePath="/repo/a.py", startLine=1, endLine=90), tool("read_file", filePath="/repo/a.py")),
    (tool("run_in_terminal", command="cat /repo/a.py", explanation="Look", goal="See it", isBackground=False),
     tool("read_file", filePath="/repo/a.py")),
    (tool("execute_command", command="cat /repo/a.py", requires_approval=True), tool("read_file", path="/repo/a.py")),
    (tool("str_replace_editor", command="view", path="/repo/a.py", security_risk="LOW"),
     tool("str_replace_editor", command="view", path="/repo/a.py", security_risk="MEDIUM")),
    (tool("execute_bash", command="cat /repo/a.py", is_input="false", security_risk="LOW"),
     tool("str_replace_editor", command="view", path="/repo/a.py")),
    (tool("str_replace_based_edit_tool", command="view", path="/repo/a.py", view_range=[3, 60]),
     tool("str_replace_based_edit_tool", command="create", path="/repo/a.py", file_text=OTHER)),
    # other machines
    (tool("mcp__files__read_text_file", path="/srv/a.py"),
     tool("mcp__files__write_file", path="/srv/a.py", content=OTHER)),
    (tool("mcp__ops__read_file", host="a", path="/srv/a.py"), tool("mcp__ops__read_file", path="/srv/a.py", host="a")),
    (on("web1", "cat /etc/a.conf", timeout=5), on("web1", "cat /etc/a.conf", timeout=60)),
    (on("web1", "cat /etc/a.conf"), on("web1", HERE.format("/etc/a.conf"))),
    (tool("view_file", path="src/a.ts", ref="main"), tool("view_file", path="src/a.ts", ref="main", limit=None)),
    (tool("view_file", repo="acme/a", path="a.md", offset=5, limit=20), tool("view_file", repo="acme/a", path="a.md")),
    (tool("run_in_container", container="web", command="cat /a"),
     tool("run_in_container", container="web", command="cat /a")),
    # a shell
    (bash("cat /etc/a.conf"), bash("cd /tmp"), bash("cat /etc/a.conf")),
    (bash("cat a.py"), bash("(cd /tmp && make)"), bash("cat a.py")),
    (bash("cat a.py"), bash("git commit -m 'cd there'"), bash("cat a.py")),
    (bash("cd /srv"), bash("cat a.yaml"), bash("make"), bash("cat a.yaml")),
    (bash("cd /srv"), bash("cat a.yaml"), bash("cd /srv && make"), bash("cat a.yaml")),
    (tool("read", path="a.py"), bash("cd docs"), tool("read", path="a.py")),
    (bash("cat a.py", workdir="/repo"), bash("cd docs"), bash("cat a.py", workdir="/repo")),
    (bash("cat a.py"), bash("ssh web1 uptime"), bash("cat a.py")),
]  # fmt: skip

# The last call reads or writes another file, or may do so.
APART: list[tuple[Call, ...]] = [
    # hosts and containers
    (on("web1", "cat /etc/a.conf"), on("web2", "cat /etc/a.conf")),
    (on("web1", "cat /etc/a.conf"), on("web2", HERE.format("/etc/a.conf"))),
    (bash("cat /etc/a.conf"), on("web1", "cat /etc/a.conf")),
    (tool("prod_shell", command="cat /etc/a.conf"), tool("staging_shell", command="cat /etc/a.conf")),
    (tool("run_in_container", container="web", command="cat /a"),
     tool("run_in_container", container="db", command="cat /a")),
    (tool("pod_exec", namespace="prod", pod="api", command="cat /a"),
     tool("pod_exec", namespace="staging", pod="api", command="cat /a")),
    (tool("read_file", target={"host": "web1"}, path="/a"), tool("read_file", target={"host": "web2"}, path="/a")),
    (tool("pull_file", device="emulator-1", path="/a"), tool("pull_file", device="emulator-2", path="/a")),
    (tool("read_file", device="emulator-1", path="/a"), tool("read_file", device="emulator-2", path="/a")),
    (tool("exec", session={"id": "t1"}, command="cat a.py"), tool("exec", session={"id": "t2"}, command="cat a.py")),
    (bash("ssh web1 cat /etc/a.conf"), bash("ssh web2 cat /etc/a.conf")),
    (bash("ssh web1 'cat /etc/a.conf'"), bash("cat /etc/a.conf")),
    (bash("docker exec web cat /etc/a.conf"), bash("docker exec db cat /etc/a.conf")),
    (bash("kubectl exec -n prod api -- cat /a"), bash("kubectl exec -n staging api -- cat /a")),
    # servers of tools
    (tool("mcp__staging__read_file", path="/srv/a.env"), tool("mcp__prod__read_file", path="/srv/a.env")),
    (tool("mcp__staging__read_file", path="/srv/a.env"),
     tool("mcp__prod__write_file", path="/srv/a.env", content=OTHER)),
    (tool("Read", file_path="/srv/a.env"), tool("mcp__prod__read_file", path="/srv/a.env")),
    (tool("staging__exec", command="cat /a"), tool("prod__exec", command="cat /a")),
    # versions and repositories
    (tool("view_file", path="src/a.ts", ref="v1.8"), tool("view_file", path="src/a.ts", ref="main")),
    (tool("view_file", path="src/a.ts", branch="next"), tool("view_file", path="src/a.ts")),
    (tool("view_file", path="src/a.ts", revision=7), tool("view_file", path="src/a.ts", revision=8)),
    (tool("view_file", path="src/a.ts", staged=True), tool("view_file", path="src/a.ts")),
    (tool("view_file", repo="acme/a", path="a.md"), tool("view_file", repo="acme/b", path="a.md")),
    (tool("view_file", owner="ana", repo="a", path="a.md"), tool("view_file", owner="bo", repo="a", path="a.md")),
    (tool("read_file", project_id=7, file_path="a.md"), tool("read_file", project_id=8, file_path="a.md")),
    (tool("read_file", workspace="left", file_path="a.md"), tool("read_file", workspace="right", file_path="a.md")),
    (tool("read_file", archive="a.zip", path="a.md"), tool("read_file", archive="b.zip", path="a.md")),
    (tool("read_file", bucket="a", path="a.md"), tool("write_file", bucket="b", path="a.md", content=OTHER)),
    (tool("read_file", root="/left", path="a.md"), tool("read_file", root="/right", path="a.md")),
    (tool("read_file", user="ana", path="~/a.md"), tool("read_file", user="bo", path="~/a.md")),
    (bash("git show v1:src/a.ts"), bash("git show main:src/a.ts")),
    (bash("cat src/a.ts"), bash("git show main:src/a.ts")),
    # folders
    (bash("cat a.yaml"), bash("cd ../billing"), bash("cat a.yaml")),
    (bash("cat a.yaml"), bash("make && cd build"), bash("cat a.yaml")),
    (bash("cat a.yaml"), bash('cd "$OTHER"'), bash("cat a.yaml")),
    (bash("cd /srv"), bash("cat a.yaml"), bash("cd -"), bash("cat a.yaml")),
    (bash("cat a.yaml"), bash("pushd docs\nls"), bash("cat a.yaml")),
    (bash("cd /left"), bash("cat a.yaml"), bash("cd /right"), bash(HERE.format("a.yaml"))),
    (bash("cd /left"), bash("cat a.yaml"), bash("cd /right"), bash("cd docs; cat a.yaml")),
    (bash("cat a.yaml", workdir="/left"), bash("cat a.yaml", workdir="/right")),
    (tool("run_shell_command", command="cat a.ts", directory="left"),
     tool("run_shell_command", command="cat a.ts", directory="right")),
    (bash("cd billing"), bash("cat a.yaml"), tool("read", path="a.yaml")),
    # a shell in which another one runs
    (bash("cat /etc/a.conf"), bash("ssh -p 22 web1"), bash("cat /etc/a.conf")),
    (bash("docker exec -it web bash"), bash("cat /etc/a.conf"), bash("exit"), bash("cat /etc/a.conf")),
    (bash("cat a.conf"), bash("sudo su - ana"), bash("cat a.conf")),
    # writes that keep what was there
    (tool("read_file", path="a.md"), tool("write_file", path="a.md", content="x", append=True)),
    (tool("read_file", path="a.md"), tool("write_file", path="a.md", content="x", mode="append")),
]  # fmt: skip


def is_superseded(calls: tuple[Call, ...]) -> bool:
    """Return whether one of these calls supersedes an earlier one."""
    said: list[Message] = []
    for number, (name, arguments) in enumerate(calls):
        said += [
            message("assistant", "", ToolCall(str(number), name, json.dumps(arguments))),
            message("tool", "", ToolResult(str(number), file_text("a.py"))),
        ]
    return bool(list(superseded.find(given([*said, user()]))))


class TestTheSameFile:
    """A file that a later call reads or writes again."""

    @pytest.mark.parametrize("calls", SAME)
    def test_is_recognised_over_tools_and_spellings(self, calls: tuple[Call, ...]) -> None:  # X7
        """Ranges of lines, descriptions and timeouts make no difference, nor do different tools of one machine."""
        assert is_superseded(calls)

    @pytest.mark.parametrize("calls", APART)
    def test_is_not_one_of_the_same_path_elsewhere(self, calls: tuple[Call, ...]) -> None:  # X7
        """On another host, of another server, ref or repository, or in a folder that may be another one."""
        assert not is_superseded(calls)
