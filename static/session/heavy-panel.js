// <heavy-panel session-id="…"></heavy-panel>
//
// The heaviest messages, by group and one by one, from the 200 with the most tokens. Each can be dropped, or
// shortened where that gains something: emits `chosen` {kind: "drop" | "shorten", messages}, which opens a
// plan. Property `total`: tokens of the context.
import { api } from "../shared/api.js";
import { counted, number, percent } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { ReadingElement } from "../shared/reading-element.js";
import { panelText } from "./message-row.js";
import { canDrop, canShorten, heaviest } from "./rows.js";

/** @typedef {"drop" | "shorten"} Kind */

const READ = 200;
const SHOWN_GROUPS = 8;
const SHOWN_MESSAGES = 10;

export class HeavyPanel extends ReadingElement {
  /** Messages in the context. @type {Api.Message[] | null} */
  #messages = null;
  #all = 0;
  #total = 0;

  /** @param {number} tokens */
  set total(tokens) {
    this.#total = tokens;
    this.requestUpdate();
  }

  start() {
    this.actions({
      "choose-group": ({ dataset: { kind, name } }) =>
        this.#choose(kind, heaviest(this.#messages ?? []).find((group) => group.name === name)?.messages),
      "choose-one": ({ dataset: { kind, id } }) => {
        const one = this.#messages?.find((message) => message.id === id);
        this.#choose(kind, one && [one]);
      },
    });
    super.start();
  }

  /** @param {string | undefined} kind drop or shorten @param {Api.Message[]} [messages] */
  #choose(kind, messages = []) {
    const able = messages.filter(kind === "drop" ? canDrop : canShorten);
    this.emit("chosen", { kind, messages: able.map(({ id, number }) => ({ id, number })) });
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const query = { sort: "tokens", limit: READ, brief: true };
    const page = await api.messages(this.getAttribute("session-id") ?? "", query, signal);
    this.#messages = page.messages.filter((message) => message.in_context);
    this.#all = page.total;
  }

  view() {
    const messages = this.#messages ?? [];
    return html`<div class="panel-body">
      ${this.problem("Could not read the messages")}
      ${!this.error && !this.#messages && html`<p class="muted pad">Reading…</p>`}
      ${this.#messages?.length === 0 && html`<p class="muted pad">Nothing is in the context yet.</p>`}
      ${messages.length > 0 && this.#lists(messages)}
    </div>`;
  }

  /** @param {Api.Message[]} messages */
  #lists(messages) {
    const groups = heaviest(messages).slice(0, SHOWN_GROUPS);
    const most = Math.max(1, ...groups.map((g) => g.tokens));
    const top = `among the ${number(READ)} messages with the most tokens`;
    const scope = this.#all > READ ? top : "all messages in the context";
    return html`<p class="pad small muted scope">By kind, ${scope}.</p>
      <ul class="heavy">${groups.map((group) => this.#group(group, most))}</ul>
      <p class="pad small muted scope">One by one.</p>
      <ul class="group-rows heavy-rows">${messages.slice(0, SHOWN_MESSAGES).map(one)}</ul>`;
  }

  /** @param {import("./rows.js").Group} group @param {number} most tokens of the heaviest */
  #group({ name, mono, tokens, count, going, messages }, most) {
    const share = this.#total > 0 ? percent((tokens / this.#total) * 100) : "";
    /** @param {Kind} kind @param {string} word @param {string} label */
    const button = (kind, word, label) =>
      html`<button class="small" data-act="choose-group" data-kind=${kind} data-name=${name}
        aria-label=${label}>${word}</button>`;
    return html`<li>
      <span class="heavy-name ${mono ? "mono" : ""}" title=${name}>${name}</span>
      <span class="num">${number(tokens)}</span><span class="num muted">${share}</span>
      <small>${counted(count, "message")}${going > 0 && `, ${number(going)} in the plan`}</small>
      <span class="heavy-bar" aria-hidden="true"><i .style="--w:${(tokens / most) * 100}%"></i></span>
      <span class="heavy-acts">
        ${messages.some(canShorten) && button("shorten", "Shorten…", `Shorten the outputs of ${name}…`)}
        ${messages.some(canDrop) && button("drop", "Drop…", `Drop ${name}…`)}
      </span>
    </li>`;
  }
}

/** @param {Api.Message} message */
function one(message) {
  const { id, number: n } = message;
  /** @param {Kind} kind @param {string} word @param {string} shape */
  const button = (kind, word, shape) =>
    html`<button class="small iconic quiet" data-act="choose-one" data-kind=${kind} data-id=${id}
      aria-label="${word} message ${n}…" title="${word}…">${icon(shape)}</button>`;
  return html`<li>
    <span class="num muted">${number(n)}</span>${panelText(message)}
    <span class="num">${number(message.tokens)}</span>
    <span class="heavy-acts">
      ${canShorten(message) && button("shorten", "Shorten", "torn")}
      ${canDrop(message) && button("drop", "Drop", "goes")}
    </span>
  </li>`;
}

customElements.define("heavy-panel", HeavyPanel);
