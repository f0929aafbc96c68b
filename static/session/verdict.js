// The verdict under a session's title as markup: one sentence, its safety, and the button of its one action.
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { verdictText } from "../shared/session-facts.js";

/** The button of each action on this page. */
const ACTS = { prune: "see-plan", clear: "see-plan", resume: "resume", export: "open-export" };
/** The urgency of each kind: act now, may act, nothing to do. */
const NEEDS = {
  now: "act",
  above: "act",
  resume: "act",
  clear: "may",
  fine: "none",
  over: "none",
  empty: "none",
};
const ICONS = { act: "warning", may: "restore", none: "done" };

/** @param {Api.Verdict} verdict */
export function verdictLine({ kind, text, safety, action }) {
  const need = /** @type {keyof typeof ICONS} */ (NEEDS[kind]);
  return html`<section class="verdict" data-need=${need} data-kind=${kind} aria-label="Verdict">
    ${icon(ICONS[need])}
    <p><span class="said">${verdictText(text)}</span>${
      safety && html` <small class="muted">${safety}</small>`
    }</p>
    ${
      action &&
      html`<button class=${need === "act" ? "" : "small"} data-act=${ACTS[action.kind]}
        data-aim=${action.max_tokens ?? ""}>${action.label}</button>`
    }
  </section>`;
}
