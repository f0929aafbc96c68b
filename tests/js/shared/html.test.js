// static/shared/html.js: text from outside stays text.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Html, html } from "../../../static/shared/html.js";

describe("the html template", () => {
  it("escapes every value, in text and in attributes", () => {
    const evil = `<script>alert("x")</script>'&`;
    assert.equal(
      html`<b title="${evil}">${evil}</b>`.toString(),
      '<b title="&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;">&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&#39;&amp;</b>',
    );
  });

  it("takes what another template made as it is, and lists of it", () => {
    assert.equal(
      html`<ul>${["a", "<"].map((one) => html`<li>${one}</li>`)}</ul>`.toString(),
      "<ul><li>a</li><li>&lt;</li></ul>",
    );
  });

  it("leaves nothing behind for null, undefined and false, and keeps zero", () => {
    assert.equal(html`${null}${undefined}${false}${0}`.toString(), "0");
  });

  it("gives nobody else a way to call text markup", () => {
    assert.throws(() => new Html("<b>", Symbol("html")), TypeError);
    const claimed = { toString: () => "<b>" };
    assert.equal(html`${claimed}`.toString(), "&lt;b&gt;");
  });
});
