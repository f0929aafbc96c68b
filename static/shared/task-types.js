// Task types on the page: their names, which one a session counts as, and why. Pure.
import { sentence } from "./format.js";

/** @typedef {import("./types.js").Session} Session */
/** @typedef {import("./types.js").Settings} Settings */

/** All sessions: the weights and keywords that hold where no type has its own. */
export const ALL = "any";
export const AUTO = "auto";

/** The types in the order of the page, each with what distinguishes it. @type {[name: string, about: string][]} */
export const TYPES = [
  ["coding", "works on files: edits, reads and runs them"],
  ["support", "serves customers by rules: orders, accounts, refunds"],
  ["research", "looks things up: searches and reads the web"],
  ["chat", "talks, and hardly uses tools"],
];

/** The type that a session would count as under these settings; a type chosen for the session comes first.
 * @param {Session} session @param {Settings | null} settings */
export function typeUnder({ task_type }, settings) {
  if (!settings || task_type.own) return task_type.name;
  return settings.task_type === AUTO ? task_type.looks_like.name : settings.task_type;
}

/** A type in a sentence. @param {string} name */
export const typeName = (name) => (name === ALL ? "no type" : name);

/** Why a session counts as its type, without naming the type again.
 * @param {Session} session @param {Settings | null} [settings] those that are being tried */
export function typeReason(session, settings = null) {
  const { own, looks_like } = session.task_type;
  const setting = own ? session.task_type.setting : (settings?.task_type ?? session.task_type.setting);
  const looks = looks_like.reason.replace(/^looks like [^:]+: /, "");
  if (setting === AUTO) return sentence(looks);
  const chosen = own ? "Chosen for this session." : "Chosen in the settings for all sessions.";
  if (looks_like.name === ALL || setting === looks_like.name) return chosen;
  return `${chosen} It looks like ${looks_like.name}: ${looks}.`;
}

/** The choices of a task type: what it looks like, each type, none. @param {string} none what "no type" says
 * @returns {[value: string, label: string][]} */
export function typeChoices(none) {
  const types = TYPES.map(([type]) => /** @type {[string, string]} */ ([type, type]));
  return [[AUTO, "what it looks like"], ...types, [ALL, none]];
}
