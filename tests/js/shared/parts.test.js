// static/shared/parts.js: small pieces that several pages show of a session.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { optionElements, stateIcon, tokenCount } from "../../../static/shared/parts.js";
import { session } from "../builders.js";
import { markup } from "../markup.js";

describe("a count of tokens", () => {
  it("says to screen readers that it is estimated", () => {
    // X11
    assert.match(markup(tokenCount(1200, "estimated")), /~1,200.*\(estimated\)/);
    assert.doesNotMatch(markup(tokenCount(1200, "exact")), /~|estimated\)/);
  });
});

describe("a state", () => {
  it("has an icon with a name", () => {
    assert.match(markup(stateIcon(session({ state: "warning" }))), /aria-label="Above target/);
    assert.match(markup(stateIcon(session({ activity: "working" }))), /aria-label="Working/);
  });
});

describe("the options of a select", () => {
  it("mark the one that is chosen", () => {
    const made = markup(
      optionElements(
        [
          ["a", "First"],
          ["b", "Second"],
        ],
        "b",
      ),
    );
    assert.equal(made, '<option value="a">First</option><option value="b" selected>Second</option>');
  });
});
