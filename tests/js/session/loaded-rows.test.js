// static/session/loaded-rows.js: a list with gaps.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { LoadedRows } from "../../../static/session/loaded-rows.js";
import { message } from "../builders.js";

/** @param {number[]} numbers */
const rows = (...numbers) => numbers.map((number) => message({ number, id: `m${number}` }));

describe("loaded rows", () => {
  it("are stored by index, with gaps between them", () => {
    const list = new LoadedRows();
    list.put(10, rows(5, 4));
    assert.deepEqual([list.at(9)?.number, list.at(10)?.number, list.at(11)?.number], [undefined, 5, 4]);
    assert.equal(
      list.find((m) => m.number === 4),
      11,
    );
    assert.equal(
      list.find((m) => m.number === 9),
      -1,
    );
  });
  it("are found by the id of their message", () => {
    const list = new LoadedRows();
    list.put(10, rows(5, 4));
    assert.deepEqual([list.indexOf("m4"), list.indexOf("m9")], [11, -1]);
    assert.deepEqual([list.withId("m4")?.number, list.withId("m9")], [4, undefined]);
  });
  it("between two of them are in the order of the list, whichever was named first", () => {
    const list = new LoadedRows();
    list.put(3, rows(2, 1));
    list.put(0, rows(5, 4));
    assert.deepEqual(
      list.between(4, 1).map((m) => m.number),
      [4, 2, 1],
    );
  });
  it("move down when others come before them", () => {
    const list = new LoadedRows();
    list.put(0, rows(2, 1));
    list.unshift(rows(4, 3));
    assert.deepEqual(
      [0, 1, 2, 3].map((i) => list.at(i)?.number),
      [4, 3, 2, 1],
    );
  });
  it("are replaced in place", () => {
    const list = new LoadedRows();
    list.put(3, rows(2, 1));
    list.renew([message({ id: "m1", number: 1, text: "more of it" }), message({ id: "m9", number: 9 })]);
    assert.deepEqual([list.at(4)?.text, list.size], ["more of it", 2]);
  });
  it("are removed outside a span", () => {
    const list = new LoadedRows();
    list.put(0, rows(5, 4, 3, 2, 1));
    list.keep({ from: 1, to: 3 });
    list.keep({ from: 2, to: 3 }, 1);
    assert.deepEqual(
      list.all.map((m) => m.number),
      [4, 3],
    );
  });
  it("give the part of a span that is missing", () => {
    const list = new LoadedRows();
    assert.deepEqual(list.missing({ from: 0, to: 4 }), { from: 0, to: 4 });
    list.put(0, rows(5, 4));
    assert.deepEqual(list.missing({ from: 0, to: 4 }), { from: 2, to: 4 });
    list.put(2, rows(3, 2));
    assert.equal(list.missing({ from: 0, to: 4 }), null);
  });
});
