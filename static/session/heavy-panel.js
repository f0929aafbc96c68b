// <heavy-panel session-id="…" certainty="…"></heavy-panel>
//
// The largest parts of the context: files with their reads, tools with calls and results, roles, repeated
// outputs, and single messages. `certainty` is that of a part. Bars and shares refer to the context that the
// list shows. Each can be dropped, or shortened if that saves tokens: emits `chosen` {kind: "drop" |
// "shorten", messages}, which opens a plan. A click on a name emits `narrow` {tool}, {role} or {q}, which
// filters the list. Read only while it can be seen.
import { api } from "../shared/api.js";
import { counted, fileName, number, percent, tokens as tokenText } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { tokenCount } from "../shared/parts.js";
import { ReadingElement } from "../shared/reading-element.js";
import { Refresher } from "../shared/refresher.js";
import { toastError } from "../shared/toast.js";
import { canDrop, canShorten, withFates } from "./message-facts.js";
import { panelRow } from "./message-row.js";

/** @typedef {"drop" | "shorten"} Kind */

const HEAVIEST = { sort: "tokens", fate: "in", limit: 10, brief: true };
const INTERVAL_MS = 2000;
/** Fates and reasons need a plan, which takes long in a long session: while messages arrive, the rows keep
 * theirs, and reading them takes at most this share of the time. */
const FATES = { interval: 5000, share: 0.1 };
/** @type {[Api.HeavyGroup["kind"], string][]} */
const KINDS = [
  ["file", "By file"],
  ["tool", "By tool, calls with their results"],
  ["role", "By role, without calls and results"],
  ["repeated", "Said again later"],
];

export class HeavyPanel extends ReadingElement {
  /** @type {Api.Message[] | null} */
  #messages = null;
  /** @type {Api.Heaviest | null} */
  #heaviest = null;
  #fates = new Refresher((signal) => this.#readFates(signal), FATES);

  constructor() {
    super(INTERVAL_MS, { inView: true }); // the server goes through all messages
  }

  stop() {
    super.stop();
    this.#fates.stop();
  }

  start() {
    this.actions({
      "choose-group": ({ dataset: { kind, of = "", name = "" } }) =>
        api
          .membersOf(this.sessionId, { kind: of, name })
          .then((members) => this.#choose(kind, members))
          .catch((error) => toastError(error, "Could not read the messages of the group")),
      "choose-one": ({ dataset: { kind, id } }) => {
        const one = this.#messages?.find((message) => message.id === id);
        this.#choose(kind, one && [one]);
      },
      narrow: ({ dataset: { of = "", name = "" } }) =>
        this.emit("narrow", of === "file" ? { q: fileName(name) } : { [of]: name }),
    });
    super.start();
  }

  /** @param {string | undefined} kind drop or shorten @param {{ id: string, number: number }[]} [messages] */
  #choose(kind, messages = []) {
    this.emit("chosen", { kind, messages: messages.map(({ id, number }) => ({ id, number })) });
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const [heaviest, page] = await Promise.all([
      api.heaviest(this.sessionId, signal),
      api.messages(this.sessionId, { ...HEAVIEST, at_once: true }, signal),
    ]);
    this.#heaviest = heaviest;
    this.#messages = withFates(this.#messages ?? [], page.messages);
    if (page.pending) this.#fates.ask();
  }

