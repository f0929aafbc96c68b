// Templates as text, for tests without a page: attributes as a browser would set them, values escaped, blanks
// collapsed.
import { nothing } from "lit-html";

const ENTITIES = /** @type {Record<string, string>} */ ({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
});
/** The end of a template's text before a value that is all of an attribute: kind, name, quote. */
const ATTRIBUTE = /([.?]?)([\w-]+)=("?)$/;

/** @param {unknown} value */
const escaped = (value) => String(value).replace(/[&<>"']/g, (c) => ENTITIES[c] ?? c);

/** The markup of a template, or the text that is no template. @param {unknown} value */
export function markup(value) {
  return text(value)
    .replace(/[ \n]+/g, " ")
    .replaceAll(" >", ">")
    .trim();
}

/** @param {any} value @returns {string} */
function text(value) {
  if (value === nothing || value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(text).join("");
  if (value._$litDirective$) {
    const [items, make, template = make] = value.values;
    return text(make.length === 0 ? make() : items.map(template)); // `unlessSame`, `repeat`
  }
  return value._$litType$ ? filled(value) : escaped(value);
}

/** @param {{ strings: TemplateStringsArray, values: unknown[] }} template */
function filled({ strings, values }) {
  return values.reduce((/** @type {string} */ made, value, i) => {
    const next = strings[i + 1] ?? "";
    const [whole, kind, name, quote] = ATTRIBUTE.exec(made) ?? [];
    if (whole === undefined || (quote && !next.startsWith('"'))) return made + text(value) + next;
    return (
      made.slice(0, -whole.length) + attribute(`${kind}`, `${name}`, value) + (quote ? next.slice(1) : next)
    );
  }, strings[0] ?? "");
}

/** @param {string} kind "?", "." or "" @param {string} name @param {any} value */
function attribute(kind, name, value) {
  const given = value?._$litDirective$ ? value.values[0] : value; // of `kept`
  if (given === nothing) return "";
  if (kind === "?" || (kind === "." && typeof given === "boolean")) return given ? name : "";
  return `${name}="${escaped(typeof given === "object" ? JSON.stringify(given) : (given ?? ""))}"`;
}
