// static/session/export-menu.js: what a session can be exported as, and what to do with it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exportMenu, resumeCommand } from "../../../static/session/export-menu.js";
import { session } from "../builders.js";
import { markup } from "../markup.js";

const origin = "http://127.0.0.1:5000";
const file = "/home/me/.claude/projects/-home-me-app/5c1f0a52.jsonl";

describe("the command that resumes", () => {
  it("saves the pruned view beside the agent's transcripts and starts the agent where it worked", () =>
    assert.equal(
      resumeCommand(session({ file, cwd: "/home/me/my app" }), origin),
      "cd /home/me/.claude/projects/-home-me-app && curl -fOJ 'http://127.0.0.1:5000/api/sessions/s1/export?format=claude-code' && cd '/home/me/my app' && claude --resume",
    ));
  it("keeps whatever a path holds from becoming a command", () =>
    assert.match(
      String(resumeCommand(session({ file: "/a/$(x)'; rm b/c.jsonl" }), origin)),
      /^cd '\/a\/\$\(x\)'\\''; rm b' && curl /,
    ));
  it("is not there for sub-agents, other sources, and files whose place is unknown", () => {
    assert.equal(resumeCommand(session({ file, parent_id: "p" }), origin), null);
    assert.equal(resumeCommand(session({ file, source: "api", resume_command: null }), origin), null);
    assert.equal(resumeCommand(session(), origin), null);
  });
});

describe("the export menu", () => {
  it("says of each format what it is for", () => {
    const text = markup(exportMenu(session({ file }), origin));
    const formats = [
      ...text.matchAll(/format=([\w-]+)" download><span><b>[^<]+<\/b><small class="muted">[^<]{20,}/g),
    ];
    assert.deepEqual(
      formats.map((m) => m[1]),
      ["claude-code", "openai", "anthropic", "gemini", "jsonl"],
    );
    assert.match(text, /data-act="copy"/);
  });
});
