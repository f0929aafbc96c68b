// static/lib/session-row.js: a session as a row of the overview.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  limitsOf,
  regionLegend,
  sessionRow,
  stateIcon,
  tokenCount,
} from "../../../static/lib/session-row.js";
import { gauge, session } from "../builders.js";

describe("a session's row", () => {
  it("offers a prune only above the target", () => {
    assert.match(sessionRow(session({ state: "warning" }), 0).toString(), /href="\/sessions\/s1#plan"/);
    assert.doesNotMatch(sessionRow(session(), 0).toString(), /#plan/);
  });
  it("shows a title as text", () =>
    assert.match(sessionRow(session({ title: "<i>x</i>" }), 0).toString(), /&lt;i&gt;x&lt;\/i&gt;/));
  it("stands under its parent with a twig", () => {
    assert.match(
      sessionRow(session({ parent_id: "p", agent_type: "explore" }), 1).toString(),
      /└.*sub-agent explore/s,
    );
  });
  it("says how many lines could not be read", () =>
    assert.match(sessionRow(session({ malformed: 2 }), 0).toString(), /2 lines not read/));
});

describe("a count of tokens", () => {
  it("says that it is estimated to readers who do not see the tilde's title", () => {
    // X11
    assert.match(tokenCount(1200, "estimated").toString(), /~1,200.*\(estimated\)/);
    assert.doesNotMatch(tokenCount(1200, "exact").toString(), /~|estimated\)/);
  });
});

describe("a state", () => {
  it("has an icon with a name", () => {
    assert.match(stateIcon(session({ state: "warning" })).toString(), /aria-label="Above target/);
    assert.match(stateIcon(session({ activity: "working" })).toString(), /aria-label="Working/);
  });
});

describe("a gauge's limits", () => {
  it("take the target from its tokens, which a cap may have lowered", () => {
    // X10
    assert.equal(
      limitsOf(session({ target_percent: 80, target_tokens: 100_000, agent: gauge() })).target_percent,
      50,
    );
  });
});

describe("the legend", () => {
  it("names every region", () =>
    assert.equal(
      regionLegend()
        .toString()
        .match(/class="swatch"/g)?.length,
      10,
    ));
});
