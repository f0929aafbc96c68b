// <heavy-panel session-id="…"></heavy-panel>
//
// What fills the context: the heaviest messages by group, from the 200 that have the most tokens, and it says so. Each
// group and each message can be chosen to be dropped, or shortened where that gains something: emits `chosen`
// {kind: "drop" | "shorten", messages}, which opens a plan. Property `total`: tokens of the context. `refresh()` reads
// afresh.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number, percent } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { problem } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { render } from "../shared/render.js";
import { panelText } from "./message-row.js";
import { canDrop, canShorten, heaviest } from "./rows.js";

/** @typedef {import("../shared/types.js").Message} Message */

const READ = 200;
const SHOWN_GROUPS = 8;
const SHOWN_MESSAGES = 10;

export class HeavyPanel extends CoppiceElement {
  /** @type {Message[] | null} */
  #messages = null;
  #all = 0;
  #total = 0;
  /** @type {string | null} */
  #error = null;
  #reader = new Reader(() => this.#read());

  /** @param {number} tokens */
  set total(tokens) {
    this.#total = tokens;
    this.requestUpdate();
  }

  start() {
    this.actions({
      "drop-group": ({ dataset }) => this.#chooseGroup("drop", dataset.name ?? ""),
      "shorten-group": ({ dataset }) => this.#chooseGroup("shorten", dataset.name ?? ""),
      "drop-one": ({ dataset }) =>
        this.#choose(
          "drop",
          this.#standing.filter((m) => m.id === dataset.id),
        ),
      "shorten-one": ({ dataset }) =>
        this.#choose(
          "shorten",
          this.#standing.filter((m) => m.id === dataset.id),
        ),
      "retry-heavy": () => this.refresh(),
    });
    this.refresh();
  }

  /** Those that were read and stand in the context. */
  get #standing() {
    return (this.#messages ?? []).filter((m) => m.in_context);
  }

  /** @param {"drop" | "shorten"} kind @param {string} name */
  #chooseGroup(kind, name) {
    this.#choose(kind, heaviest(this.#standing).find((g) => g.name === name)?.messages ?? []);
  }

  /** @param {"drop" | "shorten"} kind @param {Message[]} messages */
  #choose(kind, messages) {
    const able = messages.filter(kind === "drop" ? canDrop : canShorten);
    this.emit("chosen", { kind, messages: able.map(({ id, number }) => ({ id, number })) });
  }

  refresh() {
    return this.#reader.ask();
  }

  async #read() {
    try {
      const page = await api.messages(this.getAttribute("session-id") ?? "", { sort: "tokens", limit: READ });
      this.#messages = page.messages;
      this.#all = page.total;
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  update() {
    const messages = this.#standing;
    const groups = heaviest(messages).slice(0, SHOWN_GROUPS);
    const most = Math.max(1, ...groups.map((g) => g.tokens));
    const scope =
      this.#all > READ
        ? `among the ${number(READ)} messages with the most tokens`
        : "all messages in the context";
    render(
      this,
      html`<div class="panel-body">${this.#error && problem("Could not read the messages", this.#error, "retry-heavy")}
        ${!this.#error && this.#messages === null && html`<p class="muted pad">Reading…</p>`}
        ${this.#messages && messages.length === 0 && html`<p class="muted pad">Nothing is in the context yet.</p>`}
        ${
          groups.length > 0 &&
          html`<p class="pad small muted scope">By kind, ${scope}.</p><ul class="heavy">${groups.map((g) => this.#group(g, most))}</ul>
        <p class="pad small muted scope">One by one.</p><ul class="group-rows heavy-rows">${messages.slice(0, SHOWN_MESSAGES).map(one)}</ul>`
        }</div>`,
    );
  }

  /** @param {import("./rows.js").Group} group @param {number} most tokens of the heaviest */
  #group({ name, mono, tokens, count, going, messages }, most) {
    return html`<li data-key="${name}"><span class="heavy-name ${mono ? "mono" : ""}" title="${name}">${name}</span><span class="num">${number(tokens)}</span><span class="num muted">${this.#total > 0 ? percent((tokens / this.#total) * 100) : ""}</span><small>${counted(count, "message")}${going > 0 && `, ${number(going)} in the plan`}</small><span class="heavy-bar" aria-hidden="true"><i data-css="--w:${(tokens / most) * 100}%"></i></span>
      <span class="heavy-acts">${messages.some(canShorten) && html`<button class="small" data-act="shorten-group" data-name="${name}" aria-label="Shorten the outputs of ${name}…">Shorten…</button>`}${messages.some(canDrop) && html`<button class="small" data-act="drop-group" data-name="${name}" aria-label="Drop ${name}…">Drop…</button>`}</span></li>`;
  }
}

/** @param {Message} message */
function one(message) {
  const { id, number: n } = message;
  return html`<li data-key="${id}"><span class="num muted">${number(n)}</span>${panelText(message)}<span class="num">${number(message.tokens)}</span><span class="heavy-acts">${canShorten(message) && html`<button class="small iconic quiet" data-act="shorten-one" data-id="${id}" aria-label="Shorten message ${n}…" title="Shorten…">${icon("torn")}</button>`}${canDrop(message) && html`<button class="small iconic quiet" data-act="drop-one" data-id="${id}" aria-label="Drop message ${n}…" title="Drop…">${icon("goes")}</button>`}</span></li>`;
}

customElements.define("heavy-panel", HeavyPanel);
