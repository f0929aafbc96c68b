// static/session/paging.js: several pages read as one.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { pageOver } from "../../../static/session/paging.js";
import { message } from "../builders.js";

/** The rows `from` … `to`, newest first. @param {number} from @param {number} to */
const rows = (from, to) => Array.from({ length: from - to + 1 }, (_, i) => message({ number: from - i }));

/** A session of so many messages, newest first, and how it was asked. @param {number} count */
function log(count) {
  /** @type {[string | number | null, number][]} */
  const asked = [];
  /** @param {string | number | null} after @param {number} limit */
  const fetchPage = async (after, limit) => {
    asked.push([after, limit]);
    const top = after === null ? count : Number(after) - 1;
    const end = Math.max(1, top - limit + 1);
    const next = end > 1 ? String(end) : null;
    const messages = rows(top, end);
    return { messages, total: count, next, version: 1, plan_id: null, pending: false, counts: {} };
  };
  return { asked, fetchPage };
}

/** @param {number} count @param {Api.Message[]} shown @param {number} limit */
async function read(count, shown, limit) {
  const { asked, fetchPage } = log(count);
  const page = await pageOver(fetchPage, await fetchPage(null, limit), shown, "newest", 500);
  return { asked, page, numbers: page.messages.map((m) => m.number) };
}

describe("reading a long list again", () => {
  it("reaches over every row that is shown", async () => {
    const { asked, page, numbers } = await read(2_000, rows(2_000, 801), 500);
    assert.deepEqual(asked, [
      [null, 500],
      ["1501", 500],
      ["1001", 200],
    ]);
    assert.deepEqual([numbers.length, numbers.at(-1), page.next], [1_200, 801, "801"]);
  });
  it("is one page where one is enough", async () =>
    assert.equal((await read(300, rows(300, 201), 100)).asked.length, 1));
  it("leaves out what came between when very much is new, and not what is shown", async () => {
    const { asked, numbers } = await read(9_000, rows(1_000, 901), 200);
    assert.deepEqual(asked, [
      [null, 200],
      ["1001", 100],
    ]);
    assert.deepEqual([numbers[0], numbers[199], numbers[200], numbers.at(-1)], [9_000, 8_801, 1_000, 901]);
  });
  it("ends where nothing of what was shown is found any more", async () => {
    const gone = rows(90_100, 90_001);
    assert.ok((await read(9_000, gone, 100)).numbers.length <= gone.length + 500);
  });
});
