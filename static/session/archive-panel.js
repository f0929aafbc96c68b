// <archive-panel session-id="…"></archive-panel>
//
// Messages that are out of the context: search them, put them back. Emits `message-act` {id, act: "restore"};
// `refresh()` reads them again.
import { api } from "../shared/api.js";
import { number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { ReadingElement } from "../shared/reading-element.js";
import { panelText } from "./message-row.js";

const TYPING_MS = 200;
const SHOWN = 100;
const NONE =
  "Every message is in the context. What a prune or a drop takes out is listed here and can be put back.";

export class ArchivePanel extends ReadingElement {
  /** @type {Api.Message[] | null} */
  #messages = null;
  #q = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  start() {
    this.actions({
      "archive-restore": (target) => this.emit("message-act", { id: target.dataset.id, act: "restore" }),
    });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      this.#q = /** @type {HTMLInputElement} */ (event.target).value;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.reader.restart(), TYPING_MS);
    });
    super.start();
  }

  stop() {
    clearTimeout(this.#timer);
    super.stop();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const found = await api.archive(this.getAttribute("session-id") ?? "", this.#q, signal);
    if (!signal.aborted) this.#messages = found;
  }

  view() {
    const messages = this.#messages ?? [];
    return html`<div class="panel-body">
      <div class="pad find">
        <input type="search" .value=${this.#q} placeholder="Search what is out"
          aria-label="Search messages that are out of the context" autocomplete="off">
      </div>
      ${this.problem("Could not read the archive")}
      ${
        this.#messages &&
        messages.length === 0 &&
        html`<p class="muted pad">${this.#q ? "No message that is out mentions this." : NONE}</p>`
      }
      ${
        messages.length > 0 &&
        html`<ul class="group-rows archive">
          ${messages.slice(0, SHOWN).map(row)}
          ${
            messages.length > SHOWN &&
            html`<li class="muted small">the newest ${number(SHOWN)} are shown; search for others</li>`
          }
        </ul>`
      }
    </div>`;
  }
}

/** @param {Api.Message} message */
function row(message) {
  return html`<li>
    <span class="num muted">${number(message.number)}</span>${panelText(message)}
    <span class="num">${number(message.tokens)}</span>
    <button class="small" data-act="archive-restore" data-id=${message.id}
      aria-label="Restore message ${message.number}">Restore</button>
  </li>`;
}

customElements.define("archive-panel", ArchivePanel);
