// The message list around its rows, as markup: the fields of its query, waiting messages, actions on the
// selection, and the notice for an empty list.
import { counted, number, tokens } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { optionElements } from "../shared/parts.js";
import { READING } from "../shared/problem.js";
import { ROLE_OPTIONS } from "../shared/words.js";
import { FILTERS, isNarrowed, SORTS } from "./list-query.js";
import { canDrop, canShorten } from "./message-facts.js";

/** @typedef {import("./list-query.js").Query} Query */

/** @param {Query} query @param {Partial<Record<string, number>> | undefined} counts
 * @param {string[]} tools */
export function listHead(query, counts, tools) {
  const changes = counts && (counts.goes ?? 0) + (counts.shortened ?? 0);
  /** @type {Partial<Record<string, number>>} */
  const numbers = { ...counts, changes };
  const named = [...new Set([...tools, query.tool])].filter(Boolean);
  /** @type {[string, string][]} */
  const choices = [["", "All tools"], ...named.map((name) => /** @type {[string, string]} */ ([name, name]))];
  return html`<header class="list-head">
    <h2>Messages</h2>
    <div class="row chips" role="group" aria-label="Show">
      ${rangeChip(query)} ${FILTERS.map(([name, label]) => chip(query, name, label, numbers[name]))}
    </div>
    <div class="beside list-tools">
      <input type="search" name="q" .value=${query.q} placeholder="Find" aria-label="Find in messages"
        autocomplete="off" spellcheck="false">
      <select name="tool" aria-label="Tool">${optionElements(choices, query.tool)}</select>
      <select name="role" aria-label="Role">${optionElements(ROLE_OPTIONS, query.role)}</select>
      <select name="sort" aria-label="Sort">${optionElements(SORTS, query.sort)}</select>
    </div>
  </header>`;
}

/** The part of the session that the list shows, with a way back to all of it. @param {Query} query */
function rangeChip({ from, to }) {
  if (!from && !to) return "";
  const words = `${number(Number(from || 1))}–${to ? number(Number(to)) : "…"}`;
  return html`<button class="chip" data-act="no-range" aria-label="Messages ${words}: show all again"
    >${words}${icon("close")}</button>`;
}

/** @param {Query} query @param {string} name @param {string} label @param {number | undefined} count */
function chip(query, name, label, count) {
  const pressed = query.fate === name;
  if (count === 0 && !pressed && name !== "all") return "";
  return html`<button class="chip" data-act="filter" data-name=${name} aria-pressed=${pressed}
    >${label}${count !== undefined && html`<span class="count">${number(count)}</span>`}</button>`;
}

/** @param {number} waiting new messages that are not shown yet */
export function pill(waiting) {
  if (waiting === 0) return "";
  return html`<div class="pill-holder">
    <button class="pill" data-act="show-new">${icon("up")}${counted(waiting, "new message")}</button>
  </div>`;
}

/** The actions on the selected messages. @param {Api.Message[]} messages @param {string} certainty */
export function selection(messages, certainty) {
  if (messages.length === 0) return "";
  const sum = messages.reduce((all, message) => all + message.tokens, 0);
  /** @param {string} kind @param {string} shape @param {string} word */
  const button = (kind, shape, word) =>
    html`<button class="small" data-act="choose-selected" data-kind=${kind}>${icon(shape)}${word}</button>`;
  return html`<div class="selection-holder"
    ><div class="row selection" role="toolbar" aria-label="Selected messages">
    <span role="status"><b>${counted(messages.length, "message")}</b> selected,
      ${tokens(sum, certainty)} tokens</span>
    ${messages.some(canDrop) && button("drop", "goes", "Drop…")}
    ${messages.some(canShorten) && button("shorten", "torn", "Shorten…")}
    ${button("spare", "lock", "Spare…")}
    <button class="small quiet" data-act="select-none">Select none</button>
  </div></div>`;
}

/** @param {boolean} isLoaded false until the first rows came @param {number} total
 * @param {Query} query
 * @param {string} address where a program appends messages; "" for a session that an agent writes */
export function listFoot(isLoaded, total, query, address) {
  if (!isLoaded) return READING;
  if (total > 0) return "";
  if (!isNarrowed(query))
    return html`<p class="muted">
      No messages yet. ${
        address
          ? html`A program appends them: <code>POST ${address}</code>`
          : "They appear here as the agent writes them."
      }
    </p>`;
  return html`<p class="muted">
    No message matches. <button class="small" data-act="no-filter">Show all</button>
  </p>`;
}
