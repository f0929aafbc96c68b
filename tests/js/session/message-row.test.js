// static/session/message-row.js: a message as a row, and what it opens to.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  fateLine,
  messageDetail,
  messageRow,
  previewLine,
  SHOWN_CHARS,
  scoreNumber,
} from "../../../static/session/message-row.js";
import "../page.js";
import { message } from "../builders.js";
import { markup } from "../markup.js";

const VIEW = { open: false, index: 0, bracket: "none", most: 100, certainty: "exact" };

describe("a row", () => {
  it("shows a message's text as text, whatever it holds", () => {
    // X3
    const row = markup(messageRow(message({ text: "<script>alert(1)</script>" }), VIEW));
    assert.ok(!row.includes("<script>") && row.includes("&lt;script&gt;"));
  });
  it("shows calls by tool and target", () => {
    const calls = [{ name: "Bash", summary: "pytest -q" }];
    assert.match(
      markup(previewLine(message({ role: "assistant", text: "", calls }))),
      /<b>Bash<\/b> pytest -q/,
    );
  });
  it("says the fate of the message and its reason once", () => {
    // X3
    const line = markup(fateLine({ fate: "goes", reason: "dropped: score 23 below the cut at 41" }));
    assert.match(line, /<b>goes<\/b> · score 23 below the cut at 41/);
  });
  it("holds a reason that is cut whole in its tooltip", () => {
    const line = markup(fateLine({ fate: "kept", reason: "kept: the last statement" }));
    assert.match(line, /title="the last statement"/);
    assert.doesNotMatch(markup(fateLine({ fate: "kept", reason: null })), /title/);
  });
  it("shows quoted names of a reason as code", () => {
    const line = markup(
      fateLine({
        fate: "kept",
        reason: "kept: names `a<b>.py`, which the task mentions",
      }),
    );
    assert.match(line, /names <code>a&lt;b&gt;\.py<\/code>, which/);
  });
  it("marks what is protected with a lock that has a name", () => {
    assert.match(
      markup(fateLine({ fate: "protected", reason: "protected: fresh tail" })),
      /aria-label="protected".*fresh tail/s,
    );
  });
});

