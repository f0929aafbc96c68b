// static/session/panels.js: the panels beside the messages.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { neighbour, PANELS, side, TABS } from "../../../static/session/panels.js";
import { session } from "../builders.js";
import { markup } from "../markup.js";

/** @param {import("../../../static/session/panels.js").Tab} tab */
const at = (tab) => ({ tab, sheet: false, unloaded: null });

describe("the side", () => {
  it("holds the panel of the open tab and no other", () => {
    const panels = TABS.map((tab) => markup(side(session(), at(tab))).match(/<[a-z]+-panel/g));
    assert.ok(panels.every((one) => one?.length === 1));
    assert.equal(new Set(panels.flat()).size, TABS.length);
  });
  it("calls a panel that is loaded later by its tab, because the page looks for that name", () => {
    const later = TABS.filter((tab) => PANELS[tab].load);
    assert.ok(later.length > 0);
    for (const tab of later) {
      const file = new URL(`../../../static/session/${tab}-panel.js`, import.meta.url);
      assert.ok(readFileSync(file, "utf8").includes(`define("${tab}-panel"`), `${tab}-panel is not defined`);
      assert.ok(markup(side(session(), at(tab))).includes(`<${tab}-panel`));
    }
  });
  it("has one tab in the order of the keyboard", () => {
    assert.equal(markup(side(session(), { ...at("plan"), sheet: true })).match(/tabindex="0"/g)?.length, 1);
  });
  it("groups the thousands of operations", () =>
    assert.match(markup(side(session({ operations: 1234 }), at("plan"))), /class="count">1,234</));
  it("moves between tabs with the arrow keys, from the last to the first too", () => {
    assert.deepEqual(
      [neighbour("plan", "ArrowRight"), neighbour("plan", "ArrowLeft"), neighbour("plan", "Enter")],
      [TABS[1], TABS.at(-1), null],
    );
  });
});
