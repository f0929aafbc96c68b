// <summary-panel session-id="…" certainty="…"></summary-panel>
//
// The distance to the next summary as bars up to its triggers, with a button that makes one now. Below are
// the summaries, each of which can be read and expanded, and the number of proposed learnings from the last
// turn. Emits `undone` {undone}.
import { api, root } from "../shared/api.js";
import { counted, money, number, sentence, tokens as tokenText } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { plainText } from "../shared/parts.js";
import { ReadingElement } from "../shared/reading-element.js";
import { live } from "../shared/socket.js";
import { agoTime } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";
import { undo } from "./acts.js";

/** The time between two reads while a summary is being written. */
const RUNNING_MS = 2000;
const NONE = html`<p class="muted pad">
  Coppice has made no summary yet. A summary replaces all but the recent messages, and can be expanded again.
</p>`;

class SummaryPanel extends ReadingElement {
  /** @type {Api.Status | null} */
  #status = null;
  /** @type {Api.SummaryAnswer[]} */
  #summaries = [];
  #proposed = 0;

  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;

  start() {
    this.actions({
      summarize: () =>
        this.#status?.running ||
        this.#status?.nothing_to_summarise ||
        this.#act(api.summarize(this.sessionId), "Could not summarise"),
      "cancel-summary": () => this.#act(api.cancelSummary(this.sessionId), "Could not stop the summary"),
      expand: (target) =>
        this.#act(
          api.expandSummary(this.sessionId, Number(target.dataset.n)),
          "Could not expand the summary",
        ),
    });
    this.hear(live, ["memories:changed"], () => this.refresh());
    super.start();
  }

  stop() {
    clearTimeout(this.#again);
    super.stop();
  }

  /** @param {Promise<Api.Summarised | Api.Applied | Api.Ok>} act @param {string} failure */
  async #act(act, failure) {
    try {
      const { message, operation, summary } = /** @type {Partial<Api.Summarised>} */ (await act);
      const said = summary ? `Summarised: ${sizes(summary, this.certainty)}.` : message && sentence(message);
      if (said) toast(said, operation ? { act: { label: "Undo", run: () => this.#undo(operation.n) } } : {});
    } catch (error) {
      toastError(error, failure);
    }
    await this.refresh();
  }

  /** @param {number} n an operation */
  async #undo(n) {
    const undone = await undo(this.sessionId, n);
    if (undone) this.emit("undone", { undone });
    await this.refresh();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const [status, summaries, proposals] = await Promise.all([
      api.status(this.sessionId),
      api.summaries(this.sessionId),
      api.proposals(this.sessionId),
    ]);
    if (signal.aborted) return;
    [this.#status, this.#summaries, this.#proposed] = [status, summaries, proposals.length];
    clearTimeout(this.#again);
    // One that ends without a summary, as when it is stopped, changes nothing of the session.
    if (status.running) this.#again = setTimeout(() => this.refresh(), RUNNING_MS);
  }

  template() {
    const status = this.#status;
    return html`<div class="panel-body">
      ${this.problem("Could not read the summaries", status)}
      ${status && statusOf(status, this.certainty)}
      ${status && this.#summaries.length === 0 && NONE}
      ${keyed(this.#summaries, "id", (summary) => summaryOf(summary, this.certainty))}
      ${this.#proposed > 0 && proposedLine(this.#proposed)}
    </div>`;
  }
}

/** @param {number} count */
const proposedLine = (count) => html`<p class="pad small">
  <a href="${root}/memory?kind=learnings">${counted(count, "proposed learning")}</a> of the last turn
</p>`;

/** @param {Api.AgentSummary} summary @param {string} certainty of a part of the context */
const agentsOwn = ({ number: at, tokens }, certainty) => html`<p class="small">
  The agent's own summary: <button class="bare" data-act="show-message" data-number=${at}
    >message ${number(at)}</button>, ${tokenText(tokens, certainty)} tokens
</p>`;

/** @param {Api.Status} status @param {string} certainty of a part of the context */
function statusOf(status, certainty) {
  const {
    made,
    last_summary,
    agent_summary,
    triggers,
    line,
    running,
    nothing_to_summarise: nothing,
  } = status;
  const since = agent_summary
    ? html`Since the agent's compaction, ${agoTime(agent_summary.at)}`
    : last_summary
      ? html`Since the last one, ${agoTime(last_summary.at)}`
      : "Since the beginning";
  return html`<div class="pad stack">
    <p><b>Summary: ${made}</b><span class="small muted block">${since}</span></p>
    ${triggers.map(({ text, percent }) =>
      percent === null
        ? html`<p class="small">${text}</p>`
        : html`<p>
            <label class="small stack tight"
              >${text} <progress max="100" value=${Math.min(100, percent)}></progress></label>
          </p>`,
    )}
    ${agent_summary && agentsOwn(agent_summary, certainty)}
    <p class="small muted status-line">${line}</p>
    <p>
      <button data-act="summarize" aria-disabled=${running || nothing !== ""}
        aria-describedby="nothing-to-summarise">Summarise now</button>
      ${running && html`<button class="quiet" data-act="cancel-summary">Stop</button>`}
      <span class="small muted" id="nothing-to-summarise">${nothing && sentence(nothing)}</span>
    </p>
  </div>`;
}

/** "42 messages → ~580 tokens". @param {Api.SummaryAnswer} summary @param {string} certainty */
const sizes = ({ messages, tokens }, certainty) =>
  `${counted(messages, "message")} → ${tokenText(tokens, certainty)} tokens`;

/** @param {Api.SummaryAnswer} summary @param {string} certainty */
function summaryOf(summary, certainty) {
  const { id, at, depth, model, cost, note, text } = summary;
  const expand = html`<button class="small" data-act="expand" data-n=${id} aria-label="Expand summary ${id}"
    >Expand</button>`;
  const where = summary.in_context ? "in the context" : "not in the context";
  const price = cost ? `, ${money(cost, "USD")}` : "";
  return html`<details class="pad">
    <summary>
      ${sizes(summary, certainty)}
      <span class="muted small">${where}, ${agoTime(at)}</span>
    </summary>
    <p class="muted small">
      Depth ${depth}, by ${model ?? "the built-in summariser"}${price}; it replaced
      ${tokenText(summary.replaced_tokens, certainty)} tokens.${note && ` ${note}.`}
    </p>
    ${plainText(text, "small")}
    ${summary.in_context && expand}
  </details>`;
}

customElements.define("summary-panel", SummaryPanel);
