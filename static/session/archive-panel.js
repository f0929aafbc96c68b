// <archive-panel session-id="…"></archive-panel>
//
// Messages that are not in the context; they can be searched and restored. Emits `message-act` {id, act:
// "restore"}.
import { api } from "../shared/api.js";
import { number, tokens } from "../shared/format.js";
import { html } from "../shared/html.js";
import { ReadingElement } from "../shared/reading-element.js";
import { panelRow } from "./message-row.js";

const SHOWN = 100;
const NONE =
  "Every message is in the context. Messages that are taken out are listed here and can be restored.";
const MORE = html`<li class="muted small">The newest ${number(SHOWN)} are shown. Search for others.</li>`;

class ArchivePanel extends ReadingElement {
  /** @type {Api.Message[] | null} */
  #messages = null;
  #q = "";

  start() {
    this.actions({
      "archive-restore": (target) => this.emit("message-act", { id: target.dataset.id, act: "restore" }),
    });
    this.readAsTyped((text) => {
      this.#q = text;
    });
    super.start();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const found = await api.archive(this.sessionId, this.#q, signal);
    if (!signal.aborted) this.#messages = found;
  }

  template() {
    const messages = this.#messages ?? [];
    const none = html`<p class="muted pad">${this.#q ? "No message here has these words." : NONE}</p>`;
    return html`<div class="panel-body">
      <div class="pad find">
        <input type="search" .value=${this.#q} placeholder="Find a message"
          aria-label="Search messages that are out of the context" autocomplete="off">
      </div>
      ${this.problem("Could not read the archive", this.#messages)}
      ${this.#messages?.length === 0 && none}
      <ul class="group-rows">
        ${messages.slice(0, SHOWN).map((message) => row(message, this.certainty))}
        ${messages.length > SHOWN && MORE}
      </ul>
    </div>`;
  }
}

/** @param {Api.Message} message @param {string} certainty */
function row(message, certainty) {
  const restore = html`<button class="small" data-act="archive-restore" data-id=${message.id}
    aria-label="Restore message ${message.number}">Restore</button>`;
  return panelRow(message, tokens(message.tokens, certainty), restore);
}

customElements.define("archive-panel", ArchivePanel);
