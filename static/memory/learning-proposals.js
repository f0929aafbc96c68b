// <learning-proposals></learning-proposals>
//
// Decisions, preferences and facts from the last turn of recently active sessions, each with a link to
// its message. One click keeps or dismisses one; both can be undone. Emits `proposals` {count} after each
// read, and `learnings-changed` after each of these acts.
import { api } from "../shared/api.js";
import { counted, number } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf } from "../shared/session-facts.js";
import { agoTime } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";

/** A busy session changes several times a second. */
const INTERVAL_MS = 2000;
const KEPT = "Kept as a learning.";
const NONE = html`<p class="muted small proposals-none">
  Nothing is proposed. When a turn that uses tools ends, what was decided, preferred or found in it is
  proposed here.
</p>`;

export class LearningProposals extends ReadingElement {
  readsOnceJoined = true;
  /** @type {Api.Proposal[] | null} */
  #proposals = null;

  constructor() {
    super(INTERVAL_MS);
  }

  start() {
    this.actions({
      "keep-proposal": ({ dataset }) =>
        this.#act(dataset.n, "Could not keep it", KEPT, async ({ text, session_id, message_id }) => {
          const { id } = await api.keep("learnings", { text, session_id, message_id });
          return () => api.forget("learnings", id);
        }),
      "dismiss-proposal": ({ dataset }) =>
        this.#act(
          dataset.n,
          "Could not dismiss it",
          "Dismissed; it is not proposed again.",
          async ({ text }) => {
            await api.dismissProposal(text);
            return () => api.dismissProposal(text, true);
          },
        ),
    });
    super.start();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const proposals = await api.proposals();
    if (signal.aborted) return;
    this.#proposals = proposals;
    this.emit("proposals", { count: proposals.length });
  }

  /** Keeps or dismisses a proposal, with a toast that offers to undo it. @param {string | undefined} n
   * @param {string} failure @param {string} done
   * @param {(proposal: Api.Proposal) => Promise<() => Promise<unknown>>} act returns its undo */
  async #act(n, failure, done, act) {
    const proposal = this.#proposals?.[Number(n)];
    if (!proposal) return;
    try {
      const undo = await act(proposal);
      toast(done, { act: { label: "Undo", run: () => undo().then(() => this.#changed()) } });
      await this.#changed();
    } catch (error) {
      toastError(error, failure);
    }
  }

  #changed() {
    this.emit("learnings-changed");
    return this.refresher.restart();
  }

  template() {
    const found = this.#proposals ?? [];
    return html`<section aria-label="Proposed learnings">
      <header class="proposals-head">
        <h2>Proposed learnings</h2>
        <span class="muted small" role="status"
          >${found.length > 0 && counted(found.length, "proposal")}</span>
      </header>
      ${this.problem("Could not read the proposals")}
      ${this.#proposals && found.length === 0 && !this.error && NONE}
      <ol>${keyed(found, "text", (one, n) => this.#row(one, n))}</ol>
    </section>`;
  }

  /** @param {Api.Proposal} proposal @param {number} n */
  #row({ text, session_id, session_title, number: message, at }, n) {
    return html`<li class="proposal">
      <p class="snippet">${text}</p>
      <div class="row proposal-foot">
        <span class="proposal-session">${session_title}</span
        ><a class="small" href="${pageOf(session_id)}?message=${message}"
          >message ${number(message)}</a>
        ${at && html`<span class="muted small">${agoTime(at)}</span>`}
        <span class="beside tight end">
          <button class="small" data-act="keep-proposal" data-n=${n} aria-label="Keep as a learning: ${text}"
            >Keep</button>
          <button class="small quiet" data-act="dismiss-proposal" data-n=${n} aria-label="Dismiss: ${text}"
            >Dismiss</button>
        </span>
      </div>
    </li>`;
  }
}

customElements.define("learning-proposals", LearningProposals);
