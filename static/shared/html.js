// Templates: lit-html with three additions. `false` renders nothing, or "false" as an attribute; `keyed`
// keeps rows and their focus where a list changes; `kept` leaves a field alone while somebody types in it.
// Text is always escaped: markup comes from the templates in this code base.
import { noChange, nothing, svg as svgTemplate, html as template } from "lit-html";
import { Directive, directive } from "lit-html/directive.js";
import { repeat } from "lit-html/directives/repeat.js";

export { nothing, render } from "lit-html";
export { guard } from "lit-html/directives/guard.js";
export { live } from "lit-html/directives/live.js";
export { repeat };

/** Rows that keep their elements where the list changes. @template T @param {Iterable<T>} items
 * @param {keyof T} key what tells the items apart @param {(item: T, i: number) => unknown} row */
export const keyed = (items, key, row) => repeat(items, (item) => item[key], row);

/** @typedef {import("lit-html").TemplateResult | typeof nothing | string | false | null} Html */

/** @param {TemplateStringsArray} strings @param {unknown[]} values */
function shown(strings, values) {
  return values.map((value, i) => {
    if (Array.isArray(value)) return value.filter((one) => one !== false);
    return value === false && !/="?$/.test(strings[i] ?? "") ? nothing : value;
  });
}

/** @param {TemplateStringsArray} strings @param {...unknown} values */
export const html = (strings, ...values) => template(strings, ...shown(strings, values));

/** The same inside an <svg>. @param {TemplateStringsArray} strings @param {...unknown} values */
export const svg = (strings, ...values) => svgTemplate(strings, ...shown(strings, values));

/** A text of the server, with what it has in backticks as code. @param {string} text */
export function withCode(text) {
  const parts = text.split("`");
  return parts.length % 2 === 0 ? text : parts.map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));
}

class Kept extends Directive {
  /** The text that was set. */
  #set = "";

  /** @param {unknown} value */
  render(value) {
    return value;
  }

  /** @param {import("lit-html").PropertyPart} part @param {[unknown]} value */
  update({ element }, [value]) {
    const field = /** @type {HTMLInputElement} */ (element);
    const root = /** @type {Document | ShadowRoot} */ (field.getRootNode());
    if (root.activeElement === field && field.value !== this.#set) return noChange;
    this.#set = String(value);
    if (field.value !== this.#set) field.value = this.#set;
    return noChange;
  }
}

/** A field's value, as `.value=${kept(value)}`, which does not replace what is being typed. */
export const kept = directive(/** @type {any} */ (Kept));
