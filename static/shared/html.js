// The `html` tagged template: every value is escaped, so that text from a transcript can never become markup.
// What another `html` made, and lists of it, pass as they are; null, undefined and false leave nothing behind.
// There is no way to mark a string as safe: markup comes from templates in this code base or not at all.

const ENTITIES = /** @type {const} */ ({
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
});

/** Markup made by `html`. */
export class Html {
  #text;

  /** @param {string} text @param {symbol} key */
  constructor(text, key) {
    if (key !== KEY) throw new TypeError("markup is made by the html template only");
    this.#text = text;
  }

  toString() {
    return this.#text;
  }
}

const KEY = Symbol("html");

/** Text with the five characters that mean something in markup written as entities. @param {unknown} value */
export function escaped(value) {
  return String(value).replace(/[&<>"']/g, (c) => ENTITIES[/** @type {keyof typeof ENTITIES} */ (c)]);
}

/** @param {unknown} value @returns {string} */
function piece(value) {
  if (value instanceof Html) return value.toString();
  if (Array.isArray(value)) return value.map(piece).join("");
  if (value === null || value === undefined || value === false) return "";
  return escaped(value);
}

/** @param {TemplateStringsArray} strings @param {...unknown} values */
export function html(strings, ...values) {
  return new Html(
    strings.reduce((text, next, i) => text + piece(values[i - 1]) + next),
    KEY,
  );
}
