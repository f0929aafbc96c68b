// Settings while they are being edited: paths into them, what differs, what stands beside which field. Pure.

/** @typedef {import("../shared/types.js").Settings} Settings */
/** @typedef {import("../shared/types.js").Fault} Fault */

/** @param {Settings} settings @returns {Settings} */
export function copy(settings) {
  return structuredClone(settings);
}

/** The value at a dotted path; undefined where there is none. @param {any} settings @param {string} path */
export function valueAt(settings, path) {
  return path.split(".").reduce((value, key) => value?.[key], settings);
}

/** A copy with the value at a dotted path replaced. @param {Settings} settings @param {string} path @param {unknown} value @returns {Settings} */
export function withValue(settings, path, value) {
  const next = structuredClone(settings);
  const keys = path.split(".");
  const last = keys.pop() ?? "";
  const place = keys.reduce((/** @type {any} */ at, key) => at[key], next);
  place[last] = value;
  return next;
}

/** The names of the fields that differ, in the order of `a`. @param {Settings} a @param {Settings} b */
export function changedFields(a, b) {
  return Object.keys(a).filter((key) => canonical(a[key]) !== canonical(b[key]));
}

/** JSON that does not depend on the order of keys. @param {unknown} value @returns {string} */
function canonical(value) {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "undefined";
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, one]) => `${key}:${canonical(one)}`).join(",")}}`;
}

/** What someone typed as the number it is; the text itself where it is none, so that the server can say so. @param {string} text @param {boolean} optional */
export function typed(text, optional) {
  const trimmed = text.trim();
  if (trimmed === "") return optional ? null : "";
  const value = Number(trimmed);
  return Number.isFinite(value) ? value : trimmed;
}

/** Words separated by commas or lines. @param {string} text */
export function wordsOf(text) {
  return [
    ...new Set(
      text
        .split(/[,\n]/)
        .map((word) => word.trim())
        .filter(Boolean),
    ),
  ];
}

/** The faults that belong to a field or to what is within it: "keywords" takes those of "keywords.0.share".
 * @param {Fault[]} faults @param {string} path @param {boolean} [within] */
export function faultAt(faults, path, within = false) {
  const plain = path.replaceAll(/\[(\d+)\]/g, ".$1");
  return faults
    .filter(({ field }) => {
      const own = field.replaceAll(/\[(\d+)\]/g, ".$1").replace(/^(settings|body)\./, "");
      return own === plain || (within && own.startsWith(`${plain}.`));
    })
    .map((fault) => fault.message)
    .join("; ");
}
