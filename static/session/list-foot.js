// What the message list says besides its rows, as markup: which rows wait, where it begins, and below them how it goes on.
import { counted, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";

/** @param {number} waiting new messages that are not let in yet @param {number} most from so many on nobody counted */
export function pill(waiting, most) {
  if (waiting === 0) return html``;
  const text = waiting < most ? counted(waiting, "new message") : `${number(most)} or more new messages`;
  return html`<div class="pill-holder" data-key="pill"><button class="pill" data-act="show-new">${icon("up")}${text}</button></div>`;
}

/** @typedef {{ error: string | null, page: import("../shared/types.js").Page | null, shown: number, more: boolean }} End */

/** @param {End} end @param {import("./list-head.js").Query} query */
export function listFoot({ error, page, shown, more }, { fate, role, q }) {
  if (error)
    return html`<p role="alert"><span class="fault">Could not read the messages: ${error}</span> <button class="small" data-act="retry-messages">Try again</button></p>`;
  if (!page) return html`<p class="muted">Reading…</p>`;
  if (shown > 0)
    return more ? html`<p class="muted">${number(shown)} of ${number(page.total)}, more below…</p>` : html``;
  return fate !== "all" || role || q
    ? html`<p class="muted">No message fits. <button class="small" data-act="no-filter">Show all</button></p>`
    : html`<p class="muted">No messages yet. They appear here as the agent writes them.</p>`;
}
