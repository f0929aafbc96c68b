// The parts of the settings form as markup. A field's `name` is the dotted path of its setting; its error
// is below it.
import { decimal, sentence } from "../shared/format.js";
import { fieldValue, html, nothing } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { optionElements, signalColour, signalSwatch, switchField } from "../shared/parts.js";
import { ALL } from "../shared/task-types.js";
import {
  choiceOptions,
  strategyName,
  title,
  weighsMentions,
  weighsMessages,
  weightsUsedBy,
} from "../shared/words.js";
import { SECTIONS } from "./fields.js";
import {
  followButton,
  followsNotice,
  ofType,
  placeOf,
  shownType,
  typeTabs,
  usersNote,
} from "./type-choice.js";
import { faultAt, valueAt } from "./values.js";

/** @typedef {import("../shared/html.js").Html} Html */
/** `type` is the task type whose weights and keywords are shown, that of all sessions by default.
 * @typedef {Api.SettingsDoc} Doc @typedef {{ settings: Api.Settings, faults: Api.Detail[], limits:
 * Doc["limits"], signals: Doc["signals"], type?: string }} Form */

const KNOWN = new Set([
  "counting", // not offered: it is for lists that Python prunes, and a server counts by the tokenizer
  ...["weights", "roles", "keywords", "length_steps", "task_type"],
  ...Object.values(SECTIONS).flatMap(([, , fields]) => fields.map(([name]) => name)),
]);

/** A group of fields that only strategies use that score whole messages. Under any other it is folded, unless
 * one of its fields is wrong. @param {Form} form @param {string} path @param {string} heading
 * @param {string} beside @param {Html} fields */
function scoreSection(form, path, heading, beside, fields) {
  if (weighsMessages(form.settings.strategy)) return section(heading, beside, fields);
  return html`<details class="panel group-box unused" ?open=${faultAt(form.faults, path, true) !== ""}>
    <summary>
      <h2>${heading}</h2><span class="muted small">not used by ${strategyName(form.settings.strategy)}</span>
    </summary>
    <div class="fields">${fields}</div>
  </details>`;
}

/** A group of fields under a heading. @param {string} heading @param {Html} beside @param {Html} fields */
function section(heading, beside, fields) {
  return html`<section class="panel group-box">
    <header>
      <h2>${heading}</h2>
      ${typeof beside === "string" ? html`<span class="muted small">${beside}</span>` : beside}
    </header>
    <div class="fields">${fields}</div>
  </section>`;
}

/** The error message of a field. @param {Form} form @param {string} path @param {boolean} [within] */
function faultNote({ faults }, path, within) {
  const message = faultAt(faults, path, within);
  return message && html`<p class="fault small" id="fault-${path}">${sentence(message)}</p>`;
}

/** The state of a field: true if it is wrong, and the ids of its error message and its help.
 * @param {Form} form @param {string} path @param {{ note?: string, help?: string }} [texts] `note`: the path
 * of the message, if it is below several fields */
function about({ faults }, path, { note = path, help = "" } = {}) {
  const isWrong = faultAt(faults, path, true) !== "";
  const ids = [isWrong && `fault-${note}`, help && `help-${path}`].filter(Boolean);
  return { isWrong, ids: ids.join(" ") || nothing };
}

/** A number field. @param {Form} form @param {string} path @param {string} label
 * @param {{ limits?: string, id?: string, note?: string, help?: string }} [more] `limits`: the name of its
 * limits, if that is not its path */
function numberField(form, path, label, { limits = path, id = "", ...texts } = {}) {
  const value = valueAt(form.settings, path);
  const { min, max } = form.limits[limits] ?? {};
  const { isWrong, ids } = about(form, path, texts);
  return html`<input type="number" name=${path} step="any" min=${min ?? nothing} max=${max ?? nothing}
    .value=${fieldValue(value === null ? "" : rounded(value))} aria-label=${label} aria-invalid=${isWrong}
    aria-describedby=${ids} id=${id || nothing}>`;
}

/** The values that have sliders: their unit, for screen readers, and the highest where the server has none.
 */
const SLIDERS = { weights: { unit: "points", most: 100 }, roles: { unit: "rating", most: 1 } };

/** @param {unknown} value */
const rounded = (value) => (typeof value === "number" ? Math.round(value * 1000) / 1000 : value);

/** A slider for one value of the field `of`, with a number field beside it.
 * @param {Form} form @param {"weights" | "roles"} of @param {string} path @param {string} label
 * @param {Html} [shown] in place of the label */
