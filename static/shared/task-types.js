// The task type of a session, and its reason. Pure.
import { sentence } from "./format.js";
import { choiceName } from "./words.js";

/** No type: the weights and keywords of all sessions apply. */
export const ALL = "any";
/** The type that a session looks like. */
export const AUTO = "auto";

/** The type that a session would count as under these settings; a type chosen for the session comes first.
 * @param {Api.Session} session @param {Api.Settings | null} settings */
export function typeUnder({ task_type }, settings) {
  if (!settings || task_type.own) return task_type.name;
  return settings.task_type === AUTO ? task_type.looks_like.name : settings.task_type;
}

/** A type in a sentence: "coding", "no type". @param {string} name */
export const typeName = (name) => choiceName("task_type", name).toLowerCase();

/** The reason for a session's type, without its name. @param {Api.Session} session
 * @param {Api.Settings | null} [settings] those that are being tried */
export function typeReason(session, settings = null) {
  const { own, looks_like } = session.task_type;
  const setting = own ? session.task_type.setting : (settings?.task_type ?? session.task_type.setting);
  const looks = looks_like.reason.replace(/^looks like [^:]+: /, "");
  if (setting === AUTO) return sentence(looks);
  const chosen = own ? "Chosen for this session." : "Chosen in the settings for all sessions.";
  if (looks_like.name === ALL || setting === looks_like.name) return chosen;
  return `${chosen} It looks like ${typeName(looks_like.name)}: ${looks}.`;
}
