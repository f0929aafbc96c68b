// <heavy-panel session-id="…"></heavy-panel>
//
// What fills the context: the heaviest messages by group, from the 200 that have the most tokens, and it says so.
// Property `total`: tokens of the context. `refresh()` reads afresh.
import { api } from "../lib/api.js";
import { CoppiceElement } from "../lib/element.js";
import { compact, counted, number, percent } from "../lib/format.js";
import { html } from "../lib/html.js";
import { panelText } from "../lib/message-row.js";
import { render } from "../lib/render.js";
import { heaviest } from "../lib/rows.js";

/** @typedef {import("../lib/types.js").Message} Message */

const READ = 200;
const SHOWN_GROUPS = 8;
const SHOWN_MESSAGES = 10;

export class HeavyPanel extends CoppiceElement {
  /** @type {Message[] | null} */
  #messages = null;
  #all = 0;
  #total = 0;
  /** @type {string | null} */
  #error = null;

  /** @param {number} tokens */
  set total(tokens) {
    this.#total = tokens;
    this.requestUpdate();
  }

  start() {
    this.refresh();
  }

  async refresh() {
    try {
      const page = await api.messages(this.getAttribute("session-id") ?? "", { sort: "tokens", limit: READ });
      this.#messages = page.messages;
      this.#all = page.total;
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  update() {
    const messages = (this.#messages ?? []).filter((m) => m.in_context);
    const groups = heaviest(messages).slice(0, SHOWN_GROUPS);
    const most = Math.max(1, ...groups.map((g) => g.tokens));
    const scope =
      this.#all > READ
        ? `among the ${number(READ)} messages with the most tokens`
        : "all messages in the context";
    render(
      this,
      html`<div class="panel-body">${this.#error && html`<p class="pad fault" role="alert">${this.#error}</p>`}
        ${this.#messages && messages.length === 0 && html`<p class="muted pad">Nothing is in the context yet.</p>`}
        ${
          groups.length > 0 &&
          html`<p class="pad small muted scope">By kind, ${scope}.</p><ul class="heavy">${groups.map(
            (g) =>
              html`<li data-key="${g.name}"><span class="heavy-name ${g.mono ? "mono" : ""}">${g.name}</span><span class="num">${compact(g.tokens)}</span><span class="num muted">${this.#total > 0 ? percent((g.tokens / this.#total) * 100) : ""}</span><small>${counted(g.count, "message")}${g.going > 0 && ` · ${g.going} would go`}</small><span class="heavy-bar" aria-hidden="true"><i data-css="--w:${(g.tokens / most) * 100}%"></i></span></li>`,
          )}</ul>
        <p class="pad small muted scope">One by one.</p><ul class="group-rows">${messages
          .slice(0, SHOWN_MESSAGES)
          .map(
            (m) =>
              html`<li data-key="${m.id}"><span class="num muted">${number(m.number)}</span>${panelText(m)}<span class="num">${number(m.tokens)}</span></li>`,
          )}</ul>`
        }</div>`,
    );
  }
}

customElements.define("heavy-panel", HeavyPanel);
