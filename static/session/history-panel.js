// <history-panel session-id="…"></history-panel>
//
// What was done to the context, newest first: prunes, pins, drops, restores, compactions by the agent. Each opens to
// what went and why, and can be undone where undoing is possible. Emits `undone` {undone}; `refresh()` reads afresh.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { problem } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { render } from "../shared/render.js";
import { agoTime } from "../shared/times.js";
import { toastError } from "../shared/toast.js";
import { operationName, strategyName } from "../shared/words.js";
import { panelText } from "./message-row.js";
import { tookWords } from "./plan.js";

/** @typedef {import("../shared/types.js").Operation} Operation */
/** @typedef {import("../shared/types.js").Message} Item */

const ACTORS = /** @type {Record<string, string>} */ ({
  user: "by you",
  automatic: "automatically",
  agent: "by the agent",
  emergency: "in an emergency",
});
const SHOWN_ITEMS = 60;

/** What an operation did to how many messages. @param {Operation} o */
const took = (o) => (o.kind === "prune" ? tookWords(o) : o.messages > 0 && counted(o.messages, "message"));

export class HistoryPanel extends CoppiceElement {
  /** @type {Operation[] | null} */
  #operations = null;
  /** @type {Map<number, Item[] | string | null>} */
  #open = new Map();
  /** @type {number | null} */
  #asking = null;
  #busy = false;
  /** @type {string | null} */
  #error = null;
  #reader = new Reader(() => this.#read());

  get #session() {
    return this.getAttribute("session-id") ?? "";
  }

  start() {
    this.actions({
      inside: (target) => this.#toggle(Number(target.dataset.n)),
      undo: (target) => this.#ask(Number(target.dataset.n)),
      "undo-yes": (target) => this.#undo(Number(target.dataset.n)),
      "undo-no": () => this.#ask(null),
      "retry-history": () => this.refresh(),
    });
    this.refresh();
  }

  refresh() {
    return this.#reader.ask();
  }

  async #read() {
    try {
      this.#operations = [...(await api.operations(this.#session))].sort((a, b) => b.n - a.n);
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** @param {number} n */
  async #toggle(n) {
    if (this.#open.delete(n)) return this.requestUpdate();
    this.#open.set(n, null);
    this.requestUpdate();
    try {
      const items = await this.#items(n);
      if (this.#open.has(n)) this.#open.set(n, items);
    } catch (error) {
      if (this.#open.has(n)) this.#open.set(n, error instanceof Error ? error.message : String(error));
    }
    this.requestUpdate();
  }

  /** What an operation took or changed. @param {number} n @returns {Promise<Item[]>} */
  async #items(n) {
    return (await api.operation(this.#session, n)).items;
  }

  /** Undoing takes later operations along: that is asked first. @param {number | null} n */
  #ask(n) {
    const operation = this.#operations?.find((o) => o.n === n);
    if (n !== null && operation && operation.undoes_also.length === 0) return void this.#undo(n);
    this.#asking = n;
    this.requestUpdate();
  }

  /** @param {number} n */
  async #undo(n) {
    if (this.#busy) return;
    this.#busy = true;
    this.#asking = null;
    try {
      const undone = await api.undo(this.#session, n);
      this.emit("undone", { undone });
    } catch (error) {
      toastError(error, "Could not undo");
    }
    this.#busy = false;
    await this.refresh();
  }

  update() {
    const operations = this.#operations;
    render(
      this,
      html`<div class="panel-body">${
        this.#error
          ? problem("Could not read the history", this.#error, "retry-history")
          : operations === null
            ? html`<p class="muted pad">Reading…</p>`
            : operations.length === 0
              ? html`<p class="muted pad">Nothing was pruned, pinned, dropped or restored yet. Whatever is done to the context stands here, and can be undone.</p>`
              : html`<ol class="operations">${operations.map((o) => this.#entry(o))}</ol>`
      }</div>`,
    );
  }

  /** @param {Operation} o */
  #entry(o) {
    const open = this.#open.has(o.n);
    const figures = o.tokens_before !== null && o.tokens_after !== null && o.tokens_before !== o.tokens_after;
    const detail = [
      o.reason && o.reason !== "manual" ? o.reason : "",
      o.kind === "prune" && o.strategy ? strategyName(o.strategy) : "",
      o.preset ?? "",
    ]
      .filter((word, i, all) => word && all.indexOf(word) === i)
      .join(" · ");
    return html`<li data-key="${o.n}" data-undone="${o.undone_at !== null}">
      <div class="operation"><span class="op-mark" data-kind="${o.kind}" aria-hidden="true">${o.kind === "compaction" ? "◆" : o.kind === "prune" ? "▼" : "·"}</span>
        <div><b>${operationName(o.kind)}</b> <span class="muted">${o.kind === "compaction" || o.kind === "rewind" ? "" : (ACTORS[o.actor] ?? o.actor)} ${agoTime(o.at)}${o.undone_at && " · undone"}</span></div>
        <div class="op-acts">${o.messages > 0 && html`<button class="small quiet" data-act="inside" data-n="${o.n}" aria-expanded="${open ? "true" : "false"}">${open ? "Close" : "Look inside"}</button>`}
          ${o.undoable && !o.undone_at && html`<button class="small" data-act="undo" data-n="${o.n}">Undo</button>`}</div>
        <p class="small muted op-figures">${took(o)}${figures && html`${o.messages > 0 && ", "}${number(o.tokens_before ?? 0)} → ${number(o.tokens_after ?? 0)} tokens`}${detail && html`${(o.messages > 0 || figures) && " · "}${detail}`}</p></div>
      ${
        this.#asking === o.n &&
        html`<div class="note-box" role="alert"><span>This also undoes ${counted(o.undoes_also.length, "later operation")}: ${o.undoes_also.map((n) => this.#nameOf(n)).join(", ")}.</span>
        <span class="row"><button class="small" data-act="undo-yes" data-n="${o.n}">Undo ${number(o.undoes_also.length + 1)}</button><button class="small quiet" data-act="undo-no">Leave it</button></span></div>`
      }
      ${open && this.#inside(this.#open.get(o.n) ?? null)}</li>`;
  }

  /** @param {number} n */
  #nameOf(n) {
    const found = this.#operations?.find((o) => o.n === n);
    return found ? `${operationName(found.kind).toLowerCase()} (${n})` : String(n);
  }

  /** @param {Item[] | string | null} items */
  #inside(items) {
    if (items === null) return html`<p class="small muted">Reading…</p>`;
    if (typeof items === "string") return html`<p class="small fault">${items}</p>`;
    if (items.length === 0) return html`<p class="small muted">It changed no message.</p>`;
    return html`<ul class="group-rows">${items
      .slice(0, SHOWN_ITEMS)
      .map(
        (i) =>
          html`<li><span class="num muted">${number(i.number)}</span>${panelText(i)}<span class="num">${number(i.tokens)}</span></li>`,
      )}${items.length > SHOWN_ITEMS && html`<li class="muted small">and ${counted(items.length - SHOWN_ITEMS, "more message")}</li>`}</ul>`;
  }
}

customElements.define("history-panel", HistoryPanel);