function slider(form, of, path, label, shown = label) {
  const { unit, most } = SLIDERS[of];
  const { min = 0, max = most, step = most / 100 } = form.limits[of] ?? {};
  return html`<div class="weight">
    <label for="s-${path}">${shown}</label>
    <input id="s-${path}" type="range" name=${path} min=${min} max=${max} step=${step}
      .value=${fieldValue(Number(valueAt(form.settings, path)) || 0)}>
    ${numberField(form, path, `${label}, ${unit}`, { limits: of })}${faultNote(form, path)}
  </div>`;
}

/** @type {import("./fields.js").Field} */
const TASK_TYPE = [
  "task_type",
  "Task type",
  "",
  "A session's page shows its type with the reason, and can choose another.",
];

/** @param {Form} form */
export const typesSection = (form) =>
  section(
    "Task types",
    "weights and keywords for a kind of session",
    html`${fieldRow(form, TASK_TYPE)} ${typeTabs(form)}`,
  );

const UNEVEN = html`<p class="muted small">The sum need not be 100; scores are limited to 0 to 100.</p>`;

/** @param {Form} form */
export function weightsSection(form) {
  const place = placeOf(form.settings, shownType(form), "weights");
  const weights = /** @type {Record<string, number>} */ (valueAt(form.settings, place.path));
  const names = Object.keys(weights);
  const sum = names.reduce((total, name) => total + (Number(weights[name]) || 0), 0);
  const heading = `Weights${ofType(form)}`;
  const bar = weightBar(names.map((name) => (sum > 0 ? ((Number(weights[name]) || 0) / sum) * 100 : 0)));
  if (place.follows) return section(heading, null, html`${followsNotice(form, "weights")}${bar}`);
  const { strategy } = form.settings;
  const users = weightsUsedBy(strategy);
  const rows = names.map((name, i) => {
    const signal = form.signals.find((one) => one.name === name);
    const label = signal?.label ?? title(name);
    const meaning = weighsMentions(strategy) ? signal?.in_foresight : signal?.meaning;
    const shown = html`${signalSwatch(i)}${label} <small class="muted">${meaning}</small>`;
    return slider(form, "weights", `${place.path}.${name}`, label, shown);
  });
  return section(
    heading,
    html`<span class="muted small">points for each signal</span>
      <span class="end">sum <b>${decimal(sum)}</b></span>`,
    html`${rows} ${bar} ${faultNote(form, place.path)}
      ${Math.abs(sum - 100) > 0.05 && UNEVEN}
      ${users && html`<p class="muted small">${users}</p>`} ${followButton(form, "weights")}
      ${shownType(form) === ALL && SUGGEST}`,
  );
}

const SUGGEST = html`<div>
    <button type="button" class="small" data-act="suggest-weights">Suggest from your sessions</button>
  </div>
  <weight-suggestion class="stack"></weight-suggestion>`;

/** @param {number[]} shares in percent */
const weightBar = (shares) =>
  html`<div class="weight-bar" aria-hidden="true">
    ${shares.map((share, i) => html`<i .style="--w:${share}%;--c:${signalColour(i)}"></i>`)}
  </div>`;

/** @param {Form} form */
export function rolesSection(form) {
  const roles = Object.keys(form.settings.roles);
  const rows = roles.map((role) => slider(form, "roles", `roles.${role}`, title(role)));
  return scoreSection(
    form,
    "roles",
    "Roles",
    "rating of who speaks, 0 to 1",
    html`${usersNote(form)}${rows}`,
  );
}

/** @param {Form} form */
export function keywordsSection(form) {
  const { path, follows } = placeOf(form.settings, shownType(form), "keywords");
  const groups = /** @type {Api.Settings["keywords"]} */ (valueAt(form.settings, path));
  const fields = follows
    ? followsNotice(form, "keywords")
    : html`${groups.map((group, i) => keywordGroup(form, group, `${path}.${i}`, i))}
      ${faultNote(form, path)}
      <div><button type="button" class="small" data-act="add-group">${icon("plus")}Add a group</button></div>
      ${followButton(form, "keywords")}`;
  return scoreSection(
    form,
    path,
    `Keywords${ofType(form)}`,
    "whole words, any case",
    html`${usersNote(form)} ${fields}`,
  );
}

