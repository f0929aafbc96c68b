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

/** The names of the fields that differ, in the order of `a`. @param {Api.Settings} a
 * @param {Api.Settings} b */
export function changedFields(a, b) {
  return Object.keys(a).filter((key) => canonical(valueAt(a, key)) !== canonical(valueAt(b, key)));
}

/** The named fields. @param {Api.Settings} settings @param {string[]} names
 * @returns {Partial<Api.Settings>} */
export const fieldsOf = (settings, names) =>
  Object.fromEntries(names.map((name) => [name, valueAt(settings, name)]));

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
