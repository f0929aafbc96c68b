// static/session/rows.js: what the message list does with its rows.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  arrive,
  brackets,
  canDrop,
  canShorten,
  cursorAfter,
  heaviest,
  merge,
  signalNames,
  unread,
  withFates,
} from "../../../static/session/rows.js";
import { message } from "../builders.js";

/** @param {number[]} numbers */
const rows = (...numbers) => numbers.map((number) => message({ number }));
/** @param {Api.Message[]} list */
const numbers = (list) => list.map((m) => m.number);

describe("the bracket of a unit", () => {
  it("spans the rows of the unit that stand together", () => {
    const unit = { unit: 2, unit_size: 3 };
    const list = [
      message({ number: 1 }),
      message({ number: 2, ...unit }),
      message({ number: 3, ...unit }),
      message({ number: 4, ...unit }),
    ];
    assert.deepEqual(brackets(list), ["none", "start", "mid", "end"]);
  });
  it("is not drawn around one row whose unit is elsewhere", () => {
    assert.deepEqual(brackets([message({ number: 2, unit: 2, unit_size: 3 })]), ["none"]);
  });
});

describe("a fresh reading of the list", () => {
  it("lets new rows in at their place while the list is open", () => {
    const merged = merge(rows(2, 1), rows(3, 2, 1), true);
    assert.deepEqual([numbers(merged.rows), merged.waiting, merged.end], [[3, 2, 1], 0, 3]);
  });
  it("keeps new rows waiting while the list is being read, and changes known ones in place", () => {
    const fresh = [message({ number: 3 }), message({ number: 2, fate: "goes" }), message({ number: 1 })];
    const merged = merge(rows(2, 1), fresh, false);
    assert.deepEqual([numbers(merged.rows), merged.waiting, merged.rows[0]?.fate], [[2, 1], 1, "goes"]);
  });
  it("leaves no row in the list that it does not hold, whether rows may come in or not", () => {
    assert.deepEqual(numbers(merge(rows(4, 3, 2, 1), rows(5, 4, 2), false).rows), [4, 2]);
    assert.deepEqual(numbers(merge(rows(4, 3, 2, 1), rows(5, 4, 2), true).rows), [5, 4, 2]);
  });
  it("ends where the rows that are shown end, so that older ones neither wait nor get lost", () => {
    const merged = merge(rows(9, 8, 7), rows(10, 9, 7, 6, 5), false);
    assert.deepEqual([numbers(merged.rows), merged.waiting, merged.end], [[9, 7], 1, 3]);
  });
  it("is taken whole where nothing of what was shown is left", () => {
    const merged = merge(rows(2, 1), rows(9, 8), false);
    assert.deepEqual([numbers(merged.rows), merged.waiting, merged.end], [[9, 8], 0, 2]);
  });
  it("has as much unread as is shown beyond it", () => {
    assert.equal(unread(rows(5, 4, 3, 2, 1), rows(7, 6, 5, 4)), 3);
    assert.equal(unread(rows(5, 4, 3), rows(5, 4, 3)), 0);
    assert.equal(unread(rows(5, 4, 3), rows(5, 3, 2)), 0);
    assert.equal(unread(rows(5, 4, 3), rows(9, 8)), 3);
  });
  it("goes on after a number in the order of the log, after a count in others", () => {
    assert.equal(cursorAfter("newest", message({ number: 41 }), 5), "41");
    assert.equal(cursorAfter("oldest", message({ number: 41 }), 5), "41");
    assert.equal(cursorAfter("tokens", message({ number: 41 }), 5), "5");
  });
});

describe("the signals of a list", () => {
  it("are all that any message has, in the order of the server", () => {
    const list = [
      message({ contributions: { role: 1, novelty: 3 } }),
      message({ contributions: { recency: 2 } }),
    ];
    assert.deepEqual(signalNames(list), ["role", "novelty", "recency"]);
    assert.deepEqual(signalNames([message()]), []);
  });
});

