// Task types on the page: their names, which one a session counts as and why, and what a type has of its own. Pure.
import { valueAt } from "../settings/values.js";
import { sentence } from "./format.js";

/** @typedef {import("./types.js").Session} Session */
/** @typedef {import("./types.js").Settings} Settings */

/** All sessions: the weights and keywords that hold where no type has others. */
export const ALL = "any";
export const AUTO = "auto";

/** The types in the order of the page, each with what distinguishes it. @type {[name: string, about: string][]} */
export const TYPES = [
  ["coding", "works on files: edits, reads and runs them"],
  ["support", "serves customers by rules: orders, accounts, refunds"],
  ["research", "looks things up: searches and reads the web"],
  ["chat", "talks, and uses hardly any tool"],
];

/** Where a field of the type that is shown stands, and whether it follows that of all sessions.
 * @param {Settings} settings @param {string} type @param {"weights" | "keywords"} field */
export function placeOf(settings, type, field) {
  if (type === ALL) return { path: field, follows: false };
  const path = `task_types.${type}.${field}`;
  return (valueAt(settings, path) ?? null) === null
    ? { path: field, follows: true }
    : { path, follows: false };
}

/** What a type has of its own, in words; "" for nothing. @param {Settings} settings @param {string} type */
export function ownOf(settings, type) {
  const own = settings.task_types?.[type];
  return ["weights", "keywords"]
    .filter((field) => own?.[/** @type {"weights" | "keywords"} */ (field)])
    .join(" and ");
}

/** The type that a session would count as under these settings; its own choice comes first.
 * @param {Session} session @param {Settings | null} settings */
export function typeUnder({ task_type }, settings) {
  if (!settings || task_type.own) return task_type.name;
  return settings.task_type === AUTO ? task_type.looks_like.name : settings.task_type;
}

/** A type in a sentence. @param {string} name */
export const typeName = (name) => (name === ALL ? "no type" : name);

/** Why a session counts as what it does, without naming that again. @param {Session} session @param {Settings | null} [settings] that are tried */
export function typeReason(session, settings = null) {
  const { own, looks_like } = session.task_type;
  const setting = own ? session.task_type.setting : (settings?.task_type ?? session.task_type.setting);
  const looks = looks_like.reason.replace(/^looks like [^:]+: /, "");
  if (setting === AUTO) return sentence(looks);
  const beside = looks_like.name === ALL ? "" : ` It looks like ${looks_like.name}: ${looks}.`;
  const chosen = own ? "Chosen for this session." : "So the settings say for all sessions.";
  return `${chosen}${setting === looks_like.name ? "" : beside}`;
}

/** What can be chosen for one session; the empty value leaves it to the settings.
 * @param {Session} session @returns {[value: string, label: string][]} */
export function sessionChoices({ task_type: { name, own } }) {
  return [
    ["", own ? "what the settings say" : `${typeName(name)} (by the settings)`],
    [AUTO, "what it looks like"],
    .../** @type {[string, string][]} */ (TYPES.map(([type]) => [type, type])),
    [ALL, "no type"],
  ];
}

/** What can be chosen for all sessions. @type {[value: string, label: string][]} */
export const CHOICES = [
  [AUTO, "what it looks like"],
  .../** @type {[string, string][]} */ (TYPES.map(([name]) => [name, name])),
  [ALL, "no type: all alike"],
];
