// <archive-panel session-id="…"></archive-panel>
//
// Messages that are out of the context: search them, put them back. Emits `message-act` {id, act: "restore"};
// `refresh()` reads afresh.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { problem } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { render } from "../shared/render.js";
import { panelText } from "./message-row.js";

/** @typedef {import("../shared/types.js").Message} Message */

const TYPING_MS = 200;
const SHOWN = 100;

export class ArchivePanel extends CoppiceElement {
  /** @type {Message[] | null} */
  #messages = null;
  #q = "";
  /** @type {string | null} */
  #error = null;
  #reader = new Reader(() => this.#read());
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;

  start() {
    this.actions({
      "archive-restore": (target) => this.emit("message-act", { id: target.dataset.id, act: "restore" }),
      "retry-archive": () => this.refresh(),
    });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      this.#q = /** @type {HTMLInputElement} */ (event.target).value;
      if (this.#timer) clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.refresh(), TYPING_MS);
    });
    this.refresh();
  }

  stop() {
    if (this.#timer) clearTimeout(this.#timer);
  }

  refresh() {
    return this.#reader.ask();
  }

  async #read() {
    const q = this.#q;
    try {
      const found = await api.archive(this.getAttribute("session-id") ?? "", q);
      if (q === this.#q) this.#messages = found;
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  update() {
    const messages = this.#messages ?? [];
    render(
      this,
      html`<div class="panel-body"><div class="pad find" data-key="find"><input type="search" value="${this.#q}" placeholder="Search what is out" aria-label="Search messages that are out of the context" autocomplete="off"></div>
        ${this.#error && problem("Could not read the archive", this.#error, "retry-archive")}
        ${this.#messages && messages.length === 0 && html`<p class="muted pad" data-key="none">${this.#q ? "Nothing that is out mentions this." : "Every message is in the context. What a prune or a drop takes out stands here and can be put back."}</p>`}
        ${
          messages.length > 0 &&
          html`<ul class="group-rows archive" data-key="list">${messages
            .slice(0, SHOWN)
            .map(
              (m) =>
                html`<li data-key="${m.id}"><span class="num muted">${number(m.number)}</span>${panelText(m)}<span class="num">${number(m.tokens)}</span><button class="small" data-act="archive-restore" data-id="${m.id}" aria-label="Restore message ${m.number}">Restore</button></li>`,
            )}${messages.length > SHOWN && html`<li class="muted small">the newest ${number(SHOWN)} are shown; search for others</li>`}</ul>`
        }</div>`,
    );
  }
}

customElements.define("archive-panel", ArchivePanel);
