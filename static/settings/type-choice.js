// The part of the settings form about task types: how a session gets its type, and the choice of the type
// whose weights are shown.
import { html } from "../shared/html.js";
import { ALL, AUTO } from "../shared/task-types.js";
import { choicesOf, strategyName, title, weighsMessages } from "../shared/words.js";
import { faultAt, valueAt } from "./values.js";

/** @typedef {import("./form.js").Form} Form */
/** @typedef {"weights" | "keywords"} Own what a type can have of its own */

/** The type whose weights and keywords the form shows. @param {Form} form */
export const shownType = (form) => form.type ?? ALL;

/** The path of a field for the type that is shown, and whether it follows the field of all sessions.
 * @param {Api.Settings} settings @param {string} type @param {Own} field */
export function placeOf(settings, type, field) {
  const path = `task_types.${type}.${field}`;
  const follows = type !== ALL && (valueAt(settings, path) ?? null) === null;
  return type === ALL || follows ? { path: field, follows } : { path, follows };
}

/** The type's own settings, in words; "" if it has none. @param {Api.Settings} settings
 * @param {string} type */
export function ownOf(settings, type) {
  return ["weights", "keywords"]
    .filter((field) => valueAt(settings, `task_types.${type}.${field}`))
    .join(" and ");
}

/** The choice of the type whose weights and keywords are shown. @param {Form} form */
export function typeTabs(form) {
  const shown = shownType(form);
  return html`<div class="row type-choice">
      <span class="muted small" id="type-of">Shown below</span>
      <span class="segmented" role="group" aria-labelledby="type-of">
        ${choicesOf("task_type").map((type) => type.name !== AUTO && tab(form, type, type.name === shown))}
      </span>
    </div>
    <p class="muted small type-about">${about(form, shown)}</p>`;
}

/** @param {Form} form @param {Api.ChoiceText} type @param {boolean} pressed */
function tab(form, { name, label }, pressed) {
  const all = name === ALL;
  const wrong = !all && faultAt(form.faults, `task_types.${name}`, true) !== "";
  const own = !all && ownOf(form.settings, name) !== "";
  const mark = html`<i class="own-mark" aria-hidden="true"></i><span class="sr"> (has its own)</span>`;
  return html`<button type="button" data-act="type" data-type=${name} data-wrong=${wrong}
    aria-pressed=${pressed}>${all ? "All sessions" : label}${own && mark}${
      wrong && html`<span class="sr"> (wrong)</span>`
    }</button>`;
}

/** The description of the shown type, with its own settings. @param {Form} form @param {string} shown */
function about(form, shown) {
  if (shown === ALL)
    return "For every session whose type has no values of its own. A dot marks types that have them.";
  const own = ownOf(form.settings, shown);
  const type = choicesOf("task_type").find(({ name }) => name === shown);
  return `${type?.label} ${type?.meaning}. It has ${own ? `its own ${own}` : "nothing of its own"}.`;
}

/** The notice in place of the fields if the shown type follows all sessions. @param {Form} form @param {Own}
 * field */
export function followsNotice(form, field) {
  return html`<div class="row follows">
    <p>${title(shownType(form))} has the ${field} of all sessions.</p>
    <button type="button" class="small" data-act="own" data-field=${field}
      >Give it ${field} of its own</button>
  </div>`;
}

/** The button that returns to the field of all sessions; empty if that is shown. @param {Form} form
 * @param {Own} field */
export function followButton(form, field) {
  const { path, follows } = placeOf(form.settings, shownType(form), field);
  if (follows || path === field) return "";
  const same = JSON.stringify(valueAt(form.settings, path)) === JSON.stringify(form.settings[field]);
  return html`<div class="row follows">
    <p class="muted small">${same ? "Equal to" : "Instead of"} those of all sessions.</p>
    <button type="button" class="small" data-act="follow" data-field=${field}
      >Use those of all sessions</button>
  </div>`;
}

/** The end of a heading that names the shown type. @param {Form} form */
export const ofType = (form) => (shownType(form) === ALL ? "" : ` for ${shownType(form)}`);

/** The note on a part that only strategies use that weigh whole messages. @param {Form} form */
export function usersNote(form) {
  const chosen = form.settings.strategy;
  const [users, others] = [true, false].map((whole) =>
    choicesOf("weighing")
      .filter(({ name }) => weighsMessages(name) === whole)
      .map(({ label }) => label)
      .join(", "),
  );
  return html`<p class="muted small">${
    weighsMessages(chosen)
      ? `Used by the chosen strategy, ${strategyName(chosen)}. ${others} does not use it.`
      : `Used only by the strategy ${users}; ${strategyName(chosen)}, chosen now, does not use it.`
  }</p>`;
}
