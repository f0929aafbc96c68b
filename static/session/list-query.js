// The query of the message list: filter, search and order, which are part of the page's address.
import * as address from "../shared/address.js";
import { ROLE_OPTIONS } from "../shared/words.js";

/** The messages that a list shows; `from` and `to` are the numbers of its first and last message, empty
 * where it has no such end. @typedef {{ fate: string, role: string, tool: string, q: string, from: string,
 * to: string, sort: string }} Query */

/** @type {[string, string][]} */
export const FILTERS = [
  ["all", "All"],
  ["changes", "Changes"],
  ["goes", "Goes"],
  ["shortened", "Shortened"],
  ["protected", "Protected"],
  ["errors", "Errors"],
  ["out", "Out"],
];
/** @type {[string, string][]} */
export const SORTS = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["tokens", "Most tokens first"],
  ["score", "Score"],
];
/** The parameters of open and selected rows. */
export const NO_ROWS = { message: "", selected: "" };
const DEFAULTS = { show: "all", role: "", tool: "", find: "", from: "", to: "", sort: "newest" };

/** Everything, newest first. @type {Readonly<Query>} */
export const EVERYTHING = { fate: "all", role: "", tool: "", q: "", from: "", to: "", sort: "newest" };
/** The changes of an open plan, largest first. @type {Readonly<Query>} */
export const CHANGES = { ...EVERYTHING, fate: "changes", sort: "tokens" };

/** @param {Query} one @param {Query} other */
export const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/** True where a list shows some messages only. @param {Query} query */
export const isNarrowed = (query) => !isSame({ ...query, sort: EVERYTHING.sort }, EVERYTHING);

/** The choices in an address; an unknown filter or order is ignored. @param {string} search
 * @returns {Query} */
export function queryOf(search) {
  const { show, role, tool, find, from, to, sort } = address.read(search, DEFAULTS);
  /** @param {string[][]} names @param {string} name */
  const known = (names, name) => names.some(([one]) => one === name);
  /** @param {string} text */
  const place = (text) => (/^[1-9]\d{0,8}$/.test(text) ? text : "");
  return {
    fate: known(FILTERS, show) ? show : EVERYTHING.fate,
    role: known(ROLE_OPTIONS, role) ? role : "",
    tool,
    q: find,
    from: place(from),
    to: place(to),
    sort: known(SORTS, sort) ? sort : EVERYTHING.sort,
  };
}

/** The choice of all messages. */
export const ALL = { show: EVERYTHING.fate };

/** Returns whether an address names the choice of all messages. @param {string} search */
export const namesAll = (search) => address.read(search, { show: "" }).show === ALL.show;

/** Writes the choices into the address, and removes the messages that were open or selected there.
 * @param {Query} query @param {address.Keep} keep @param {boolean} [names] true to name the choice of
 * all messages, too */
export function keepQuery({ fate, q, ...rest }, keep, names = false) {
  const defaults = { ...DEFAULTS, ...NO_ROWS, ...(names ? { show: "" } : {}) };
  keep({ show: fate, find: q, ...rest, ...NO_ROWS }, defaults);
}
