// <learning-proposals session-id="…"></learning-proposals>
//
// What the last turn may have taught: decisions and refusals in it, each with the message it was said in. Kept as a
// learning or dismissed with one click; both can be taken back. Without `session-id` those of the sessions that were last
// at work. Emits `proposals` {count} whenever it has read them, `kept` once one is kept. `refresh()` reads afresh.
import { api } from "./api.js";
import { CoppiceElement } from "./element.js";
import { counted, number } from "./format.js";
import { html } from "./html.js";
import { problem } from "./problem.js";
import { render } from "./render.js";
import { agoTime } from "./times.js";
import { toast, toastError } from "./toast.js";

/** @typedef {import("./api.js").Proposal} Proposal */

export class LearningProposals extends CoppiceElement {
  /** @type {Proposal[] | null} */
  #proposals = null;
  /** @type {string | null} */
  #error = null;

  get #session() {
    return this.getAttribute("session-id") ?? undefined;
  }

  start() {
    this.actions({
      "retry-proposals": () => this.refresh(),
      "keep-proposal": (target) => this.#keep(Number(target.dataset.n)),
      "dismiss-proposal": (target) => this.#dismiss(Number(target.dataset.n)),
    });
    this.refresh();
  }

  async refresh() {
    try {
      this.#proposals = await api.proposals(this.#session);
      this.#error = null;
      this.emit("proposals", { count: this.#proposals.length });
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** @param {number} n */
  async #keep(n) {
    const one = this.#proposals?.[n];
    if (!one) return;
    try {
      const { text, session_id, message_id } = one;
      const kept = await api.keep("learnings", { text, session_id, message_id });
      const run = () => this.#then(api.forget("learnings", kept.id));
      toast("Kept as a learning; the memory page has it.", { act: { label: "Undo", run } });
      await this.#then(Promise.resolve());
    } catch (error) {
      toastError(error, "Could not keep it");
    }
  }

  /** @param {number} n */
  async #dismiss(n) {
    const one = this.#proposals?.[n];
    if (!one) return;
    try {
      await api.dismissProposal(one.text);
      const run = () => this.#then(api.dismissProposal(one.text, true));
      toast("Dismissed; it is not proposed again.", { act: { label: "Undo", run } });
      await this.refresh();
    } catch (error) {
      toastError(error, "Could not dismiss it");
    }
  }

  /** @param {Promise<unknown>} act something that changes what is kept */
  async #then(act) {
    await act;
    this.emit("kept", {});
    await this.refresh();
  }

  update() {
    const found = this.#proposals;
    render(
      this,
      html`<section aria-label="Proposed learnings"><header class="proposals-head"><h2>Proposed learnings</h2><span class="muted small" role="status">${found && found.length > 0 && counted(found.length, "proposal")}</span></header>
        ${this.#error && problem("Could not read what is proposed", this.#error, "retry-proposals")}
        ${found && found.length === 0 && !this.#error && html`<p class="muted small proposals-none">Nothing is proposed. What is decided or refused in a turn that uses tools is proposed here once the turn is over.</p>`}
        ${found && found.length > 0 && html`<ol class="proposals">${found.map((one, n) => this.#row(one, n))}</ol>`}</section>`,
    );
  }

  /** @param {Proposal} one @param {number} n */
  #row(one, n) {
    const from = `/sessions/${encodeURIComponent(one.session_id)}?message=${one.number}`;
    const where = this.#session ? "" : html`<span class="proposal-session">${one.session_title}</span>`;
    return html`<li class="proposal" data-key="${one.text}"><p class="snippet">${one.text}</p>
      <div class="proposal-foot">${where}<a class="small" href="${from}">message ${number(one.number)}</a>${one.at && html`<span class="muted small">${agoTime(one.at)}</span>`}
      <span class="proposal-acts"><button class="small" data-act="keep-proposal" data-n="${n}" aria-label="Keep as a learning: ${one.text}">Keep</button><button class="small quiet" data-act="dismiss-proposal" data-n="${n}" aria-label="Dismiss: ${one.text}">Dismiss</button></span></div></li>`;
  }
}

customElements.define("learning-proposals", LearningProposals);
