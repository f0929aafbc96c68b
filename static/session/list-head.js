// The head of the message list as markup: filters, search and order, which are part of the page's address.
import * as address from "../shared/address.js";
import { number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { options } from "../shared/session-parts.js";
import { title } from "../shared/words.js";

/** @typedef {{ fate: string, role: string, q: string, sort: string }} Query what a list shows */

/** @type {[string, string][]} */
const FILTERS = [
  ["all", "All"],
  ["goes", "Goes"],
  ["shortened", "Shortened"],
  ["protected", "Protected"],
  ["errors", "Errors"],
  ["out", "Out"],
];
/** @type {[string, string][]} */
const ROLES = [
  ["", "All roles"],
  .../** @type {[string, string][]} */ (
    ["user", "assistant", "tool", "system"].map((role) => [role, title(role)])
  ),
];
/** @type {[string, string][]} */
const SORTS = [
  ["newest", "Newest first"],
  ["oldest", "Oldest first"],
  ["tokens", "Most tokens first"],
  ["score", "Score"],
];
const BEGINNING = { show: "all", role: "", find: "", sort: "newest" };

/** Everything, newest first. @type {Readonly<Query>} */
export const EVERYTHING = { fate: "all", role: "", q: "", sort: "newest" };

/** The choices in an address; an unknown filter or order is ignored. @param {string} search
 * @returns {Query} */
export function queryOf(search) {
  const { show, role, find, sort } = address.read(search, BEGINNING);
  /** @param {string[][]} names @param {string} name */
  const known = (names, name) => names.some(([one]) => one === name);
  return {
    fate: known(FILTERS, show) ? show : EVERYTHING.fate,
    role: known(ROLES, role) ? role : "",
    q: find,
    sort: known(SORTS, sort) ? sort : EVERYTHING.sort,
  };
}

/** Writes the choices into the address, and removes the message that it led to. @param {Query} query */
export function keepQuery({ fate, role, q, sort }) {
  address.write({ show: fate, role, find: q, sort, message: "" }, { ...BEGINNING, message: "" });
}

/** @param {Query} query @param {Partial<Record<string, number>> | undefined} counts */
export function listHead(query, counts) {
  return html`<header class="list-head">
    <h2>Messages</h2>
    <div class="chips" role="group" aria-label="Show">
      ${FILTERS.map(([name, label]) => chip(query, name, label, counts?.[name]))}
    </div>
    <div class="list-tools end">
      <input type="search" name="q" .value=${query.q} placeholder="Find" aria-label="Find in messages"
        autocomplete="off" spellcheck="false">
      <select name="role" aria-label="Role">${options(ROLES, query.role)}</select>
      <select name="sort" aria-label="Sort">${options(SORTS, query.sort)}</select>
    </div>
  </header>`;
}

/** @param {Query} query @param {string} name @param {string} label @param {number | undefined} count */
function chip(query, name, label, count) {
  const pressed = query.fate === name;
  if (count === 0 && !pressed && name !== "all") return "";
  return html`<button class="chip" data-act="filter" data-name=${name} aria-pressed=${pressed}
    >${label}${count !== undefined && html`<span class="count">${number(count)}</span>`}</button>`;
}
