// <weight-suggestion></weight-suggestion>
//
// Asks which weights would have kept more of what the user's own sessions needed later, and shows how much the held-out
// sessions keep before and after. Emits `weights` with the suggested ones when they are taken; nothing is saved.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, decimal, percent, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { reasonOf } from "../shared/problem.js";
import { title } from "../shared/words.js";

export class WeightSuggestion extends CoppiceElement {
  /** @type {Api.Suggestion | null} */
  #found = null;
  #busy = false;
  #taken = false;
  /** @type {string | null} */
  #error = null;

  start() {
    this.actions({
      "suggest-weights": () => this.#ask(),
      "take-weights": () => {
        this.#taken = true;
        this.emit("weights", this.#found?.weights);
        this.requestUpdate();
      },
    });
  }

  async #ask() {
    if (this.#busy) return;
    this.#busy = true;
    this.#found = this.#error = null;
    this.#taken = false;
    this.requestUpdate();
    try {
      this.#found = await api.suggestWeights();
    } catch (error) {
      this.#error = reasonOf(error);
    }
    this.#busy = false;
    this.requestUpdate();
  }

  view() {
    return html`<div>
        <button type="button" class="small" data-act="suggest-weights" aria-disabled=${this.#busy}
          >Suggest from your sessions</button>
      </div>
      <div role="status">
        ${
          this.#busy &&
          html`<p class="muted small">Looking at what your sessions needed later; this takes some seconds.</p>`
        }
        ${this.#found && this.#words(this.#found)}
      </div>
      ${this.#error && html`<p class="fault small" role="alert">${sentence(this.#error)}</p>`}
      ${
        this.#found?.weights &&
        html`<div>
          <button type="button" class="small" data-act="take-weights" ?disabled=${this.#taken}>Use these weights</button>
        </div>`
      }`;
  }

  /** @param {Api.Suggestion} found */
  #words({ weights, present, before, after, held_out, reason }) {
    const best = after !== null && html`; with the best weights found <b>${percent(after)}</b>`;
    const figures =
      before !== null &&
      html`<p class="small">
        In ${counted(held_out, "held-out session")}, prunes keep <b>${percent(before)}</b> of what was needed
        later${best}.
      </p>`;
    if (!weights) return html`${figures}<p class="muted small">Nothing to suggest: ${reason}.</p>`;
    const changed = Object.keys(weights).filter((name) => weights[name] !== present[name]);
    const changes = changed.map(
      (name, i) =>
        html`${i > 0 && ", "}${title(name)} ${decimal(present[name] ?? 0)} → <b>${decimal(weights[name] ?? 0)}</b>`,
    );
    const state = this.#taken
      ? "They are in the sliders above, and not saved yet."
      : sentence(`suggested because ${reason}`);
    return html`${figures}<p class="small">${changes}</p><p class="muted small">${state}</p>`;
  }
}

customElements.define("weight-suggestion", WeightSuggestion);