/** @param {Form} form @param {Api.KeywordGroup} group @param {string} path @param {number} i */
function keywordGroup(form, { name, words }, path, i) {
  const [naming, listing] = ["name", "words"].map((key) => about(form, `${path}.${key}`, { note: path }));
  const share = numberField(form, `${path}.share`, `Share of ${name}`, {
    limits: "keywords.share",
    note: path,
  });
  return html`<div class="keyword-group">
    <div class="beside keyword-head">
      <input type="text" name="${path}.name" .value=${fieldValue(name)} aria-label="Name of the group"
        aria-invalid=${naming?.isWrong} aria-describedby=${naming?.ids}>
      <label class="muted small">share ${share}</label>
      ${removeButton("drop-group", i, `Remove ${name}`)}
    </div>
    <textarea name="${path}.words" rows="2" aria-label="Words of ${name}"
      .value=${fieldValue(words.join(", "))} aria-invalid=${listing?.isWrong}
      aria-describedby=${listing?.ids}></textarea>
    ${faultNote(form, path, true)}
  </div>`;
}

/** @param {string} act @param {number} i @param {string} label */
const removeButton = (act, i, label) =>
  html`<button type="button" class="quiet iconic small" data-act=${act} data-i=${i} aria-label=${label}
    >${icon("close")}</button>`;

/** @param {Form} form */
export function lengthSection(form) {
  const rows = form.settings.length_steps.map((_, i) => {
    const path = `length_steps.${i}`;
    /** @param {string} at @param {string} label */
    const field = (at, label) =>
      numberField(form, `${path}.${at}`, label, {
        limits: `length_steps.${label.toLowerCase()}`,
        note: path,
      });
    return html`<div class="step">
      <span class="muted">from</span>
      ${field("0", "Characters")}
      <span class="muted">characters: rating</span>
      ${field("1", "Rating")}
      ${removeButton("drop-step", i, "Remove this step")} ${faultNote(form, path, true)}
    </div>`;
  });
  return scoreSection(
    form,
    "length_steps",
    "Length",
    "rating from a length in characters on",
    html`${usersNote(form)} ${rows} ${faultNote(form, "length_steps")}
      <div><button type="button" class="small" data-act="add-step">${icon("plus")}Add a step</button></div>`,
  );
}

/** A setting with its name, unit and help, in the kind of field that its value needs. @param {Form} form
 * @param {import("./fields.js").Field} field */
function fieldRow(form, [name, label, unit, help]) {
  const value = valueAt(form.settings, name);
  if (typeof value === "boolean")
    return html`<div class="setting">
      ${switchField(name, value, label, { help: help ? `help-${name}` : undefined })}
      ${help && html`<p class="muted small" id="help-${name}">${help}</p>`}
    </div>`;
  const { isWrong, ids } = about(form, name, { help });
  const choices = choiceOptions(name);
  // A number field that is empty holds a text as well.
  const words = Array.isArray(value);
  const text = Array.isArray(value) ? value.join(", ") : value;
  const field = choices.length
    ? html`<select id="set-${name}" name=${name} aria-invalid=${isWrong} aria-describedby=${ids}
        >${optionElements(choices, value)}</select>`
    : words
      ? html`<input id="set-${name}" type="text" name=${name} .value=${fieldValue(text)}
          aria-invalid=${isWrong} aria-describedby=${ids}>`
      : numberField(form, name, label, { id: `set-${name}`, help });
  return html`<div class="setting">
    <label for="set-${name}">${label}</label>
    <span class="beside setting-value">${field}<span class="muted">${unit}</span></span>
    ${help && html`<p class="muted small" id="help-${name}">${help}</p>`} ${faultNote(form, name, true)}
  </div>`;
}

/** A section that has only fields. @param {Form} form @param {string} name */
export function fieldSection(form, name) {
  const [heading, beside, fields] = SECTIONS[name] ?? ["", "", []];
  const shown = fields.filter(([name]) => name in form.settings).map((field) => fieldRow(form, field));
  return shown.length > 0 && section(heading, beside, html`${shown}`);
}

/** Settings for which the page has no texts, with their names. @param {Form} form */
export function otherSection(form) {
  const names = Object.keys(form.settings).filter(
    (name) => !KNOWN.has(name) && Object(valueAt(form.settings, name)) !== valueAt(form.settings, name),
  );
  if (names.length === 0) return "";
  const shown = names.map((name) =>
    fieldRow(form, [name, title(name.replace(/_(tokens|percent)$/, "")), unitOf(name), ""]),
  );
  return section("More", null, html`${shown}`);
}

/** @param {string} name */
function unitOf(name) {
  return name.endsWith("_percent") ? "%" : name.endsWith("_tokens") ? "tokens" : "";
}
