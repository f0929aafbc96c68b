// static/shared/address.js: what is chosen on a page, in its address.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  namesIn,
  namesText,
  numbersIn,
  numbersText,
  read,
  runs,
  written,
} from "../../../static/shared/address.js";

const defaults = { show: "all", find: "" };

describe("an address", () => {
  it("holds what is chosen; everything else has its default", () => {
    assert.deepEqual(read("?find=a%20b&other=1", defaults), { show: "all", find: "a b" });
  });
  it("holds only what differs from the defaults, and keeps unknown parameters", () => {
    assert.equal(written("?message=4", { show: "goes", find: "" }, defaults), "?message=4&show=goes");
    assert.equal(written("?show=goes", { show: "all", find: "" }, defaults), "");
  });
  it("is read back as it was written", () => {
    const chosen = { show: "errors", find: "100 % & more #1" };
    assert.deepEqual(read(written("", chosen, defaults), defaults), chosen);
  });
});

describe("numbers in an address", () => {
  it("that follow each other are written as a range", () => {
    assert.equal(numbersText([12, 6, 5, 7]), "5-7,12");
    assert.equal(numbersText([]), "");
    assert.deepEqual(runs([9, 3, 2]), [
      [2, 3],
      [9, 9],
    ]);
  });
  it("are read in order, without invalid ones", () => {
    assert.deepEqual(numbersIn("12,5-7,x,-3,0,6"), [5, 6, 7, 12]);
    assert.deepEqual(numbersIn(""), []);
  });
  it("are a thousand at most", () => {
    assert.equal(numbersIn("1-999999999").length, 1000);
  });
});

describe("names in an address", () => {
  it("are read back whatever they hold", () => {
    const names = ["project:/home/me/a, b", "s%1", "ü"];
    assert.deepEqual([...namesIn(namesText(names))], names);
  });
  it("are left out where they cannot be decoded", () => {
    assert.deepEqual([...namesIn("a,%E0%A4,,b")], ["a", "b"]);
  });
});
