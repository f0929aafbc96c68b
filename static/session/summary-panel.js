// <summary-panel session-id="…"></summary-panel>
//
// When a summary is made, and what came since the last one: as two bars, but without one beyond a limit at which nothing
// happens. Summarise now; the summaries there are, each to look at and to expand in its place; what the last turn may have
// taught. Reads and acts by itself; `refresh()` reads afresh.
import "../shared/learning-proposals.js";
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { problem } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { render } from "../shared/render.js";
import { agoTime } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";

/** @typedef {import("../shared/api.js").Status} Status */
/** @typedef {import("../shared/api.js").Summary} Summary */

export class SummaryPanel extends CoppiceElement {
  /** @type {Status | null} */
  #status = null;
  /** @type {Summary[]} */
  #summaries = [];
  /** @type {string | null} */
  #error = null;
  #reader = new Reader(() => this.#read());

  get #id() {
    return this.getAttribute("session-id") ?? "";
  }

  start() {
    this.actions({
      "retry-summaries": () => this.refresh(),
      summarize: () => this.#act(() => api.summarize(this.#id), "Could not summarise"),
      "cancel-summary": () => this.#act(() => api.cancelSummary(this.#id), "Could not give it up"),
      expand: (target) =>
        this.#act(() => api.expandSummary(this.#id, Number(target.dataset.n)), "Could not expand it"),
    });
    this.refresh();
  }

  /** @param {() => Promise<{ message?: string }>} act @param {string} failure */
  async #act(act, failure) {
    try {
      const done = await act();
      if (done.message) toast(done.message);
    } catch (error) {
      toastError(error, failure);
    }
    await this.refresh();
  }

  refresh() {
    return this.#reader.ask();
  }

  async #read() {
    try {
      [this.#status, this.#summaries] = await Promise.all([api.status(this.#id), api.summaries(this.#id)]);
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
    const proposals = this.querySelector("learning-proposals");
    /** @type {import("../shared/learning-proposals.js").LearningProposals | null} */ (proposals)?.refresh();
  }

  update() {
    const status = this.#status;
    render(
      this,
      html`<div class="panel-body">${this.#error && problem("Could not read the summaries", this.#error, "retry-summaries")}
        ${
          status &&
          html`<div class="pad" data-key="status"><p><b>Summary: ${status.made}</b><span class="small muted block">${status.last_summary ? html`Since the last one, ${agoTime(status.last_summary.at)}` : "Since the beginning"}</span></p>
          ${status.triggers.map((bar) => (bar.percent === null ? html`<p class="small" data-key="${bar.name}">${bar.text}</p>` : html`<p data-key="${bar.name}"><label class="small">${bar.text} <progress max="100" value="${Math.min(100, bar.percent)}"></progress></label></p>`))}
          <p class="small muted status-line">${status.line}</p>
          <p><button data-act="summarize" ${status.running ? html`disabled` : ""}>Summarise now</button>${status.running && html` <button class="quiet" data-act="cancel-summary">Give up</button>`}</p></div>`
        }
        ${status && this.#summaries.length === 0 && html`<p class="muted pad" data-key="none">No summary yet. One stands for all but the recent messages, and can be expanded again.</p>`}
        ${this.#summaries.map((one) => this.#summary(one))}
        <learning-proposals data-key="proposals" session-id="${this.#id}"></learning-proposals></div>`,
    );
  }

  /** @param {Summary} one */
  #summary(one) {
    const cost = one.cost ? `, $${one.cost.toFixed(4)}` : "";
    return html`<details class="pad" data-key="${one.id}"><summary>${counted(one.messages, "message")} → ${number(one.tokens)} tokens <span class="muted small">${one.standing ? "in the context" : "not in the context"}, ${agoTime(one.at)}</span></summary>
      <p class="muted small">Depth ${one.depth}, by ${one.model ?? "the built-in summariser"}${cost}; it replaced ${number(one.replaced_tokens)} tokens.${one.note && ` ${one.note}.`}</p>
      <pre class="small">${one.text}</pre>${one.standing && html`<button class="small" data-act="expand" data-n="${one.id}" aria-label="Expand summary ${one.id}">Expand</button>`}</details>`;
  }
}

customElements.define("summary-panel", SummaryPanel);
