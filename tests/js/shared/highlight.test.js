// static/shared/highlight.js: the words of a query in a snippet.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { highlight } from "../../../static/shared/highlight.js";

/** @param {string} text @param {string} query */
const marked = (text, query) =>
  highlight(text, query)
    .filter((p) => p.found)
    .map((p) => p.text);

describe("highlighting", () => {
  it("finds each word from its beginning, whatever its case", () => {
    assert.deepEqual(marked("Errors: an error in terror", "error"), ["Errors", "error"]);
  });
  it("finds a word inside a run of a script without spaces, and no more of the run", () => {
    assert.deepEqual(marked("先检查配置文件夹", "文件 先"), ["先", "文件"]);
    assert.deepEqual(marked("ファイル名サーバー", "サーバー 名"), ["名", "サーバー"]);
  });
  it("finds a word behind an underscore, as the index does", () => {
    assert.deepEqual(marked("test_orders.py", "orders.py"), ["orders", "py"]);
    assert.deepEqual(marked("plan_routes", "plan_routes"), ["plan", "routes"]);
  });
  it("treats punctuation in a query literally", () =>
    assert.deepEqual(marked("a.*b (c", "a.*b ("), ["a", "b"]));
  it("keeps the text whole", () => {
    const text = "Größe <b>x</b> größer";
    assert.equal(
      highlight(text, "größe x")
        .map((p) => p.text)
        .join(""),
      text,
    );
  });
  it("marks nothing for a query without words", () =>
    assert.deepEqual(highlight("a b", "…"), [{ text: "a b", found: false }]));
});
