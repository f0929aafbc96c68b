// The message list around its rows, as markup: how many wait above, and how the list goes on below.
import { counted, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";

/** @param {number} waiting new messages that are not shown yet @param {number} most where the count ends */
export function pill(waiting, most) {
  if (waiting === 0) return "";
  const text = waiting < most ? counted(waiting, "new message") : `${number(most)} or more new messages`;
  return html`<div class="pill-holder">
    <button class="pill" data-act="show-new">${icon("up")}${text}</button>
  </div>`;
}

/** @typedef {{ error: string | null, page: Api.Page | null, shown: number, more: boolean }} End */

/** @param {End} end @param {import("./list-head.js").Query} query */
export function listFoot({ error, page, shown, more }, { fate, role, q }) {
  if (error)
    return html`<p role="alert">
      <span class="fault">Could not read the messages: ${error}</span>
      <button class="small" data-act="retry-messages">Try again</button>
    </p>`;
  if (!page) return html`<p class="muted">Reading…</p>`;
  if (shown > 0)
    return more ? html`<p class="muted">${number(shown)} of ${number(page.total)}, more below…</p>` : "";
  if (fate === "all" && !role && !q)
    return html`<p class="muted">No messages yet. They appear here as the agent writes them.</p>`;
  return html`<p class="muted">
    No message fits. <button class="small" data-act="no-filter">Show all</button>
  </p>`;
}
