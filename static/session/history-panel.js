// <history-panel session-id="…"></history-panel>
//
// The operations on the context, newest first: prunes, pins, drops, restores, compactions by the agent. Each
// opens to the context before and after it, with each changed message and the reason, and has an Undo if that
// is possible. Property `session`. Emits `undone` {undone}.
import { api } from "../shared/api.js";
import { counted, number, tokens as tokenText } from "../shared/format.js";
import { html, keyed, nothing } from "../shared/html.js";
import { planBar } from "../shared/parts.js";
import { problem, reasonOf } from "../shared/problem.js";
import { tookWords } from "../shared/prune-words.js";
import { ReadingElement } from "../shared/reading-element.js";
import { certaintyOfParts } from "../shared/session-facts.js";
import { agoTime } from "../shared/times.js";
import { toastError } from "../shared/toast.js";
import { ACTORS, changeOf, strategyName } from "../shared/words.js";
import { panelRow, rowTokens } from "./message-row.js";
import { aimOf } from "./plan.js";

const SHOWN_ITEMS = 60;
const NOT_KEPT =
  "Not known: an earlier version of Coppice recorded this operation without what the context held.";
const PRUNED_VIEW = "The pruned view; the agent's context stayed as it was.";
const SAME_SIZE = "The size of the context stayed the same.";
const NONE = "No operation on the context yet. Prunes, pins, drops and restores are listed here.";

export class HistoryPanel extends ReadingElement {
  /** @type {Api.Operation[] | null} */
  #operations = null;
  /** @type {Api.Session | null} */
  #drawn = null;
  /** Open operations with their comparison, the error, or null while reading.
   * @type {Map<number, Api.OperationFull | string | null>} */
  #open = new Map();
  /** The operation whose undo waits for an answer. @type {number | null} */
  #asking = null;
  #busy = false;

  /** The session as it is now: its limits are the scale of the bars, its certainty that of the figures.
   * @param {Api.Session} session */
  set session(session) {
    const before = this.#drawn?.pruned.certainty;
    this.#drawn = session;
    if (this.#open.size > 0 || session.pruned.certainty !== before) this.requestUpdate();
  }

  start() {
    this.actions({
      compare: ({ dataset }) => {
        if (this.#open.delete(Number(dataset.n))) this.requestUpdate();
        else this.#compare(Number(dataset.n));
      },
      "retry-compare": (target) => this.#compare(Number(target.dataset.id)),
      undo: (target) => this.#ask(Number(target.dataset.n)),
      "undo-yes": (target) => this.#undo(Number(target.dataset.n)),
      "undo-no": () => this.#ask(null),
    });
    super.start();
  }

  readFailed() {
    super.readFailed();
    for (const [n, found] of this.#open) if (typeof found === "string") this.#compare(n);
  }

  async read() {
    this.#operations = [...(await api.operations(this.sessionId))].sort((a, b) => b.n - a.n);
  }

  /** Opens an operation and reads what it changed. @param {number} n */
  async #compare(n) {
    this.#open.set(n, null);
    this.requestUpdate();
    const found = await api.operation(this.sessionId, n).catch(reasonOf);
    if (this.#open.has(n)) this.#open.set(n, found);
    this.requestUpdate();
  }

  /** Undoes an operation; asks first if later ones would be undone too. @param {number | null} n */
  #ask(n) {
    const operation = this.#operations?.find((o) => o.n === n);
    if (n !== null && operation?.undoes_also.length === 0) return void this.#undo(n);
    this.#asking = n;
    this.requestUpdate();
  }

  /** @param {number} n */
  async #undo(n) {
    if (this.#busy) return;
    this.#busy = true;
    this.#asking = null;
    try {
      const undone = await api.undo(this.sessionId, n);
      this.emit("undone", { undone });
    } catch (error) {
      toastError(error, "Could not undo");
    }
    this.#busy = false;
    await this.refresh();
  }

  template() {
    const operations = this.#operations;
    const list = operations?.length
      ? html`<ol class="operations">${keyed(operations, "n", (o) => this.#entry(o))}</ol>`
      : html`<p class="muted pad">${NONE}</p>`;
    return html`<div class="panel-body">
      ${this.problem("Could not read the history", operations) || list}
    </div>`;
  }

  /** @param {Api.Operation} o */
  #entry(o) {
    const open = this.#open.has(o.n);
    const undone = o.undone_at !== null;
    const { name, mark, byAgent } = changeOf(o.kind);
    const actor = byAgent ? "" : (ACTORS[o.actor] ?? o.actor);
    /** @param {string} act */
    const named = (act) => `${act}: ${name}, operation ${o.n}`;
    const compare = open ? "Close" : "Compare";
    return html`<li data-undone=${undone}>
      <div class="operation">
        <span class="op-mark ${mark ? "mark" : "muted"}" data-mark=${o.kind} aria-hidden="true"
          >${mark ?? "·"}</span>
        <div>
          <b>${name}</b>
          <span class="muted">${actor} ${agoTime(o.at)}${undone && " · undone"}</span>
        </div>
        <div class="op-acts">
          <button class="small quiet" data-act="compare" data-n=${o.n} aria-expanded=${open}
            aria-controls=${open ? `compared-${o.n}` : nothing}
            aria-label=${named(compare)}>${compare}</button>
          ${
            o.undoable &&
            !undone &&
            html`<button class="small" data-act="undo" data-n=${o.n}
              aria-label=${named("Undo")}>Undo</button>`
          }
        </div>
        <p class="small muted op-figures">${figures(o, this.#drawn?.pruned.certainty)}</p>
      </div>
      ${this.#asking === o.n && this.#question(o)} ${open && this.#compared(o.n)}
    </li>`;
  }

  /** The detail of an operation. @param {number} n */
  #compared(n) {
    const found = this.#open.get(n) ?? null;
    const certainty = this.#drawn ? certaintyOfParts(this.#drawn.pruned) : "";
    return html`<section id="compared-${n}" class="compared" aria-label="Before and after operation ${n}">
      ${found === null && html`<p class="small muted">Reading…</p>`}
      ${typeof found === "string" && problem("Could not read the operation", found, "retry-compare", n)}
      ${found && typeof found !== "string" && this.#bars(found)}
      ${found && typeof found !== "string" && inside(found.items, certainty)}
    </section>`;
  }

