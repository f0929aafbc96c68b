// The panels beside the messages as markup: which there are, and which is open.
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";

/** @typedef {import("../shared/types.js").Session} Session */
/** @typedef {"plan" | "history" | "summary" | "archive" | "heaviest"} Tab */

/** @type {[Tab, string][]} */
export const TABS = [
  ["plan", "Plan"],
  ["heaviest", "Heaviest"],
  ["history", "History"],
  ["summary", "Summary"],
  ["archive", "Archive"],
];

/** The tab that an arrow key leads to; null for any other key. @param {Tab} tab @param {string} key @returns {Tab | null} */
export function neighbour(tab, key) {
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  const here = TABS.findIndex(([name]) => name === tab);
  return step === 0 ? null : (TABS[(here + step + TABS.length) % TABS.length]?.[0] ?? null);
}

/** The aside with its tabs; the open tab's panel is an element of its own. @param {Session} session @param {Tab} tab @param {boolean} sheet whether it is open where the page is narrow */
export function side(session, tab, sheet) {
  return html`<aside class="side panel" data-key="side" data-open="${sheet}" aria-label="Plan and history">
    <header><div role="tablist" aria-label="Panels" class="tabs">${TABS.map(
      ([name, label]) =>
        html`<button role="tab" id="tab-${name}" data-act="tab" data-tab="${name}" aria-controls="side-panel" aria-selected="${tab === name ? "true" : "false"}" tabindex="${tab === name ? 0 : -1}">${label}${name === "history" && session.operations > 0 && html`<span class="count">${session.operations}</span>`}</button>`,
    )}</div><button class="quiet iconic small close-sheet" data-act="close-sheet" aria-label="Close">${icon("close")}</button></header>
    <div role="tabpanel" id="side-panel" aria-labelledby="tab-${tab}" class="side-body">${
      tab === "plan"
        ? html`<plan-panel data-key="plan"></plan-panel>`
        : tab === "history"
          ? html`<history-panel data-key="history" session-id="${session.id}"></history-panel>`
          : tab === "summary"
            ? html`<summary-panel data-key="summary" session-id="${session.id}"></summary-panel>`
            : tab === "archive"
              ? html`<archive-panel data-key="archive" session-id="${session.id}"></archive-panel>`
              : html`<heavy-panel data-key="heaviest" session-id="${session.id}"></heavy-panel>`
    }</div></aside>`;
}
