// <learning-proposals session-id="…"></learning-proposals>
//
// Decisions and refusals of the last turn that may be worth learning, each with a link to its message. Kept as a
// learning or dismissed with one click; both can be undone. Without `session-id`, those of the sessions that worked
// last. Emits `proposals` {count} whenever it has read them, `kept` once one is kept. `refresh()` reads again.
import { api } from "./api.js";
import { counted, number } from "./format.js";
import { html, repeat } from "./html.js";
import { ReadingElement } from "./reading-element.js";
import { pageOf } from "./session-facts.js";
import { agoTime } from "./times.js";
import { toast, toastError } from "./toast.js";

/** A busy session tells of itself several times a second. */
const CALM_MS = 2000;

export class LearningProposals extends ReadingElement {
  /** @type {Api.Proposal[] | null} */
  #proposals = null;

  constructor() {
    super(CALM_MS);
  }

  get #session() {
    return this.getAttribute("session-id") ?? undefined;
  }

  start() {
    this.actions({
      "keep-proposal": (target) => this.#keep(this.#proposals?.[Number(target.dataset.n)]),
      "dismiss-proposal": (target) => this.#dismiss(this.#proposals?.[Number(target.dataset.n)]),
    });
    super.start();
  }

  async read() {
    this.#proposals = await api.proposals(this.#session);
    this.emit("proposals", { count: this.#proposals.length });
  }

  /** @param {Api.Proposal | undefined} proposal */
  async #keep(proposal) {
    if (!proposal) return;
    const { text, session_id, message_id } = proposal;
    try {
      const kept = await api.keep("learnings", { text, session_id, message_id });
      const run = () => api.forget("learnings", kept.id).then(() => this.#changed());
      toast("Kept as a learning; the memory page has it.", { act: { label: "Undo", run } });
      await this.#changed();
    } catch (error) {
      toastError(error, "Could not keep it");
    }
  }

  /** @param {Api.Proposal | undefined} proposal */
  async #dismiss(proposal) {
    if (!proposal) return;
    try {
      await api.dismissProposal(proposal.text);
      const run = () => api.dismissProposal(proposal.text, true).then(() => this.#changed());
      toast("Dismissed; it is not proposed again.", { act: { label: "Undo", run } });
      await this.reader.restart();
    } catch (error) {
      toastError(error, "Could not dismiss it");
    }
  }

  #changed() {
    this.emit("kept", {});
    return this.reader.restart();
  }

  view() {
    const found = this.#proposals ?? [];
    return html`<section aria-label="Proposed learnings">
      <header class="proposals-head">
        <h2>Proposed learnings</h2>
        <span class="muted small" role="status">${found.length > 0 && counted(found.length, "proposal")}</span>
      </header>
      ${this.problem("Could not read the proposals")}
      ${
        this.#proposals &&
        found.length === 0 &&
        !this.error &&
        html`<p class="muted small proposals-none">
          Nothing is proposed. Decisions and refusals of a turn that uses tools are proposed here once the turn is over.
        </p>`
      }
      ${
        found.length > 0 &&
        html`<ol class="proposals">
          ${repeat(
            found,
            ({ text }) => text,
            (one, n) => this.#row(one, n),
          )}
        </ol>`
      }
    </section>`;
  }

  /** @param {Api.Proposal} proposal @param {number} n */
  #row({ text, session_id, session_title, number: message, at }, n) {
    const where = !this.#session && html`<span class="proposal-session">${session_title}</span>`;
    return html`<li class="proposal">
      <p class="snippet">${text}</p>
      <div class="proposal-foot">
        ${where}<a class="small" href="${pageOf(session_id)}?message=${message}">message ${number(message)}</a>
        ${at && html`<span class="muted small">${agoTime(at)}</span>`}
        <span class="proposal-acts">
          <button class="small" data-act="keep-proposal" data-n=${n} aria-label="Keep as a learning: ${text}">Keep</button>
          <button class="small quiet" data-act="dismiss-proposal" data-n=${n} aria-label="Dismiss: ${text}"
            >Dismiss</button>
        </span>
      </div>
    </li>`;
  }
}

customElements.define("learning-proposals", LearningProposals);
