// The parts of the settings form as markup. Each field carries the dotted path of what it sets in `name`, and its fault
// beside it.

import { SIGNAL_ORDER } from "../session/rows.js";
import { decimal, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { ALL, placeOf } from "../shared/task-types.js";
import { strategyName, title } from "../shared/words.js";
import { AUTO_FIELDS, CHOICES, KEEP_FIELDS, LIMIT_FIELDS, SECTIONS } from "./fields.js";
import { back, following, forWhom, readBy, shownType, weightsReadBy } from "./type-choice.js";
import { faultAt, valueAt } from "./values.js";

/** @typedef {import("../shared/types.js").Settings} Settings */
/** @typedef {import("../shared/types.js").Fault} Fault */
/** `type` is the task type whose weights and keywords are shown, that of all sessions by default.
 * @typedef {{ settings: Settings, faults: Fault[], limits: import("../shared/types.js").SettingsDoc["limits"], type?: string }} Form */

const SIGNALS = /** @type {Record<string, string>} */ ({
  recency: "how late in the conversation",
  role: "who speaks, by the table below",
  keywords: "words that tell of errors, outcomes, changes",
  length: "long messages, by the steps below",
  relevance: "words it shares with the last question",
});
// *Foresight* rates names and lines, not messages.
const OF_NAMES = /** @type {Record<string, string>} */ ({
  recency: "how late it was last named",
  role: "who named it: agent, user or tool",
  keywords: "how many messages name it",
  length: "how much its size counts against it",
});

const KNOWN = new Set([
  "weights",
  "roles",
  "keywords",
  "length_steps",
  "task_type",
  "strategy",
  "automatic",
  ...[LIMIT_FIELDS, KEEP_FIELDS, AUTO_FIELDS, ...SECTIONS.map(([, , , fields]) => fields)]
    .flat()
    .map(([name]) => name),
]);

/** Names with the known ones first, in their order. @param {string[]} names @param {string[]} known */
function inOrder(names, known) {
  return [...known.filter((name) => names.includes(name)), ...names.filter((name) => !known.includes(name))];
}

/** @param {string} message @param {string} id */
function faultNote(message, id) {
  return message && html`<p class="fault small" id="${id}">${sentence(message)}</p>`;
}

/** A number field with its fault. @param {Form} form @param {string} path @param {string} label @param {string} [limitName] */
function numberField(form, path, label, limitName = path) {
  const value = valueAt(form.settings, path);
  const limits = form.limits[limitName] ?? {};
  const fault = faultAt(form.faults, path);
  return html`<input type="number" name="${path}" value="${value === null ? "" : shownNumber(value)}" step="any" min="${limits.min}" max="${limits.max}" aria-label="${label}" aria-invalid="${fault ? "true" : "false"}" ${fault ? html`aria-describedby="fault-${path}"` : ""}>`;
}

/** @param {unknown} value */
function shownNumber(value) {
  return typeof value === "number" ? Math.round(value * 1000) / 1000 : value;
}

/** @param {Form} form */
export function weightsSection(form) {
  const place = placeOf(form.settings, shownType(form), "weights");
  const weights = /** @type {Record<string, number>} */ (valueAt(form.settings, place.path));
  const names = inOrder(Object.keys(weights), SIGNAL_ORDER);
  const sum = names.reduce((total, name) => total + (Number(weights[name]) || 0), 0);
  const limits = form.limits.weights ?? {};
  const strategy = form.settings.strategy;
  const says = strategy === "foresight" ? { ...SIGNALS, ...OF_NAMES } : SIGNALS;
  const readers = weightsReadBy(strategy);
  const bar = html`<div class="weight-bar" aria-hidden="true">${names.map((name, i) => html`<i data-css="--w:${sum > 0 ? ((Number(weights[name]) || 0) / sum) * 100 : 0}%;--c:var(--sig-${(i % 8) + 1})"></i>`)}</div>`;
  const heading = html`<h2>Weights${forWhom(form)}</h2>`;
  if (place.follows)
    return html`<section class="panel group-box" data-key="weights"><header>${heading}</header><div class="fields">${following(form, "weights")}${bar}</div></section>`;
  return html`<section class="panel group-box" data-key="weights"><header>${heading}<span class="muted small">points each signal can give</span><span class="end">sum <b>${decimal(sum)}</b></span></header>
    <div class="fields">${names.map((name, i) => {
      const path = `${place.path}.${name}`;
      const value = Number(weights[name]) || 0;
      return html`<div class="weight" data-key="${name}"><label for="w-${name}"><i class="swatch" data-css="--c:var(--sig-${(i % 8) + 1});--e:var(--outline)"></i>${title(name)}<small class="muted">${says[name] ?? ""}</small></label>
        <input id="w-${name}" type="range" name="${path}" min="${limits.min ?? 0}" max="${limits.max ?? 100}" step="${limits.step ?? 1}" value="${value}">
        ${numberField(form, path, `${title(name)}, points`, "weights")}${faultNote(faultAt(form.faults, path), `fault-${path}`)}</div>`;
    })}
    ${bar}
    ${faultNote(faultAt(form.faults, place.path), `fault-${place.path}`)}
    ${Math.abs(sum - 100) > 0.05 && html`<p class="muted small">The sum need not be 100; scores are cut off at 0 and 100.</p>`}
    ${readers && html`<p class="muted small read-by" data-key="read-by">${readers}</p>`}
    ${back(form, "weights")}
    ${shownType(form) === ALL && html`<weight-suggestion data-key="suggestion"></weight-suggestion>`}</div></section>`;
}

/** @param {Form} form */
export function rolesSection(form) {
  const limits = form.limits.roles ?? {};
  return html`<section class="panel group-box" data-key="roles"><header><h2>Roles</h2><span class="muted small">rating of who speaks, 0 to 1</span></header><div class="fields">${readBy(form)}${inOrder(
    Object.keys(form.settings.roles),
    ["system", "user", "assistant", "tool"],
  ).map((role) => {
    const path = `roles.${role}`;
    return html`<div class="weight" data-key="${role}"><label for="r-${role}">${title(role)}</label><input id="r-${role}" type="range" name="${path}" min="${limits.min ?? 0}" max="${limits.max ?? 1}" step="${limits.step ?? 0.01}" value="${Number(form.settings.roles[role]) || 0}">${numberField(form, path, `${title(role)}, rating`, "roles")}${faultNote(faultAt(form.faults, path), `fault-${path}`)}</div>`;
  })}</div></section>`;
}

/** @param {Form} form */
export function keywordsSection(form) {
  const place = placeOf(form.settings, shownType(form), "keywords");
  const groups = /** @type {Settings["keywords"]} */ (valueAt(form.settings, place.path));
  const all = faultAt(form.faults, place.path);
  const head = html`<header><h2>Keywords${forWhom(form)}</h2><span class="muted small">whole words, any case</span></header>`;
  if (place.follows)
    return html`<section class="panel group-box" data-key="keywords">${head}<div class="fields">${readBy(form)}${following(form, "keywords")}</div></section>`;
  return html`<section class="panel group-box" data-key="keywords">${head}<div class="fields">${readBy(form)}
    ${groups.map((group, i) => {
      const path = `${place.path}.${i}`;
      const fault = faultAt(form.faults, path, true);
      return html`<div class="keyword-group" data-key="${i}"><div class="keyword-head"><input type="text" name="${path}.name" value="${group.name}" aria-label="Name of the group" aria-invalid="${faultAt(form.faults, `${path}.name`) ? "true" : "false"}"><label class="muted small">share ${numberField(form, `${path}.share`, `Share of ${group.name}`, "keywords.share")}</label><button type="button" class="quiet iconic small" data-act="drop-group" data-i="${i}" aria-label="Remove ${group.name}">${icon("close")}</button></div>
        <textarea name="${path}.words" rows="2" aria-label="Words of ${group.name}" aria-invalid="${faultAt(form.faults, `${path}.words`, true) ? "true" : "false"}" data-words="${group.words.join(", ")}"></textarea>${faultNote(fault, `fault-${path}`)}</div>`;
    })}
    ${faultNote(all, `fault-${place.path}`)}<div><button type="button" class="small" data-act="add-group">${icon("plus")}Add a group</button></div>${back(form, "keywords")}</div></section>`;
}

/** @param {Form} form */
export function lengthSection(form) {
  return html`<section class="panel group-box" data-key="length"><header><h2>Length</h2><span class="muted small">rating from a number of characters on</span></header><div class="fields">${readBy(form)}
    ${form.settings.length_steps.map((_, i) => {
      const fault = faultAt(form.faults, `length_steps.${i}`, true);
      return html`<div class="step" data-key="${i}"><span class="muted">from</span>${numberField(form, `length_steps.${i}.0`, "Characters", "length_steps.characters")}<span class="muted">characters: rating</span>${numberField(form, `length_steps.${i}.1`, "Rating", "length_steps.rating")}<button type="button" class="quiet iconic small" data-act="drop-step" data-i="${i}" aria-label="Remove this step">${icon("close")}</button>${faultNote(fault, `fault-length_steps.${i}`)}</div>`;
    })}
    ${faultNote(faultAt(form.faults, "length_steps"), "fault-length_steps")}<div><button type="button" class="small" data-act="add-step">${icon("plus")}Add a step</button></div></div></section>`;
}

/** @param {Form} form @param {import("./fields.js").Field[]} fields */
function rows(form, fields) {
  return fields.filter(([name]) => name in form.settings).map((field) => fieldRow(form, field));
}

/** A setting with its name, unit and help: a switch, a choice, words or a number, as its value is.
 * @param {Form} form @param {import("./fields.js").Field} field */
function fieldRow(form, [name, label, unit, help]) {
  const value = form.settings[name];
  const fault = faultNote(faultAt(form.faults, name, true), `fault-${name}`);
  if (typeof value === "boolean") {
    const described = help ? html`aria-describedby="help-${name}"` : "";
    return html`<div class="setting" data-key="${name}"><label class="switch"><input type="checkbox" role="switch" name="${name}" ${value ? html`checked` : ""} ${described}>${label}</label>${help && html`<p class="muted small" id="help-${name}">${help}</p>`}</div>`;
  }
  const choices = CHOICES[name] ?? form.limits[name]?.choices?.map((choice) => [choice, title(choice)]);
  const words = typeof value === "string" || Array.isArray(value);
  const field = choices
    ? html`<select id="set-${name}" name="${name}">${choices.map(([choice, said]) => html`<option value="${choice}" ${choice === value ? html`selected` : ""}>${said}</option>`)}</select>`
    : words
      ? html`<input id="set-${name}" type="text" name="${name}" value="${Array.isArray(value) ? value.join(", ") : value}">`
      : numberField(form, name, label);
  const named =
    choices || words
      ? html`<label class="setting-name" for="set-${name}">${label}</label>`
      : html`<span class="setting-name">${label}</span>`;
  return html`<div class="setting" data-key="${name}">${named}<span class="setting-value">${field}<span class="muted">${unit}</span></span>${help && html`<p class="muted small">${help}</p>`}${fault}</div>`;
}

/** A section that is fields and nothing else. @param {Form} form @param {string} section */
export function plainSection(form, section) {
  const [, heading, beside, fields] = SECTIONS.find(([name]) => name === section) ?? ["", "", "", []];
  const shown = rows(form, fields);
  return (
    shown.length > 0 &&
    html`<section class="panel group-box" data-key="${section}"><header><h2>${heading}</h2><span class="muted small">${beside}</span></header><div class="fields">${shown}</div></section>`
  );
}

/** @param {Form} form */
export function limitsSection(form) {
  return html`<section class="panel group-box" data-key="limits"><header><h2>Target and aim</h2><span class="muted small">of a model's input limit</span></header><div class="fields">${rows(form, LIMIT_FIELDS)}</div></section>`;
}

/** @param {Form} form */
export function keepSection(form) {
  const chosen = form.settings.strategy;
  const strategies = form.limits.strategy?.choices ?? [];
  const names = strategies.includes(chosen) ? strategies : [...strategies, chosen];
  return html`<section class="panel group-box" data-key="keep"><header><h2>What is kept</h2><span class="muted small">besides system, last unit, pins</span></header><div class="fields">${rows(form, KEEP_FIELDS)}
    <div class="setting"><label class="setting-name" for="set-strategy">Strategy</label><span class="setting-value"><select id="set-strategy" name="strategy">${names.map((name) => html`<option value="${name}" ${name === chosen ? html`selected` : ""}>${strategyName(name)}</option>`)}</select></span>${faultNote(faultAt(form.faults, "strategy"), "fault-strategy")}</div></div></section>`;
}

/** @param {Form} form */
export function automaticSection(form) {
  return html`<section class="panel group-box" data-key="auto"><header><h2>Automatic pruning</h2></header><div class="fields"><label class="switch"><input type="checkbox" role="switch" name="automatic" ${form.settings.automatic ? html`checked` : ""}>Prune by itself when a session crosses its target</label><p class="muted small">The default; each session can say otherwise. Every such prune stands in the session's history and can be undone.</p>${rows(form, AUTO_FIELDS)}</div></section>`;
}

/** Fields that this page has no words for yet, under their own names. @param {Form} form */
export function otherSection(form) {
  const names = Object.keys(form.settings).filter(
    (name) => !KNOWN.has(name) && (form.settings[name] === null || typeof form.settings[name] !== "object"),
  );
  if (names.length === 0) return html``;
  return html`<section class="panel group-box" data-key="other"><header><h2>More</h2></header><div class="fields">${names.map(
    (name) => fieldRow(form, [name, title(name.replace(/_(tokens|percent)$/, "")), unitOf(name), ""]),
  )}</div></section>`;
}

/** @param {string} name */
function unitOf(name) {
  return name.endsWith("_percent") ? "%" : name.endsWith("_tokens") ? "tokens" : "";
}
