// <weight-suggestion></weight-suggestion>
//
// Asks which weights would have kept more of what the user's own sessions needed later, and shows the figures of the
// sessions kept aside, before and after. Emits `weights` with the suggested ones when they are taken; nothing is saved.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, decimal, percent, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { render } from "../shared/render.js";
import { title } from "../shared/words.js";

/** @typedef {import("../shared/types.js").Suggestion} Suggestion */

export class WeightSuggestion extends CoppiceElement {
  /** @type {Suggestion | null} */
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
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.#busy = false;
    this.requestUpdate();
  }

  update() {
    render(
      this,
      html`<div><button type="button" class="small" data-act="suggest-weights" aria-disabled="${this.#busy ? "true" : "false"}">Suggest from your sessions</button></div>
        <div role="status">${this.#busy && html`<p class="muted small">Looking at what your sessions needed later; this takes some seconds.</p>`}${this.#found && this.#words(this.#found)}</div>
        ${this.#error && html`<p class="fault small" role="alert">${sentence(this.#error)}</p>`}
        ${this.#found?.weights && html`<div><button type="button" class="small" data-act="take-weights" ${this.#taken ? html`disabled` : ""}>Use these weights</button></div>`}`,
    );
  }

  /** @param {Suggestion} found */
  #words(found) {
    const aside = counted(found.held_out, "session");
    const figures =
      found.before !== null &&
      html`<p class="small">In the ${aside} kept aside, prunes keep <b>${percent(found.before)}</b> of what was needed later${found.after !== null && html`; with the best weights found <b>${percent(found.after)}</b>`}.</p>`;
    const { weights } = found;
    if (!weights) return html`${figures}<p class="muted small">Nothing to suggest: ${found.reason}.</p>`;
    const changed = Object.keys(weights).filter((name) => weights[name] !== found.present[name]);
    return html`${figures}<p class="small">${changed.map(
      (name, i) =>
        html`${i > 0 ? ", " : ""}${title(name)} ${decimal(found.present[name] ?? 0)} → <b>${decimal(weights[name] ?? 0)}</b>`,
    )}</p><p class="muted small">${this.#taken ? "They are in the sliders above, and not saved yet." : sentence(`suggested because ${found.reason}`)}</p>`;
  }
}

customElements.define("weight-suggestion", WeightSuggestion);
