// static/session/listing.js: the rows of the message list.
import assert from "node:assert/strict";
import { it } from "node:test";
import { message } from "../builders.js";

Object.assign(globalThis, { location: { search: "" } });
const { Listing } = await import("../../../static/session/listing.js");

it("new rows replace those far below, so that a list that never rests stays small", () => {
  const list = { getAttribute: () => null, requestUpdate() {} };
  const viewport = { isHeld: false, span: { from: 0, to: 60 } };
  const listing = new Listing(
    /** @type {any} */ (list),
    /** @type {any} */ (viewport),
    /** @type {any} */ ({ any: false, open: new Map() }),
  );
  listing.page = /** @type {any} */ ({});
  listing.refresh = async () => {};
  for (let number = 1; number <= 1000; number++) listing.arrived([message({ number, id: `m${number}` })]);
  assert.deepEqual([listing.rows.at(0)?.number, listing.rows.at(59)?.number], [1000, 941]);
  assert.ok(listing.rows.size < 500, `${listing.rows.size} rows`);
});
