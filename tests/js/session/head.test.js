// static/session/head.js: the upper part of the session page.
import "../page.js";
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bars } from "../../../static/session/bars.js";
import { deletedSession, header, noSession, savedWords } from "../../../static/session/head.js";
import { ApiError } from "../../../static/shared/api.js";
import { promptCache, session, verdict } from "../builders.js";
import { markup } from "../markup.js";

describe("the provider's cache", () => {
  it("is shown with the time until it is cold, or since", () => {
    // X26
    assert.match(
      markup(bars(session({ cache: promptCache() }))),
      /provider's cache warm, cold <time datetime="[^"]*05:00Z" data-until/,
    );
    const cold = markup(bars(session({ cache: promptCache({ cold: true }) })));
    assert.match(cold, /provider's cache cold, expired <time datetime="[^"]*05:00Z" data-ago/);
    assert.doesNotMatch(markup(bars(session({ cache: null }))), /provider's cache/);
    const unused = session({ cache: promptCache({ cold: true }), activity: "stale" });
    assert.doesNotMatch(markup(bars(unused)), /provider's cache/);
  });
  it("makes advice wait, which is not urgent", () => {
    // X26
    assert.match(markup(header(session({ verdict: { ...verdict(), kind: "wait" } }))), /data-need="may"/);
  });
});

describe("a session of the proxy", () => {
  const proxy = {
    prunes: true,
    applied: true,
    reason: "",
    subscription: false,
    calls: 9,
    pruned_calls: 4,
    paid: 0.5,
    unpruned: 2,
  };
  /** @param {Partial<Api.Proxied>} given */
  const shown = (given) =>
    markup(header(session({ kind: "followed", source: "proxy", proxy: { ...proxy, ...given } })));
  it("says that it is sent pruned, and its price", () => {
    // X13
    assert.match(shown({}), /The last call was sent pruned\. 4 pruned calls cost \$0\.50; unpruned \$2\.00/);
  });
  it("says why a call was sent unchanged", () => {
    // X13
    const text = shown({ applied: false, reason: "its body is compressed", paid: null, unpruned: null });
    assert.match(text, /The last call was sent unchanged: its body is compressed\./);
  });
  it("has a switch, which a subscription cannot use", () => {
    // X13
    assert.match(shown({ prunes: false }), /name="proxy_prunes"/);
    assert.match(shown({ prunes: false, subscription: true }), /disabled/);
    assert.doesNotMatch(shown({ prunes: false }), /sent pruned\./);
  });
  it("cannot be resumed by an agent", () => {
    // X13
    assert.doesNotMatch(shown({}), /data-act="resume"/);
  });
});

describe("the verdict", () => {
  /** @param {Partial<Api.Verdict>} given */
  const shown = (given) => markup(header(session({ verdict: verdict(given) })));
  it("is the sentence alone where nothing is needed", () => {
    // X18
    const text = shown({});
    assert.match(text, /66\u202f% full. Nothing needed: about 40 turns left to the target at this pace/);
    assert.match(text, /data-need="none"/);
  });
  it("has one button, and says what it leaves untouched", () => {
    // X18
    const action = { kind: /** @type {const} */ ("clear"), label: "Clear them…", max_tokens: 90_000 };
    const text = shown({ kind: "clear", safety: "Can be undone.", action });
    assert.match(text, /data-act="see-plan"\s+data-aim="?90000/);
    assert.match(text, /Can be undone\./);
  });
  it("offers to resume after a prune", () => {
    // X18, X22
    const action = { kind: /** @type {const} */ ("resume"), label: "Resume…", max_tokens: null };
    assert.match(shown({ kind: "resume", action }), /data-act="resume"/);
  });
});

describe("the page of a session that is not there", () => {
  it("has the text of the server's own 404 page, with a link back", () => {
    const text = markup(noSession(new ApiError(404, "no session <b>")));
    assert.match(text, /<h1>There is nothing here<\/h1>/);
    assert.match(text, /No session &lt;b&gt;\./);
    assert.match(text, /href="\/"/);
  });
  it("says what the deletion kept, if it was open", () => {
    const followed = deletedSession(session({ title: "Fix <it>", kind: "followed" }));
    assert.match(markup(followed), /This session was deleted[\s\S]*Fix &lt;it&gt;[\s\S]*is not touched/);
    assert.doesNotMatch(markup(deletedSession(session({ kind: "managed" }))), /transcript/);
  });
  it("offers to try again after any other error", () => {
    const text = markup(noSession(new ApiError(401, "this server asks for its token")));
    assert.match(text, /Could not read this session: this server asks/);
    assert.match(text, /data-act="retry-session"/);
    assert.match(text, /<token-form>/);
    assert.doesNotMatch(markup(noSession(new ApiError(503, "busy"))), /<token-form>/);
  });
  it("has a heading, also while the session is read", () => {
    for (const error of [null, new ApiError(500, "no")])
      assert.match(markup(noSession(error)), /<h1 class="sr">Session<\/h1>/);
  });
});

describe("the switch of automatic pruning", () => {
  it("says what the hooks of the session's agent do", () => {
    // X20
    const followed = { kind: /** @type {const} */ ("followed"), source_label: "Claude Code" };
    const text = markup(header(session({ ...followed, source: "claude-code" })));
    assert.match(text, /<code>coppice hooks install<\/code>: is coppice hooks install\./);
    assert.doesNotMatch(markup(header(session({ ...followed, source: "other" }))), /hooks install/);
    assert.doesNotMatch(markup(header(session({ source: "claude-code", kind: "managed" }))), /hooks install/);
  });
});

describe("the session's own strategy", () => {
  it("is that of the settings until another is chosen", () => {
    // S4, B18
    const text = markup(header(session()));
    assert.match(text, /<option value="" selected>As in the settings: Foresight</);
    const own = session({ strategy: { name: "summarise", own: "summarise", setting: "foresight" } });
    assert.match(markup(header(own)), /<option value="summarise" selected>Summarise</);
  });
});

describe("the limit", () => {
  const wide = { window: 1_000_000, limit: 1_000_000, target_tokens: 800_000 };
  it("is shown with its source and date", () => {
    // X10
    const own = session({ ...wide, limit_source: "set for this session", limit_date: "2026-11-27" });
    assert.match(markup(bars(own)), /Limit: 1,000,000 tokens \(set for this session, <span[^>]*>2026-11-27</);
    const known = session({ limit_source: "https://docs.example/models", limit_date: "2026-10-01" });
    assert.match(markup(bars(known)), /href="https:\/\/docs\.example\/models"[^>]*>docs\.example</);
    assert.match(markup(bars(session({ limit_date: null }))), /Limit: 200,000 tokens \(a table\)\./);
  });
  it("has a cap on its target where it is a million", () => {
    // X10
    assert.doesNotMatch(markup(header(session())), /name="own_cap"/);
    assert.match(markup(header(session(wide))), /<option value="" selected>None</);
    const capped = session({ ...wide, cap_tokens: 250_000, target_tokens: 250_000 });
    assert.match(markup(header(capped)), /<option value="250000" selected>250,000 tokens</);
    assert.match(markup(bars(capped)), /; the target is capped at 250,000\./);
    assert.match(markup(header(session({ cap_tokens: 90_000 }))), /<option value="90000" selected>/);
  });
});

describe("the saving of a copy", () => {
  const copy = {
    session_id: "c",
    title: "A (pruned)",
    origin_id: "o",
    origin_title: "A",
    at: "2026-11-22T10:00:00Z",
  };
  const sizes = { tokens_before: 90_000, tokens_promised: 50_000, tokens_first_call: null };
  it("is the promise before the first call", () =>
    assert.equal(
      savedWords({ ...copy, ...sizes }),
      "40,000 tokens less on each call were promised; its first call is still to come.",
    ));
  it("is the promise and the measured saving afterwards", () =>
    assert.match(
      savedWords({ ...copy, ...sizes, tokens_first_call: 51_000 }),
      /its first call held 51,000 instead of 90,000, 39,000 less\./,
    ));
  it("is on the pages of the copy and its origin, which link to each other", () => {
    assert.match(
      markup(header(session(), null, { copy_of: { ...copy, ...sizes } })),
      /Pruned copy of <a class="link one-line" href="\/sessions\/o">A<\/a>/,
    );
    assert.match(
      markup(header(session(), null, { copies: [{ ...copy, ...sizes }] })),
      /Resumed as <a class="link one-line" href="\/sessions\/c">A \(pruned\)<\/a>/,
    );
  });
});

describe("the header", () => {
  it("offers to resume an agent's session only", () => {
    assert.match(markup(header(session())), /Resume…/);
    assert.doesNotMatch(markup(header(session({ kind: "managed" }))), /Resume…/);
  });
  it("offers the agent's own format only where there is one", () => {
    assert.match(markup(header(session())), /format=claude-code/);
    assert.doesNotMatch(
      markup(header(session({ source: "api", why_not_resumed: "it has no agent" }))),
      /format=(claude-code|codex)/,
    );
  });
  it("leads from a sub-agent to its parent, where there is one to look at", () => {
    const child = session({ parent_id: "p 1" });
    assert.match(
      markup(header(child, { id: "p 1", title: "The parent" })),
      /sub-agent of <a class="link one-line" href="\/sessions\/p%201">The parent<\/a>/,
    );
    assert.match(markup(header(child, null)), />sub-agent\u00a0· /);
    assert.doesNotMatch(markup(header(child, null)), /href="\/sessions\/p/);
    assert.match(markup(header({ ...child, agent_type: "fork" }, null)), />fork\u00a0· /);
  });
  it("shows the reasons to doubt the numbers", () => {
    // X10
    const notes = ["the model novel-1 is not in the table"];
    const text = markup(header(session({ notes, malformed: 1 })));
    assert.match(text, /<li>The model novel-1 is not in the table\.<\/li>/);
    assert.match(text, /1 line of the file could not be read and was skipped/);
  });
});

describe("a session of another machine", () => {
  it("names its user, its host and its project", () => {
    const pushed = session({ user: "ada", host: "laptop", project: "garden", cwd: "/home/ada/garden" });
    const text = markup(header(pushed));
    assert.match(text, /ada on laptop/);
    assert.match(text, /title="\/home\/ada\/garden"[^>]*>in garden/);
    assert.doesNotMatch(markup(header(session({ project: "garden" }))), /in garden/);
  });
});
