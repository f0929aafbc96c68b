"""The real agents, each with a separate home and the strict upstream."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.reach.upstream import Upstream
from webapp.agents import AGENTS

FOLDER = "COPPICE_AGENTS"
PROGRAMS = Path(os.environ.get(FOLDER, "nowhere")) / "node_modules" / ".bin"
SECONDS = 300


@dataclass
class Machine:
    """A home, a working directory, and the folder in which npm put the agents.

    `proxy` is the address of a proxy through which they reach the upstream, "" for none.
    """

    home: Path
    work: Path
    programs: Path
    upstream: Upstream
    proxy: str = ""

    @property
    def anthropic(self) -> str:
        """Return the address of Anthropic's protocol, without its version."""
        return f"{self.proxy}/anthropic" if self.proxy else self.upstream.url

    @property
    def openai(self) -> str:
        """Return the address of OpenAI's protocol, without its version."""
        return f"{self.proxy}/openai" if self.proxy else self.upstream.url

    @property
    def env(self) -> dict[str, str]:
        """Return the environment in which agents run: nothing of this machine's but its programs."""
        return {
            "HOME": str(self.home), "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}", "IS_SANDBOX": "1",
            "COPPICE_HINTS": str(self.home / "hints"), "COPPICE_DB": str(self.home / "c.db"),
            "ANTHROPIC_BASE_URL": self.anthropic, "ANTHROPIC_API_KEY": "sk-ant-nobodys", "DISABLE_AUTOUPDATER": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "NOBODYS_KEY": "k",
            "GOOGLE_GEMINI_BASE_URL": self.upstream.url, "GEMINI_API_KEY": "k",
        }  # fmt: skip

    def run(self, *command: str) -> str:
        """Run a program in the working directory and return its output.

        Raises:
            CalledProcessError: it failed.
        """
        done = subprocess.run(
            command, cwd=self.work, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=True, timeout=SECONDS,
        )  # fmt: skip
        return done.stdout

    def configure(self) -> None:
        """Write the agents' settings: the upstream as their provider, all tools allowed."""
        url = self.upstream.url
        codex = (
            'model = "gpt-5"\nmodel_provider = "nobody"\n'
            'sandbox_mode = "danger-full-access"\napproval_policy = "never"\n'
            f'[model_providers.nobody]\nname = "nobody"\nbase_url = "{self.openai}/v1"\nenv_key = "NOBODYS_KEY"\n'
            'wire_api = "responses"\n'
        )
        model = {"id": "claude-sonnet-4-5", "name": "c", "reasoning": True, "input": ["text"], "contextWindow": 200_000,
                 "maxTokens": 32_000, "cost": {"input": 1, "output": 1, "cacheRead": 1, "cacheWrite": 1}}  # fmt: skip
        provider = {"baseUrl": url, "apiKey": "k", "api": "anthropic-messages", "models": [model]}
        opencode = {"options": {"baseURL": f"{self.anthropic}/v1", "apiKey": "k"}}
        files = {
            ".codex/config.toml": codex,
            ".gemini/settings.json": json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}),
            ".config/opencode/opencode.json": json.dumps(
                {"provider": {"anthropic": opencode}, "permission": "allow"}
            ),
            ".pi/agent/models.json": json.dumps({"providers": {"nobody": provider}}),
        }
        for name, text in files.items():
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text(text)


def _claude(prompt: str, session: str | None) -> list[str]:
    resume = ["--resume", session] if session else []
    model = ["--model", "claude-sonnet-4-5", "--dangerously-skip-permissions"]
    return ["claude", "-p", *resume, *model, prompt]


def _codex(prompt: str, session: str | None) -> list[str]:
    return ["codex", "exec", *(["resume", session] if session else []), "--skip-git-repo-check", prompt]


def _gemini(prompt: str, session: str | None) -> list[str]:
    resume = ["--resume", session] if session else []
    return ["gemini", "-y", "--skip-trust", "-m", "gemini-2.5-pro", *resume, "-p", prompt]


def _pi(prompt: str, session: str | None) -> list[str]:
    resume = ["--session", session] if session else []
    return ["pi", "--provider", "nobody", "--model", "claude-sonnet-4-5", *resume, "-p", prompt]


def _opencode(prompt: str, session: str | None) -> list[str]:
    resume = ["--session", session] if session else []
    return ["opencode", "run", "--model", "anthropic/claude-sonnet-4-5", *resume, prompt]


# Source -> the command that sends a prompt, to a new session or a known one.
ASK: dict[str, Callable[[str, str | None], list[str]]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "pi": _pi,
    "opencode": _opencode,
}


def _compact_claude(session: str, _: str) -> list[str]:
    return [*_claude("/compact", session)]


def _compact_codex(session: str, prompt: str) -> list[str]:
    # It compacts by itself, in the middle of a turn; hooks that nobody looked at are run for this one call.
    exec_ = ["codex", "exec", "--dangerously-bypass-hook-trust", "-c", "model_auto_compact_token_limit=9000"]
    return [*exec_, "resume", session, "--skip-git-repo-check", prompt]


# Source -> the command after which the agent has compacted a session, for agents with hooks around it.
COMPACT: dict[str, Callable[[str, str], list[str]]] = {
    "claude-code": _compact_claude,
    "codex": _compact_codex,
}


def newest(machine: Machine, source: str) -> str:
    """Return the id of the agent's newest session."""
    agent = AGENTS[source]
    files = [
        file for root in agent.roots(machine.env) for file in agent.discover(root) if file.parent_id is None
    ]
    return max(files, key=lambda file: file.modified).session_id


def size(machine: Machine) -> int:
    """Return the characters of the last call that was answered."""
    return len(json.dumps(machine.upstream.requests[-1][2]))
