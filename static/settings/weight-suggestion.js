// <weight-suggestion></weight-suggestion>
//
// Suggests weights, once it is asked to, that would have kept more of what the user's sessions needed later,
// with the share that held-out sessions keep before and after. Emits `weights` when the user accepts them;
// saves nothing.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, decimal, percent, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { reasonOf } from "../shared/problem.js";
import { signalName } from "../shared/words.js";

const BUSY = html`<p class="muted small">
  Looking at what your sessions needed later; this takes some seconds.
</p>`;

export class WeightSuggestion extends CoppiceElement {
  /** @type {Api.Suggestion | null} */
  #found = null;
  #busy = false;
  #taken = false;
  /** @type {string | null} */
  #error = null;

  start() {
    this.actions({
      "take-weights": () => {
        this.#taken = true;
        this.emit("weights", this.#found?.weights);
        this.requestUpdate();
      },
    });
  }

  /** Asks the server for weights, and shows the answer. */
  async ask() {
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

  template() {
    const [found, taken] = [this.#found, this.#taken];
    const take = html`<div>
      <button type="button" class="small" data-act="take-weights" ?disabled=${taken}
        >Use these weights</button>
    </div>`;
    return html`<div role="status" class="stack">${this.#busy && BUSY} ${found && this.#words(found)}</div>
      ${this.#error && html`<p class="fault small" role="alert">${sentence(this.#error)}</p>`}
      ${found?.weights && take}`;
  }

  /** @param {Api.Suggestion} found */
  #words({ weights, present, before, after, held_out, reason }) {
    const best = after !== null && html`; with the best weights found <b>${percent(after)}</b>`;
    const measured = html`<p class="small">
      In ${counted(held_out, "held-out session")}, prunes keep <b>${percent(before ?? 0)}</b> of what was
      needed later${best}.
    </p>`;
    const figures = before !== null && measured;
    if (!weights) return html`${figures}<p class="muted small">Nothing to suggest: ${reason}.</p>`;
    const changes = Object.entries(weights)
      .filter(([name, weight]) => weight !== present[name])
      .map(
        ([name, weight]) =>
          html`${signalName(name)} ${decimal(present[name] ?? 0)} → <b>${decimal(weight)}</b>`,
      );
    const state = this.#taken
      ? "They are in the sliders above, and not saved yet."
      : sentence(`suggested because ${reason}`);
    return html`${figures}
      <ul class="row small changes">${changes.map((one) => html`<li>${one}</li>`)}</ul>
      <p class="muted small">${state}</p>`;
  }
}

customElements.define("weight-suggestion", WeightSuggestion);
