// static/session/message-facts.js: what can be said of messages and done with them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  bracketOf,
  canDrop,
  canShorten,
  newer,
  withFates,
  withTexts,
} from "../../../static/session/message-facts.js";
import { message } from "../builders.js";

/** @param {number[]} numbers */
const rows = (...numbers) => numbers.map((number) => message({ number }));
/** @param {Api.Message[]} list */
const numbers = (list) => list.map((m) => m.number);

describe("the bracket of a unit", () => {
  it("spans adjacent rows of the unit", () => {
    const [one, two, three] = [2, 3, 4].map((number) => message({ number, unit: 2, unit_size: 3 }));
    assert.ok(one && two && three);
    assert.equal(bracketOf(message({ number: 1 }), one, two), "start");
    assert.equal(bracketOf(one, two, three), "mid");
    assert.equal(bracketOf(two, three, undefined), "end");
    assert.equal(bracketOf(undefined, message(), undefined), "none");
  });
  it("is not drawn around one row whose unit is elsewhere", () =>
    assert.equal(bracketOf(undefined, message({ number: 2, unit: 2, unit_size: 3 }), undefined), "none"));
});

describe("rows that were just appended", () => {
  it("come before all others, the newest first", () => {
    assert.deepEqual(numbers(newer(2, rows(3, 2, 4)) ?? []), [4, 3]);
    assert.deepEqual(newer(4, rows(3, 4)), []);
  });
  it("are not shown where some between them are missing", () => {
    assert.equal(newer(2, rows(4, 5)), null);
    assert.equal(newer(2, rows(3, 5)), null);
  });
});

describe("actions by hand", () => {
  it("shorten long outputs that are not shortened yet", () => {
    const long = { role: /** @type {const} */ ("tool"), tool: "Bash", chars: 9_000 };
    assert.equal(canShorten(message(long)), true);
    assert.equal(canShorten(message({ ...long, shortened: true })), false);
    assert.equal(canShorten(message({ ...long, in_context: false })), false);
    assert.equal(canShorten(message({ ...long, chars: 900 })), false);
    assert.equal(canShorten(message({ chars: 9_000 })), false);
  });
  it("drop anything but system messages", () => {
    assert.equal(canDrop(message()), true);
    assert.equal(canDrop(message({ role: "system" })), false);
    assert.equal(canDrop(message({ in_context: false })), false);
    assert.equal(canDrop(message({ fate: "protected", cause: "last_unit" })), false);
    assert.equal(canDrop(message({ fate: "protected", cause: "pinned", pinned: true })), false);
  });
});

describe("rows while a new plan is made", () => {
  it("keep the fates of the plan before, except new rows and those that left the context", () => {
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

describe("rows that are read again without their texts", () => {
  const known = [
    message({ number: 2, text: "long", chars: 90 }),
    message({ number: 1, text: "short", chars: 5 }),
  ];
  it("keep the known ones", () => {
    const brief = known.map((one) => ({ ...one, text: "l…", fate: /** @type {const} */ ("goes") }));
    const whole = withTexts(known, brief);
    assert.deepEqual(
      whole?.map(({ text, fate }) => [text, fate]),
      [
        ["long", "goes"],
        ["short", "goes"],
      ],
    );
  });
  it("are read in full where one is new or has grown", () => {
    assert.equal(withTexts(known, [message({ number: 3, text: "n…" })]), null);
    assert.equal(
      withTexts(
        known,
        known.map((one) => ({ ...one, chars: 91 })),
      ),
      null,
    );
  });
});
