// Templates: lit-html with three habits of ours. Text is only ever text: markup comes from templates in this code
// base. `false` leaves nothing behind, or "false" as an attribute; `repeat` keeps rows and their focus where a list
// changes; `kept` leaves a field alone while somebody types in it.
import { noChange, nothing, svg as svgTemplate, html as template } from "lit-html";
import { Directive, directive } from "lit-html/directive.js";

export { nothing, render } from "lit-html";
export { repeat } from "lit-html/directives/repeat.js";

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

/** The same for what is inside an <svg>. @param {TemplateStringsArray} strings @param {...unknown} values */
export const svg = (strings, ...values) => svgTemplate(strings, ...shown(strings, values));

class Kept extends Directive {
  /** @param {unknown} value */
  render(value) {
    return value;
  }

  /** @param {import("lit-html").PropertyPart} part @param {[unknown]} value */
  update({ element }, [value]) {
    const field = /** @type {HTMLInputElement} */ (element);
    const root = /** @type {Document | ShadowRoot} */ (field.getRootNode());
    if (root.activeElement !== field && field.value !== String(value)) field.value = String(value);
    return noChange;
  }
}

/** The value of a field as `.value=${kept(value)}`: it changes unless the field has the focus. */
export const kept = directive(/** @type {any} */ (Kept));