describe("an open row", () => {
  /** @param {Partial<Api.Message>} given */
  const detail = (given) => markup(messageDetail(message(given), null, false));
  it("shows the codes of terminals as pictures, which fonts have", () => {
    const parts = [{ type: "tool_result", text: "\u001b[31m1 failed\u001b[0m" }];
    const full = /** @type {any} */ ({ ...message({}), parts, sent_parts: null });
    assert.match(
      markup(messageDetail(message({}), full, false)),
      /<pre[^>]* tabindex="0">␛\[31m1 failed␛\[0m<\/pre>/,
    );
  });
  it("offers to keep the text as a learning, unless the message is a call without one", () => {
    // M8
    const calls = [{ name: "Bash", summary: "pytest -q" }];
    assert.match(detail({ text: "Never do that.", calls }), /Keep as a learning/);
    assert.doesNotMatch(detail({ text: " ", calls }), /Keep as a learning/);
    assert.doesNotMatch(detail({ text: "", calls, in_context: false }), /Keep as a learning/);
  });
});

describe("a score", () => {
  it("is a whole number, and its parts are in the open row", () =>
    assert.match(markup(scoreNumber(message({ score: 57.4 }))), />57</));
  it("is rounded from the score of the open row", () =>
    assert.match(markup(scoreNumber(message({ score: 63.46 }))), />64</)); // which is 63.5 there
  it("is a dash for a message that has none", () =>
    assert.match(markup(scoreNumber(message({ score: null }))), />–</));
});

describe("the tokens of a row", () => {
  /** @param {Partial<Api.Message>} given */
  const bar = (given) =>
    [...markup(messageRow(message(given), VIEW)).matchAll(/--([wk]):([\d.]+)%/g)].map(
      (m) => `${m[1]} ${m[2]}`,
    );
  it("are a bar on the scale of the list, with the part that a plan keeps", () => {
    assert.deepEqual(bar({ tokens: 40 }), ["w 40", "k 40"]);
    assert.deepEqual(bar({ tokens: 40, tokens_after: 10, fate: "shortened" }), ["w 40", "k 10"]);
    assert.deepEqual(bar({ tokens: 40, fate: "goes" }), ["w 40"]);
    assert.deepEqual(bar({ tokens: 900 }), ["w 100", "k 100"]);
  });
  it("are marked where they are estimated, and what a plan leaves of them too", () => {
    // X9
    const cut = message({ tokens: 4_200, tokens_after: 310, fate: "shortened" });
    /** @param {string} certainty */
    const shown = (certainty) => markup(messageRow(cut, { ...VIEW, certainty }));
    assert.match(shown("estimated"), />~4,200.*> ~310</s);
    assert.match(shown("exact"), />4,200.*> 310</s);
  });
});

describe("an open row", () => {
  const full = {
    ...message({ text: "x" }),
    parts: [{ type: /** @type {const} */ ("tool_result"), call_id: "c", text: "y".repeat(SHOWN_CHARS + 1) }],
    sent_parts: null,
    entries: [],
  };
  /** @param {Partial<Api.Message>} given */
  const acts = (given) =>
    [...markup(messageDetail(message(given), null, false)).matchAll(/data-do="([\w-]+)"/g)].map((m) => m[1]);

  it("shows a long part in full only on request", () => {
    assert.match(markup(messageDetail(full, full, false)), /Show all/);
    assert.doesNotMatch(markup(messageDetail(full, full, true)), /Show all/);
  });
  it("says of a message without points that Foresight rates names and lines", () => {
    const none = { score: 0, signals: { recency: 0, role: 0 }, contributions: { recency: 0, role: 0 } };
    const some = { score: 40, signals: { recency: 1, role: 0 }, contributions: { recency: 40, role: 0 } };
    /** @param {Partial<Api.Message>} given @param {string} strategy */
    const shown = (given, strategy) => markup(messageDetail(message(given), null, false, strategy));
    assert.match(shown(none, "foresight"), /names and lines of a message; this one has none/);
    assert.doesNotMatch(shown(some, "foresight"), /names and lines/);
    assert.doesNotMatch(shown(none, "score"), /names and lines/);
  });
  it("cuts no character in half", () => {
    const part = { type: /** @type {const} */ ("text"), text: `${"y".repeat(SHOWN_CHARS - 1)}😀 and more` };
    assert.match(markup(messageDetail(full, { ...full, parts: [part] }, false)), /y…<\/div>/);
  });
  it("shows a text without the blank lines around it", () => {
    const part = { type: /** @type {const} */ ("text"), text: "\n \nfirst\n\nlast\n\n" };
    const row = markup(messageDetail(full, { ...full, parts: [part] }, false));
    assert.match(row, /<div class="prose">first last<\/div>/);
  });
  it("shows the shortened part in the context before the original", () => {
    // X3
    const part = { type: /** @type {const} */ ("tool_result"), call_id: "c" };
    const both = {
      ...full,
      parts: [{ ...part, text: "all of it" }],
      sent_parts: [{ ...part, text: "a line" }],
    };
    assert.match(markup(messageDetail(both, both, false)), /a line[\s\S]*all of it/);
  });
  it("offers what can be done with the message as it stands", () => {
    // X5
    assert.deepEqual(acts({}), ["pin", "drop-first", "drop", "learn"]);
    assert.deepEqual(acts({ role: "system" }), ["pin"]);
    assert.deepEqual(acts({ in_context: false, fate: "out" }), ["restore", "learn"]);
  });
  it("offers nothing that only answers with a conflict", () => {
    // A pinned message is unpinned before it is dropped, by hand or by a plan; the last one stays.
    assert.deepEqual(acts({ pinned: true }), ["unpin", "drop-first", "learn"]);
    assert.match(markup(messageDetail(message({ pinned: true }), null, false)), /Unpin and drop first/);
    const last = { fate: /** @type {const} */ ("protected"), cause: "last_unit" };
    assert.deepEqual(acts(last), ["pin", "drop-first", "learn"]);
  });
  it("sets figures that stand below each other with as many decimals", () => {
    const signals = { recency: 0.53, role: 1, keywords: 0.1, length: 0 };
    const contributions = { recency: 18.6, role: 25, keywords: 2, length: 0 };
    const table = messageDetail(message({ score: 45.6, signals, contributions }), null, false);
    const figures = [...markup(table).matchAll(/<td class="num[^"]*">([\d.]+)</g)].map((m) => m[1]);
    assert.deepEqual(figures, ["0.53", "18.6", "1.00", "25.0", "0.10", "2.0", "0.00", "0.0", "45.6"]);
  });
  it("names signals by the labels of the server", () => {
    const contributions = { recency: 18.6, role: 25 };
    const table = messageDetail(message({ score: 43.6, signals: contributions, contributions }), null, false);
    assert.match(markup(table), /Who speaks<\/th>/);
  });
  it("says why a message could not be read, and offers to try again", () => {
    const text = markup(messageDetail(message({ id: "m7" }), "no such message", false));
    assert.match(text, /Could not read this message: no such message/);
    assert.match(text, /data-act="retry-message"\s+data-id="m7">Try again/);
  });
});
