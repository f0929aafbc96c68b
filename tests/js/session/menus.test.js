// static/session/menus.js: what a session can be exported as, and what to do with it.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { exportMenu } from "../../../static/session/menus.js";
import { session } from "../builders.js";
import { markup } from "../markup.js";

describe("the export menu", () => {
  it("describes the use of each format", () => {
    const text = markup(exportMenu(session()));
    const formats = [
      ...text.matchAll(/format=([\w-]+)" download><span><b>[^<]+<\/b><small class="muted">[^<]{20,}/g),
    ];
    assert.deepEqual(
      formats.map((m) => m[1]),
      ["claude-code", "openai", "anthropic", "gemini", "jsonl"],
    );
  });
});
