// static/overview/session-row.js: a session as a row of the overview.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  limitsOf,
  regionLegend,
  sessionRow,
  stateIcon,
  tokenCount,
} from "../../../static/overview/session-row.js";
import { gauge, session } from "../builders.js";

/** @param {import("../../../static/shared/types.js").Session} session @param {number} [depth] @param {number} [quiet] */
const row = (session, depth = 0, quiet = 0) => ({ session, depth, quiet, folded: quiet > 0 });

describe("a session's row", () => {
  it("offers a prune only above the target", () => {
    assert.match(sessionRow(row(session({ state: "warning" }), 0)).toString(), /href="\/sessions\/s1#plan"/);
    assert.doesNotMatch(sessionRow(row(session(), 0)).toString(), /#plan/);
  });
  it("shows a title as text", () =>
    assert.match(sessionRow(row(session({ title: "<i>x</i>" }), 0)).toString(), /&lt;i&gt;x&lt;\/i&gt;/));
  it("stands under its parent with a twig", () => {
    assert.match(
      sessionRow(row(session({ parent_id: "p", agent_type: "explore" }), 1)).toString(),
      /└.*sub-agent explore/s,
    );
  });
  it("says how many lines could not be read", () =>
    assert.match(sessionRow(row(session({ malformed: 2 }), 0)).toString(), /2 lines not read/));
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
  it("counts the sub-agents that are folded away, and shows them on request", () => {
    const text = sessionRow(row(session(), 0, 6)).toString();
    assert.match(text, /data-act="fold" data-id="s1" aria-expanded="false"/);
    assert.match(text, /6 sub-agents/);
    assert.doesNotMatch(sessionRow(row(session())).toString(), /data-act="fold"/);
  });
  it("of a session without messages says so", () =>
    assert.match(sessionRow(row(session({ messages: 0 }))).toString(), /no messages yet/));
});