  /** The context before and after an operation, on one scale. @param {Api.OperationFull} operation */
  #bars({ kind, tokens_before, tokens_after, regions_before, regions_after }) {
    const session = this.#drawn;
    if (!session) return "";
    if (!regions_before || !regions_after) return html`<p class="small muted">${NOT_KEPT}</p>`;
    const full = Math.max(tokens_before, tokens_after);
    const whose =
      changeOf(kind).byAgent || !session.agent ? "" : html`<p class="small muted">${PRUNED_VIEW}</p>`;
    /** @param {string} label @param {number} tokens @param {Api.Region[]} regions */
    const bar = (label, tokens, regions) => {
      const utilization = aimOf(tokens, session);
      return planBar(label, session, { tokens, utilization, regions }, full);
    };
    return html`<div class="plan-bars">
        ${bar("Before", tokens_before, regions_before)} ${bar("After", tokens_after, regions_after)}
      </div>
      ${whose} ${tokens_before === tokens_after && html`<p class="small muted">${SAME_SIZE}</p>`}`;
  }

  /** @param {Api.Operation} o */
  #question({ n, undoes_also }) {
    const others = undoes_also.map((other) => this.#nameOf(other)).join(", ");
    return html`<div class="row note-box" role="alert">
      <span>This also undoes ${counted(undoes_also.length, "later operation")}: ${others}.</span>
      <span class="row">
        <button class="small" data-act="undo-yes" data-n=${n}>Undo ${number(undoes_also.length + 1)}</button>
        <button class="small quiet" data-act="undo-no">Cancel</button>
      </span>
    </div>`;
  }

  /** @param {number} n */
  #nameOf(n) {
    const found = this.#operations?.find((o) => o.n === n);
    return found ? `${changeOf(found.kind).name.toLowerCase()} (${n})` : String(n);
  }
}

/** The effect of an operation in one line. @param {Api.Operation} o
 * @param {string} [certainty] of the context */
function figures(o, certainty) {
  const took = o.kind === "prune" ? tookWords(o) : o.messages > 0 && counted(o.messages, "message");
  const [before, after] = [o.tokens_before, o.tokens_after];
  const tokens =
    before !== after && `${tokenText(before, certainty)} → ${tokenText(after, certainty)} tokens`;
  const by = [
    ACTORS[o.reason ?? ""] ? "" : beyondName(o.reason ?? ""), // beside who made it
    o.kind === "prune" && o.strategy ? strategyName(o.strategy) : "",
    o.preset ?? "",
  ];
  return [[took, tokens].filter(Boolean).join(", "), ...new Set(by)].filter(Boolean).join(" · ");
}

/** The cause of a compaction, by the agent's own word for it. @type {Record<string, string>} */
const TRIGGERS = { auto: "by itself", manual: "on request", unknown: "" };

/** The part of a reason that the name of its operation does not say. @param {string} reason */
function beyondName(reason) {
  const [compacted, trigger = ""] = /^the agent compacted its context \((.*?)\)/.exec(reason) ?? [""];
  return [TRIGGERS[trigger] ?? trigger, reason.slice(compacted.length).replace(/^; /, "")]
    .filter(Boolean)
    .join(" · ");
}

/** The messages that an operation changed. @param {Api.OperationItem[]} items
 * @param {string} certainty */
function inside(items, certainty) {
  if (items.length === 0) return html`<p class="small muted">It changed no message.</p>`;
  const more = items.length - SHOWN_ITEMS;
  return html`<ul class="group-rows">
    ${items.slice(0, SHOWN_ITEMS).map((item) => panelRow(item, rowTokens(item, certainty)))}
    ${more > 0 && html`<li class="muted small">and ${counted(more, "more message")}</li>`}
  </ul>`;
}

customElements.define("history-panel", HistoryPanel);