  /** @param {AbortSignal} signal */
  async #readFates(signal) {
    try {
      const { messages } = await api.messages(this.sessionId, HEAVIEST, signal);
      if (signal.aborted) return;
      this.#messages = messages;
      this.requestUpdate();
    } catch (error) {
      if (!signal.aborted) this.fail(error);
    }
  }

  template() {
    const [messages, heaviest] = [this.#messages, this.#heaviest];
    return html`<div class="panel-body">
      ${this.problem("Could not read what is heaviest", messages)}
      ${messages?.length === 0 && html`<p class="muted pad">The context is empty.</p>`}
      ${messages && messages.length > 0 && heaviest && this.#lists(messages, heaviest)}
    </div>`;
  }

  /** @param {Api.Message[]} messages @param {Api.Heaviest} heaviest */
  #lists(messages, { groups, tokens, certainty }) {
    const scope = `Shares of the ${tokenText(tokens, certainty)} tokens before the next prune.`;
    return html`<p class="pad small muted scope">${scope}</p>
      ${KINDS.map(([kind, title]) => {
        const some = groups.filter((one) => one.kind === kind);
        return (
          some.length > 0 &&
          html`<h3 class="pad scope">${title}</h3>
          <ul class="heavy">${some.map((group) => heavyGroup(group, tokens, this.certainty))}</ul>`
        );
      })}
      <h3 class="pad scope">One by one</h3>
      <ul class="group-rows heavy-rows">${messages.map((message) => one(message, this.certainty))}</ul>`;
  }
}

/** "read 14 ×, edited 2 ×, 9 superseded", or how many messages there are. @param {Api.HeavyGroup} group */
function groupWords({ kind, reads, writes, edits, superseded, messages }) {
  if (kind !== "file") return counted(messages, kind === "repeated" ? "output" : "message");
  /** @param {string} done @param {number} count */
  const times = (done, count) => count > 0 && `${done} ${number(count)}\u00a0×`;
  const words = [times("read", reads), times("written", writes), times("edited", edits)];
  return [...words, superseded > 0 && `${number(superseded)}\u00a0superseded`].filter(Boolean).join(", ");
}

/** @param {Api.HeavyGroup} group @param {number} all tokens of the context
 * @param {string} certainty */
function heavyGroup(group, all, certainty) {
  const { kind, name, tokens, superseded_tokens, removable } = group;
  const shown = kind === "repeated" ? "repeated outputs" : kind === "file" ? fileName(name) : name;
  /** @param {Kind} act @param {string} word */
  const button = (act, word) =>
    html`<button class="small" data-act="choose-group" data-kind=${act} data-of=${kind} data-name=${name}
      aria-label="${word} ${act === "shorten" ? "the outputs of " : ""}${shown}…">${word}…</button>`;
  const [part, stale] = [tokens, superseded_tokens].map((count) =>
    Math.min(100, (count / Math.max(1, all)) * 100),
  );
  return html`<li>
    <span class="heavy-name mono" title=${name || shown}>${
      kind === "repeated"
        ? shown
        : html`<button class="bare" data-act="narrow" data-of=${kind} data-name=${name}>${shown}</button>`
    }</span>
    <span class="num">${tokenCount(tokens, certainty)}</span
    ><span class="num muted">${percent(part ?? 0)}</span>
    <small>${groupWords(group)}</small>
    <span class="heavy-bar" aria-hidden="true"><i .style="--w:${part}%"></i
      >${superseded_tokens > 0 && html`<i data-stale .style="--w:${stale}%"></i>`}</span>
    <span class="heavy-acts">
      ${removable > 0 && kind !== "role" && button("shorten", "Shorten")}
      ${removable > 0 && button("drop", "Drop")}
    </span>
  </li>`;
}

/** @param {Api.Message} message @param {string} certainty */
function one(message, certainty) {
  const { id, number: n } = message;
  /** @param {Kind} kind @param {string} word @param {string} shape */
  const button = (kind, word, shape) =>
    html`<button class="small iconic quiet" data-act="choose-one" data-kind=${kind} data-id=${id}
      aria-label="${word} message ${n}…" title="${word}…">${icon(shape)}</button>`;
  const acts = html`<span class="heavy-acts">
    ${canShorten(message) && button("shorten", "Shorten", "torn")}
    ${canDrop(message) && button("drop", "Drop", "goes")}
  </span>`;
  return panelRow(message, tokenCount(message.tokens, certainty), acts);
}

customElements.define("heavy-panel", HeavyPanel);
