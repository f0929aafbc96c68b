// static/overview/session-row.js: a session as a row of the overview.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { projectRow, regionLegend, sessionRow } from "../../../static/overview/session-row.js";
import { session, verdict } from "../builders.js";
import { markup } from "../markup.js";

/** @param {Api.Session} session @param {number} [depth] @param {number} [quiet] */
const row = (session, depth = 0, quiet = 0) => ({ session, depth, quiet, folded: quiet > 0 });

describe("a session's row", () => {
  it("groups the thousands of prunes", () =>
    assert.match(markup(sessionRow(row(session({ prunes: 1234 }), 0))), /class="c-prunes num">1,234</));
  it("leads to the one action of its verdict, where there is one", () => {
    // X18
    const action = { kind: /** @type {const} */ ("prune"), label: "See the plan…", max_tokens: null };
    const judged = verdict({ kind: "now", text: "Prune now: 3 turns left", urgency: 6, action });
    const text = markup(sessionRow(row(session({ verdict: judged }), 0)));
    assert.match(text, /href="\/sessions\/s1#plan"/);
    assert.match(text, /Prune now: 3 turns left/);
    assert.doesNotMatch(markup(sessionRow(row(session(), 0))), /#plan/);
  });
  it("keeps room for the price of a prune that comes later", () => {
    const action = { kind: /** @type {const} */ ("prune"), label: "See the plan…", max_tokens: null };
    const awaits = (/** @type {Partial<Api.Verdict>} */ given) =>
      markup(sessionRow(row(session({ verdict: verdict(given) })))).includes("data-awaits-price");
    assert.equal(awaits({ action, priced: false }), true);
    assert.equal(awaits({ action, priced: true }), false);
    assert.equal(awaits({ action: null, priced: false }), false);
  });
  it("shows a title as text", () =>
    assert.match(markup(sessionRow(row(session({ title: "<i>x</i>" }), 0))), /&lt;i&gt;x&lt;\/i&gt;/));
  it("is drawn below its parent with a branch mark", () => {
    assert.match(
      markup(sessionRow(row(session({ parent_id: "p", agent_type: "explore" }), 1))),
      /└.*sub-agent explore/s,
    );
  });
  it("says once that it is a sub-agent of no known type", () => {
    for (const agent_type of [null, "sub-agent"])
      assert.match(markup(sessionRow(row(session({ parent_id: "p", agent_type }), 1))), / · sub-agent</);
  });
  it("names a fork as one, not as a sub-agent", () => {
    const fork = session({ parent_id: "p", agent_type: "fork", source_label: "pi" });
    assert.match(markup(sessionRow(row(fork, 0))), / · pi fork/);
  });
  it("says the turns to the target as the verdict does: exact up to 20, then in fives, then many", () => {
    const left = (/** @type {number} */ turns_left) =>
      markup(sessionRow(row(session({ turns_left })))).match(/class="c-left num">([^<]*)</)?.[1];
    const said = ["0", "19", "20", "20", "30", "100", "many", "many"];
    assert.deepEqual([0, 19, 20, 21, 28, 99, 100, 1952].map(left), said);
  });
  it("says how many lines could not be read", () =>
    assert.match(markup(sessionRow(row(session({ malformed: 2 }), 0))), /2 lines not read/));
});

describe("the legend", () => {
  it("names every region", () => assert.equal(markup(regionLegend()).match(/class="swatch"/g)?.length, 10));
  it("counts the sub-agents that are folded away, and shows them on request", () => {
    const text = markup(sessionRow(row(session(), 0, 6)));
    assert.match(text, /data-act="fold" data-id="s1" aria-expanded="false"/);
    assert.match(text, /6 sub-agents/);
    assert.doesNotMatch(markup(sessionRow(row(session()))), /data-act="fold"/);
  });
  it("of a session without messages says so", () =>
    assert.match(markup(sessionRow(row(session({ messages: 0 })))), /no messages yet/));
});

describe("the head of a project", () => {
  /** @type {import("../../../static/overview/rows.js").Head} */
  const head = {
    head: "project",
    key: "project:/a/b",
    label: "b",
    path: "/a/b",
    count: 3,
    above: 1,
    folded: false,
  };
  it("names its folder, counts its sessions and folds them", () => {
    const text = markup(projectRow(head, 2));
    assert.match(text, /data-act="project" data-key="project:\/a\/b" aria-expanded="true"/);
    assert.match(text, /3 sessions.*1 above target/);
    assert.match(markup(projectRow({ ...head, label: "", path: "" }, 2)), /No project folder/);
  });
  it("of sub-agents without a session says so", () =>
    assert.match(
      markup(projectRow({ ...head, head: "orphans", folded: true }, 2)),
      /3 sub-agents of sessions that are not here/,
    ));
});

describe("a shortened name", () => {
  it("is shown, and the whole title on hover", () => {
    const text = markup(sessionRow(row(session({ title: "You test: read" })), { text: "… read", mark: "" }));
    assert.match(text, /title="You test: read".*… read/);
  });
});
