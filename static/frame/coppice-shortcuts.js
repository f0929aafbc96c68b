// <coppice-shortcuts></coppice-shortcuts>
//
// The dialog of the keyboard shortcuts on this page. Opens with "?" or the event `coppice:shortcuts`.
import { dialogHead } from "../shared/dialog-head.js";
import { CoppiceElement } from "../shared/element.js";
import { html } from "../shared/html.js";
import { allShortcuts, shortcutsFor } from "../shared/keys.js";

/** @param {string} key */
const keyCaps = (key) => key.split(" ").map((one) => html`<kbd>${one === "Escape" ? "Esc" : one}</kbd>`);

class CoppiceShortcuts extends CoppiceElement {
  start() {
    this.listen(document, "coppice:shortcuts", () => this.#open());
    this.actions({ close: () => this.querySelector("dialog")?.close() });
    shortcutsFor([{ key: "?", label: "This list", run: () => this.#open() }], this.life);
  }

  #open() {
    this.update();
    this.querySelector("dialog")?.showModal();
  }

  template() {
    /** @type {Map<string, string[]>} */
    const byLabel = new Map();
    for (const { key, label } of allShortcuts()) byLabel.set(label, [...(byLabel.get(label) ?? []), key]);
    return html`<dialog aria-labelledby="keys-title">
      ${dialogHead("keys-title", "Keys", "close")}
      <dl class="keys body">
        ${[...byLabel].map(([label, keys]) => html`<dt>${keys.map(keyCaps)}</dt><dd>${label}</dd>`)}
      </dl>
    </dialog>`;
  }
}

customElements.define("coppice-shortcuts", CoppiceShortcuts);
