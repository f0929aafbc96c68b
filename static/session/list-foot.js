// The message list around its rows, as markup: waiting messages, actions on the selection, and the notice for
// an empty list.
import { counted, tokens } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { READING } from "../shared/problem.js";
import { isNarrowed } from "./list-head.js";
import { canDrop, canShorten } from "./rows.js";

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
 * @param {import("./list-head.js").Query} query
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
