// The differences between the plans of saved and edited settings as markup. Loaded once something was edited.
import { counted, number, tokens as tokenText } from "../shared/format.js";
import { html, withCode } from "../shared/html.js";
import { fateName, plainReason } from "../shared/words.js";
import { compared, moreThan, nearTheCut, ranked, swapped } from "./plan-comparison.js";

/** @typedef {import("./plan-comparison.js").Compared} Compared */

const SHOWN_SWAPS = 30;
const SHOWN_RANKS = 12;

/** The messages that change fate, and the ranked lists. @param {Api.Plan} saved @param {Api.Plan} tried
 * @param {string} certainty of the tokens of messages */
export function differences(saved, tried, certainty) {
  const all = compared(saved, tried);
  const swaps = swapped(all);
  if (swaps.length === 0) return "";
  const more = moreThan(tried.changed ?? 0, swaps, SHOWN_SWAPS);
  return html`<table class="swaps" aria-label="Messages that change fate">
      <thead><tr><th>Message</th><th class="num">Score</th><th>Fate</th></tr></thead>
      <tbody>${swaps.slice(0, SHOWN_SWAPS).map((one) => swap(one, certainty))}</tbody>
    </table>
    ${more > 0 && html`<p class="small muted">and ${counted(more, "more message")}</p>`}
    <details class="ranks">
      <summary>The ranked list before and after</summary>
      <p class="small muted">Messages that change fate and the last ones to go, lowest score first.</p>
      <div class="ranks-pair">
        ${rankList("Saved", all, 0, saved)} ${rankList("Edited", all, 1, tried)}
      </div>
    </details>`;
}

/** @param {number | null} score */
const points = (score) => (score === null ? "–" : number(Math.round(score)));

/** @param {Compared} one @param {string} certainty */
function swap({ number: n, text, role, tokens, scores, fates, reason }, certainty) {
  const [before = null, after = null] = scores;
  const [was = "", is = ""] = fates;
  return html`<tr>
    <td><span class="one-line"><span class="muted">#${number(n)} ${role}</span> ${text}</span>
    </td>
    <td class="num">${points(before)} → ${points(after)}</td>
    <td>${fateName(was)} → <b>${fateName(is)}</b></td>
  </tr>
  <tr class="why"><td colspan="3" class="small muted"
    >${tokenText(tokens, certainty)} tokens${reason && html` · ${withCode(plainReason(reason))}`}</td></tr>`;
}

/** The removed messages that change fate and the last ones to go, lowest score first. @param {string} name
 * @param {Compared[]} all @param {0 | 1} which @param {Api.Plan} plan of which the first rows are compared */
function rankList(name, all, which, { removed_count }) {
  const list = ranked(all, which);
  const more = moreThan(removed_count, list, SHOWN_RANKS);
  return html`<div>
    <h3>${name}: ${number(removed_count)} go</h3>
    <ol>${nearTheCut(list, SHOWN_RANKS).map(
      ({ number: n, text, scores, fates }) =>
        html`<li data-swaps=${fates[0] !== fates[1]}><span class="num">${points(scores[which] ?? null)}</span>
          <span class="one-line">#${number(n)} ${text}</span></li>`,
    )}</ol>
    ${more > 0 && html`<p class="small muted">and ${number(more)} more</p>`}
  </div>`;
}
