// Templates: lit-html with five additions. `false` renders nothing, or "false" as an attribute; `keyed`
// keeps rows and their focus where a list changes; `fieldValue` leaves a field alone while somebody types in
// it; `written` sets a property that other code sets too; `unlessSame` renders a part only when what it shows
// has changed. Text is always escaped: markup comes from the templates in this code base.
import { noChange, nothing, svg as svgTemplate, html as template } from "lit-html";
import { Directive, directive } from "lit-html/directive.js";
import { repeat } from "lit-html/directives/repeat.js";

export { nothing, render } from "lit-html";
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

class FieldValue extends Directive {
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

class Written extends Directive {
  /** @param {unknown} value */
  render(value) {
    return value;
  }

  /** @param {import("lit-html").PropertyPart} part @param {[unknown]} value */
  update({ element, name }, [value]) {
    const owner = /** @type {any} */ (element);
    if (owner[name] !== value) owner[name] = value;
    return noChange;
  }
}

class UnlessSame extends Directive {
  /** @type {unknown[] | null} */
  #shown = null;

  /** @param {unknown[]} _values @param {() => unknown} make */
  render(_values, make) {
    return make();
  }

  /** @param {unknown} _part @param {[unknown[], () => unknown]} values */
  update(_part, [values, make]) {
    if (this.#shown?.every((value, i) => value === values[i])) return noChange;
    this.#shown = values;
    return make();
  }
}

/** The result of `make`, unless the values are those of the last time: `${unlessSame([a, b], () => …)}`. */
export const unlessSame = directive(/** @type {any} */ (UnlessSame));

/** A field's value, as `.value=${fieldValue(value)}`, which does not replace what is being typed. */
export const fieldValue = directive(/** @type {any} */ (FieldValue));

/** A property that others set, too, as `.textContent=${written(words)}`. */
export const written = directive(/** @type {any} */ (Written));
