// static/shared/html.js: text from outside stays text, and what is not there leaves nothing behind.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { fieldValue, html, repeat } from "../../../static/shared/html.js";
import { markup } from "../markup.js";

describe("a template", () => {
  it("shows nothing for null, undefined and false, and shows zero", () => {
    assert.equal(markup(html`${null}${undefined}${false}${[false, 1]}${0}`), "10");
  });
  it("says true and false in attributes", () => {
    assert.equal(
      markup(html`<b aria-pressed=${false} data-open="${true}"></b>`),
      '<b aria-pressed="false" data-open="true"></b>',
    );
  });
  it("takes other templates, and lists of them", () => {
    const items = ["a", "<"].map((one) => html`<li>${one}</li>`);
    assert.equal(markup(html`<ul>${items}</ul>`), "<ul><li>a</li><li>&lt;</li></ul>");
  });
  it("repeats a template for each item of a list", () => {
    const list = repeat([1, 2], String, (n) => html`<i>${n}</i>`);
    assert.equal(markup(list), "<i>1</i><i>2</i>");
  });
});

describe("the value of a field", () => {
  class Field {
    /** @param {string} value @param {boolean} focused */
    constructor(value, focused) {
      this.value = value;
      this.getRootNode = () => ({ activeElement: focused ? this : null });
    }
  }
  /** The value of a field after 7 is set. @param {string} value @param {boolean} focused */
  const set = (value, focused) => {
    const element = new Field(value, focused);
    const { _$litDirective$: FieldValue } = /** @type {any} */ (fieldValue(7));
    new FieldValue({ type: 3 }).update({ element }, [7]);
    return element.value;
  };
  it("changes in a field that has the focus and in which nobody typed", () => {
    const element = new Field("", true);
    const { _$litDirective$: FieldValue } = /** @type {any} */ (fieldValue(7));
    const directive = new FieldValue({ type: 3 });
    for (const value of [7, 8]) directive.update({ element }, [value]);
    assert.equal(element.value, "8");
    element.value = "80";
    directive.update({ element }, [9]);
    assert.equal(element.value, "80");
  });
  it("changes with what it shows, unless somebody types in the field", () => {
    assert.equal(set("3", false), "7");
    assert.equal(set("3", true), "3");
  });
});
