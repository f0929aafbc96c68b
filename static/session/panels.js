// The panels beside the messages as markup: their tabs, and the open one.
import { number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { NOT_LOADED, problem } from "../shared/problem.js";
import { certaintyOfParts } from "../shared/session-facts.js";

/** A panel: its tab, its markup, and what loads its module when it is first shown, where few visits open it.
 * @typedef {{ label: string, template: (id: string, certainty: string) => import("../shared/html.js").Html,
 * load?: () => Promise<unknown> }} Panel */

/** @satisfies {Record<string, Panel>} */
const BY_NAME = {
  plan: { label: "Plan", template: () => html`<plan-panel></plan-panel>` },
  heaviest: {
    label: "Heaviest",
    template: (id, certainty) => html`<heavy-panel session-id=${id} certainty=${certainty}></heavy-panel>`,
  },
  history: {
    label: "History",
    template: (id) => html`<history-panel session-id=${id}></history-panel>`,
    load: () => import("./history-panel.js"),
  },
  summary: {
    label: "Summary",
    template: (id, certainty) =>
      html`<summary-panel session-id=${id} certainty=${certainty}></summary-panel>`,
    load: () => import("./summary-panel.js"),
  },
  archive: {
    label: "Archive",
    template: (id, certainty) =>
      html`<archive-panel session-id=${id} certainty=${certainty}></archive-panel>`,
    load: () => import("./archive-panel.js"),
  },
};
/** @typedef {keyof typeof BY_NAME} Tab */

/** The panels in the order of their tabs. @type {Record<Tab, Panel>} */
export const PANELS = BY_NAME;
export const TABS = /** @type {Tab[]} */ (Object.keys(PANELS));

/** The tab that an arrow key selects; null for any other key. @param {Tab} tab @param {string} key
 * @returns {Tab | null} */
export function neighbour(tab, key) {
  const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
  const here = TABS.indexOf(tab);
  return step === 0 ? null : (TABS[(here + step + TABS.length) % TABS.length] ?? null);
}

/** The tabs, and below them the open panel, or that it could not be loaded. @param {Api.Session} session
 * @param {Pick<import("./side-panels.js").SidePanels, "tab" | "sheet" | "unloaded">} panels */
export function side(session, { tab: open, sheet, unloaded }) {
  const tab = open ?? "heaviest";
  const panel =
    open !== null && open === unloaded
      ? html`<div class="panel-body">${problem("Could not load the panel", NOT_LOADED, "retry-panel")}</div>`
      : PANELS[tab].template(session.id, certaintyOfParts(session.pruned));
  return html`<div role="complementary" class="side panel" data-open=${sheet} aria-label="Panels">
    <header>
      <div role="tablist" aria-label="Panels" class="tabs">
        ${TABS.map((name) => tabButton(name, tab === name, session.operations))}
      </div>
      <button class="quiet iconic small close-sheet" data-act="close-sheet" aria-label="Close"
        >${icon("close")}</button>
    </header>
    <div role="tabpanel" id="side-panel" aria-labelledby="tab-${tab}" class="side-body"
      >${panel}</div>
  </div>`;
}

/** @param {Tab} name @param {boolean} open @param {number} operations */
function tabButton(name, open, operations) {
  const count =
    name === "history" && operations > 0 && html`<span class="count">${number(operations)}</span>`;
  return html`<button role="tab" id="tab-${name}" data-act="tab" data-tab=${name} aria-controls="side-panel"
    aria-selected=${open} tabindex=${open ? 0 : -1}>${PANELS[name].label}${count}</button>`;
}
