// static/overview/titles.js: the names that tell sessions apart.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { distinctNames, withoutCommonBeginnings } from "../../../static/overview/titles.js";
import { session } from "../builders.js";

/** @param {string[]} titles */
const cut = (titles) => Object.fromEntries(withoutCommonBeginnings(titles.map((t, i) => [`${i}`, t])));

describe("a beginning that three titles share", () => {
  it("is cut off at a word", () =>
    assert.deepEqual(
      cut(["You are a tester: log in", "You are a tester: list depots", "You are a tester: read", "Other"]),
      { 0: "log in", 1: "list depots", 2: "read" },
    ));
  it("stays where it is short, or only two have it", () => {
    assert.deepEqual(cut(["Fix one", "Fix two", "Fix three"]), {});
    assert.deepEqual(cut(["Translate the manual: French", "Translate the manual: Greek"]), {});
  });
  it("stays where nothing else would be left", () =>
    assert.deepEqual(cut(["Run all the tests", "Run all the tests", "Run all the tests"]), {}));
});

describe("the name of a session", () => {
  const now = Date.parse("2026-11-22T12:00:00Z");
  it("is its title, where that is its own", () =>
    assert.equal(distinctNames([session({ id: "a" })], now).size, 0));
  it("has the time of its last activity, where another has the same title", () => {
    const [a, b] = [session({ id: "a", last_activity: "2026-03-04T10:00:00Z" }), session({ id: "b" })];
    assert.match(distinctNames([a, b], now).get("a")?.mark ?? "", /Mar/);
  });
  it("shows that a beginning was cut", () => {
    const some = ["log in", "list", "read"].map((end, i) =>
      session({ id: `${i}`, title: `You are a tester: ${end}` }),
    );
    assert.deepEqual(distinctNames(some, now).get("1"), { text: "… list", mark: "" });
  });
});
