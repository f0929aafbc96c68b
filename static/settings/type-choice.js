// The part of the settings form about task types: how a session's is found, and whose weights and keywords are shown.

import { html } from "../shared/html.js";
import { ALL, CHOICES, ownOf, placeOf, TYPES } from "../shared/task-types.js";
import { strategyName, title } from "../shared/words.js";
import { faultAt, valueAt } from "./values.js";

/** @typedef {import("./form.js").Form} Form */

/** The type whose weights and keywords the form shows. @param {Form} form */
export const shownType = (form) => form.type ?? ALL;

/** @param {Form} form */
export function typesSection(form) {
  const shown = shownType(form);
  const chosen = form.settings.task_type;
  const fault = faultAt(form.faults, "task_type");
  return html`<section class="panel group-box" data-key="types"><header><h2>Task types</h2><span class="muted small">weights and keywords for a kind of session</span></header><div class="fields">
    <div class="setting"><label class="setting-name" for="set-task_type">A session counts as</label><span class="setting-value"><select id="set-task_type" name="task_type">${CHOICES.map(([value, label]) => html`<option value="${value}" ${value === chosen ? html`selected` : ""}>${label}</option>`)}</select></span>
      <p class="muted small">Its page says which type and why, and can choose another.</p>${fault && html`<p class="fault small" id="fault-task_type">${fault}</p>`}</div>
    <div class="type-choice"><span class="muted small" id="type-of">Shown below</span><span class="segmented" role="group" aria-labelledby="type-of">${[
      [ALL, "All sessions"],
      ...TYPES.map(([name]) => [name, title(name)]),
    ].map(([name, label]) => tab(form, name ?? ALL, label ?? "", name === shown))}</span></div>
    <p class="muted small type-about" data-key="about">${about(form, shown)}</p></div></section>`;
}

/** @param {Form} form @param {string} name @param {string} label @param {boolean} pressed */
function tab(form, name, label, pressed) {
  const wrong = name !== ALL && faultAt(form.faults, `task_types.${name}`, true) !== "";
  const own = name !== ALL && ownOf(form.settings, name) !== "";
  return html`<button type="button" data-act="type" data-type="${name}" data-wrong="${wrong}" aria-pressed="${pressed ? "true" : "false"}">${label}${own && html`<i class="own-mark" aria-hidden="true"></i><span class="sr"> (has its own)</span>`}${wrong && html`<span class="sr"> (wrong)</span>`}</button>`;
}

/** What the shown type is, and what of it is its own. @param {Form} form @param {string} shown */
function about(form, shown) {
  const [, what] = TYPES.find(([name]) => name === shown) ?? [];
  if (!what)
    return "These hold for every session whose type has none of its own. A dot marks types that have.";
  const own = ownOf(form.settings, shown);
  return `${title(shown)} ${what}. It has ${own ? `its own ${own}` : "nothing of its own"}.`;
}

/** What stands in place of the fields where the shown type follows all sessions. @param {Form} form @param {"weights" | "keywords"} field */
export function following(form, field) {
  const type = shownType(form);
  return html`<div class="follows" data-key="follows"><p>${title(type)} has the ${field} of all sessions.</p><button type="button" class="small" data-act="own" data-field="${field}">Give it its own</button></div>`;
}

/** The way back to what all sessions have; nothing where that is what is shown. @param {Form} form @param {"weights" | "keywords"} field */
export function back(form, field) {
  const { path, follows } = placeOf(form.settings, shownType(form), field);
  if (follows || path === field) return html``;
  const same = JSON.stringify(valueAt(form.settings, path)) === JSON.stringify(form.settings[field]);
  return html`<div class="follows" data-key="back"><p class="muted small">${same ? "Equal to" : "Instead of"} those of all sessions.</p><button type="button" class="small" data-act="follow" data-field="${field}">Follow all sessions again</button></div>`;
}

/** For whom a group of fields is, where a type is shown. @param {Form} form */
export const forWhom = (form) => (shownType(form) === ALL ? "" : ` for ${shownType(form)}`);

/** Which strategy reads a part that *Foresight* does not. @param {Form} form */
export function readBy(form) {
  const chosen = form.settings.strategy;
  const words =
    chosen === "score"
      ? `Read by the strategy chosen now, ${strategyName("score")}. ${strategyName("foresight")} does not look at it.`
      : `Read by the strategy ${strategyName("score")} only; ${strategyName(chosen)}, chosen now, does not go by it.`;
  return html`<p class="muted small read-by" data-key="read-by">${words}</p>`;
}

/** Which strategies read the weights. @param {string} strategy */
export function weightsReadBy(strategy) {
  if (strategy === "foresight") return "Foresight weighs every name and line by them, not whole messages.";
  if (strategy === "score") return "";
  return `${strategyName(strategy)}, chosen now, does not go by them; the list shows the score that they make.`;
}
