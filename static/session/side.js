// The panels beside the messages as markup: their tabs, and the open one.
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { certaintyOfParts } from "../shared/session-facts.js";

/** @typedef {"plan" | "history" | "summary" | "archive" | "heaviest"} Tab */

/** @type {[Tab, string][]} */
export const TABS = [
  ["plan", "Plan"],
  ["heaviest", "Heaviest"],
  ["history", "History"],
  ["summary", "Summary"],
  ["archive", "Archive"],
];

/** @type {Record<Tab, (id: string, certainty: string) => import("../shared/html.js").Html>} */
const PANELS = {
  plan: () => html`<plan-panel></plan-panel>`,
  heaviest: (id, certainty) => html`<heavy-panel session-id=${id} certainty=${certainty}></heavy-panel>`,
  history: (id) => html`<history-panel session-id=${id}></history-panel>`,
  summary: (id) => html`<summary-panel session-id=${id}></summary-panel>`,
  archive: (id, certainty) => html`<archive-panel session-id=${id} certainty=${certainty}></archive-panel>`,
};

/** The tab that an arrow key selects; null for any other key. @param {Tab} tab @param {string} key
 * @returns {Tab | null} */
export function neighbour(tab, key) {
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  const here = TABS.findIndex(([name]) => name === tab);
  return step === 0 ? null : (TABS[(here + step + TABS.length) % TABS.length]?.[0] ?? null);
}

/** @param {Api.Session} session @param {Tab} tab
 * @param {boolean} sheet true if the sheet of a narrow page is open */
export function side(session, tab, sheet) {
  return html`<aside class="side panel" data-open=${sheet} aria-label="Plan and history">
    <header>
      <div role="tablist" aria-label="Panels" class="tabs">
        ${TABS.map(([name, label]) => tabButton(name, label, tab === name, session.operations))}
      </div>
      <button class="quiet iconic small close-sheet" data-act="close-sheet" aria-label="Close"
        >${icon("close")}</button>
    </header>
    <div role="tabpanel" id="side-panel" aria-labelledby="tab-${tab}" class="side-body"
      >${PANELS[tab](session.id, certaintyOfParts(session.pruned))}</div>
  </aside>`;
}

/** @param {Tab} name @param {string} label @param {boolean} open @param {number} operations */
function tabButton(name, label, open, operations) {
  const count = name === "history" && operations > 0 && html`<span class="count">${operations}</span>`;
  return html`<button role="tab" id="tab-${name}" data-act="tab" data-tab=${name} aria-controls="side-panel"
    aria-selected=${open} tabindex=${open ? 0 : -1}>${label}${count}</button>`;
}