describe("the heaviest groups", () => {
  it("count the agent's summary as a summary, not as the user's words", () => {
    const list = [message({ number: 1, kind: "compaction_summary", tokens: 90 }), message({ number: 2 })];
    assert.deepEqual(
      heaviest(list).map((g) => [g.name, g.count]),
      [
        ["summary", 1],
        ["user", 1],
      ],
    );
  });
  it("sum up by tool, most tokens first, without what is out of the context", () => {
    const list = [
      message({ number: 1, role: "tool", tool: "Read", tokens: 30 }),
      message({ number: 2, role: "tool", tool: "Read", tokens: 30, fate: "goes" }),
      message({ number: 3, tokens: 50 }),
      message({ number: 4, tokens: 900, in_context: false }),
    ];
    assert.deepEqual(
      heaviest(list).map((g) => [g.name, g.count, g.tokens, g.going]),
      [
        ["Read", 2, 60, 1],
        ["user", 1, 50, 0],
      ],
    );
  });
});

describe("rows that were just appended", () => {
  it("stand in front, the newest first, where rows may move", () => {
    const made = arrive(rows(2, 1), rows(3, 4), true, 9);
    assert.deepEqual(numbers(made.rows), [4, 3, 2, 1]);
    assert.equal(made.waiting, 0);
  });

  it("wait where nothing may move", () => {
    const made = arrive(rows(2, 1), rows(3, 4), false, 9);
    assert.deepEqual(numbers(made.rows), [2, 1]);
    assert.equal(made.waiting, 2);
  });

  it("replace the row of a message that grew, in its place", () => {
    const [grown] = rows(1);
    assert.ok(grown);
    const made = arrive(rows(2, 1), [{ ...grown, text: "more of it" }], true, 9);
    assert.deepEqual(numbers(made.rows), [2, 1]);
    assert.equal(made.rows[1]?.text, "more of it");
  });
});

describe("a list at which rows keep arriving", () => {
  it("is as long as it may be, and no longer", () => {
    let list = rows(1);
    for (let number = 2; number <= 2_000; number++) list = arrive(list, rows(number), true, 500).rows;
    assert.deepEqual([list.length, list[0]?.number, list.at(-1)?.number], [500, 2_000, 1_501]);
  });
});

describe("what can be done by hand", () => {
  it("is shortening long outputs that stand whole", () => {
    const long = { role: /** @type {const} */ ("tool"), tool: "Bash", chars: 9_000 };
    assert.equal(canShorten(message(long)), true);
    assert.equal(canShorten(message({ ...long, shortened: true })), false);
    assert.equal(canShorten(message({ ...long, in_context: false })), false);
    assert.equal(canShorten(message({ ...long, chars: 900 })), false);
    assert.equal(canShorten(message({ chars: 9_000 })), false);
  });
  it("is dropping anything but the system's words", () => {
    assert.equal(canDrop(message()), true);
    assert.equal(canDrop(message({ role: "system" })), false);
    assert.equal(canDrop(message({ in_context: false })), false);
    assert.equal(canDrop(message({ fate: "protected", cause: "last_unit" })), false);
    assert.equal(canDrop(message({ fate: "protected", cause: "pinned", pinned: true })), false);
  });
});

describe("rows while another plan is made", () => {
  it("keep the fates of the plan before; new ones have their own, and so has what left", () => {
    const shown = [
      message({ number: 4, fate: "pending" }),
      message({ number: 2, fate: "goes", cause: "older" }),
      message({ number: 1, fate: "goes" }),
    ];
    const fresh = [
      message({ number: 4 }),
      message({ number: 3 }),
      message({ number: 2, tokens: 99 }),
      message({ number: 1, fate: "out", in_context: false }),
    ];
    assert.deepEqual(
      withFates(shown, fresh).map((m) => [m.number, m.fate, m.tokens]),
      [
        [4, "kept", 10],
        [3, "kept", 10],
        [2, "goes", 99],
        [1, "out", 10],
      ],
    );
  });
});
