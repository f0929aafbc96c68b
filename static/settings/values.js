// Settings being edited: paths, differences, errors. Pure.

/** The value at a dotted path, or undefined. @param {any} settings @param {string} path */
export function valueAt(settings, path) {
  return path.split(".").reduce((value, key) => value?.[key], settings);
}

/** A copy with the value at a dotted path replaced. @param {Api.Settings} settings @param {string} path
 * @param {unknown} value @returns {Api.Settings} */
export function withValue(settings, path, value) {
  const next = structuredClone(settings);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const place = keys.reduce((/** @type {any} */ at, key) => at[key], next);
  place[last] = value;
  return next;
}

/** The names of the fields that differ, in the order of `a`. @param {object} a @param {object} b */
export function changedFields(a, b) {
  return Object.keys(a).filter((key) => canonical(valueAt(a, key)) !== canonical(valueAt(b, key)));
}

/** The fields of which the server takes parts, and how deep: a weight, a role, a field of a task type.
 * @type {Record<string, number>} */
const DEPTHS = { weights: 1, roles: 1, task_types: 2 };

/** The values of `a` that differ, in parts as small as the server takes. @param {Api.Settings} a
 * @param {Api.Settings} b @returns {Partial<Api.Settings>} */
export const changesOf = (a, b) =>
  Object.fromEntries(
    changedFields(a, b).map((name) => [name, parts(valueAt(a, name), valueAt(b, name), DEPTHS[name] ?? 0)]),
  );

/** @param {any} a @param {any} b @param {number} depth @returns {unknown} */
function parts(a, b, depth) {
  if (depth === 0 || !isTable(a) || !isTable(b)) return a;
  return Object.fromEntries(changedFields(a, b).map((name) => [name, parts(a[name], b[name], depth - 1)]));
}

/** The settings with changes put into them, part by part. @template T @param {T} settings
 * @param {unknown} changes @returns {T} */
export function withChanges(settings, changes) {
  if (!isTable(settings) || !isTable(changes)) return /** @type {T} */ (changes);
  const own = Object.entries(changes).map(([name, one]) => [name, withChanges(settings[name], one)]);
  return { ...settings, ...Object.fromEntries(own) };
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON that does not depend on the order of keys. @param {unknown} value @returns {string} */
function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "undefined";
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${key}:${canonical(one)}`).join(",")}}`;
}

/** Typed text as a number; other text stays, so that the server can report it. @param {string} text
 * @param {boolean} optional */
export function typed(text, optional) {
  const trimmed = text.trim();
  if (trimmed === "") return optional ? null : "";
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : trimmed;
}

/** Words separated by commas or lines. @param {string} text */
export function wordsOf(text) {
  const words = text.split(/[,\n]/).map((word) => word.trim());
  return [...new Set(words.filter(Boolean))];
}

/** The errors of a field; with `within` also of its parts: "keywords" then has those of "keywords.0.share".
 * @param {Api.Detail[]} faults @param {string} path @param {boolean} [within] */
export function faultAt(faults, path, within = false) {
  /** @param {string} name */
  const dotted = (name) => name.replaceAll(/\[(\d+)\]/g, ".$1");
  const wanted = dotted(path);
  return faults
    .filter(({ field }) => {
      const own = dotted(field).replace(/^(settings|body)\./, "");
      return own === wanted || (within && own.startsWith(`${wanted}.`));
    })
    .map((fault) => fault.message)
    .join("; ");
}
