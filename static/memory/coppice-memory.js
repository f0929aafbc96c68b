// <coppice-memory></coppice-memory>
//
// Memories and learnings: short texts that outlive sessions, searched, added, edited and deleted here. Those
// that share words with a session's newest message are added to its context. Proposed learnings are above
// the learnings.
import { focusOn } from "../shared/keys.js";
import "./learning-proposals.js";
import * as address from "../shared/address.js";
import { api, root } from "../shared/api.js";
import { counted } from "../shared/format.js";
import { marked } from "../shared/highlight.js";
import { html, keyed } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { isMissing } from "../shared/problem.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf } from "../shared/session-facts.js";
import { live } from "../shared/socket.js";
import { agoTime } from "../shared/times.js";
import { toast } from "../shared/toast.js";

/** @typedef {"memories" | "learnings"} Kind */

/** @type {Record<Kind, { one: string, title: string, help: string, none: import("../shared/html.js").Html
 * }>} */
const KINDS = {
  memories: {
    one: "memory",
    title: "Memories",
    help: `Facts: where things are, what they are called, how they work. Those that share words with the
      newest message go into the system prompt.`,
    none: html`No memories yet. Write the first above, or let a program send it:
      <code>POST ${location.origin}${root}/api/memories</code>`,
  },
  learnings: {
    one: "learning",
    title: "Learnings",
    help: `What worked, what did not, what you want. The settings say how many go into the system prompt
      (Learnings at once, at most).`,
    none: html`No learnings yet. Write the first above, keep a proposed one, or open a message of a session
      and choose <b>Keep as a learning</b>.`,
  },
};

/** The characters of a text that name its buttons to screen readers. */
const NAME_CHARS = 60;
const DEFAULTS = { kind: "memories", find: "" };

class CoppiceMemory extends ReadingElement {
  readsOnceJoined = true;
  /** @type {Kind} */
  #kind = "memories";
  #q = "";
  /** @type {Api.Memory[] | null} */
  #memories = null;
  /** @type {number | null} */
  #editing = null;
  /** The text of the edited entry when editing began: a change elsewhere does not replace what is typed. */
  #before = "";
  #proposed = 0;
  /** The text that is being kept, which a second click does not keep again. */
  #adding = "";

  start() {
    this.#recall();
    live.join("overview");
    this.listen(window, "popstate", () => {
      this.#recall();
      this.#showAgain();
    });
    this.hear(live, ["session:updated"], () => this.#proposals?.refresh());
    this.hear(live, ["memories:changed"], () => {
      this.refresh();
      this.#proposals?.refresh();
    });
    this.listen(this, "proposals", (/** @type {CustomEvent} */ event) => {
      this.#proposed = event.detail.count;
      this.requestUpdate();
    });
    this.listen(this, "learnings-changed", () => this.refresher.restart());
    this.actions({
      kind: (target) => this.#show(/** @type {Kind} */ (target.dataset.name)),
      add: () => this.#add(),
      edit: (target) => this.#edit(Number(target.dataset.id)),
      cancel: () => this.#edit(null),
      save: (target) => this.#save(Number(target.dataset.id)),
      delete: (target) => this.#delete(Number(target.dataset.id)),
    });
    this.readAsTyped((text) => {
      this.#q = text;
      address.write({ find: text }, DEFAULTS);
    });
    this.listen(this, "keydown", (/** @type {KeyboardEvent} */ { key, target }) => {
      const row = target instanceof Element && target.closest(".hit")?.querySelector('[name="edited"]');
      if (key === "Escape" && row) this.#edit(null);
    });
    super.start();
  }

  /** Takes the choices in the address. */
  #recall() {
    const { kind, find } = address.read(location.search, DEFAULTS);
    this.#kind = kind === "learnings" ? "learnings" : "memories";
    this.#q = find;
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const memories = await api.memories(this.#kind, this.#q.trim(), signal);
    if (!signal.aborted) this.#memories = memories;
  }

  /** @param {Kind} kind */
  #show(kind) {
    this.#kind = kind;
    address.step({ kind }, DEFAULTS);
    this.#showAgain();
  }

  #showAgain() {
    this.#memories = null;
    this.#editing = null;
    this.requestUpdate();
    this.refresher.restart();
  }

  /** @param {number | null} id */
  #edit(id) {
    this.#editing = id;
    this.#before = this.#memories?.find((one) => one.id === id)?.text ?? "";
    this.update();
    if (id !== null) focusOn(this.#field("edited"));
  }

  get #proposals() {
    return this.querySelector("learning-proposals");
  }

  /** @param {string} name @returns {HTMLTextAreaElement | null} */
  #field(name) {
    return this.querySelector(`textarea[name="${name}"]`);
  }

  #add() {
    const [kind, field] = [this.#kind, this.#field("new")];
    const text = field?.value.trim();
    if (!field || !text || text === this.#adding) return;
    this.#adding = text;
    this.act("Could not keep it", async () => {
      await api.keep(kind, { text }).finally(() => {
        this.#adding = "";
      });
      if (field.value.trim() === text) field.value = "";
      toast(`Kept as a ${KINDS[kind].one}.`);
    });
  }

  /** @param {number} id */
  #save(id) {
    const text = this.#field("edited")?.value.trim();
    if (!text) return;
    this.act("Could not change it", async () => {
      await api.rewrite(this.#kind, id, text);
      if (this.#editing === id) this.#editing = null;
    });
  }

  /** @param {number} id */
  #delete(id) {
    const [kind, gone] = [this.#kind, this.#memories?.find((one) => one.id === id)];
    this.act("Could not delete it", async () => {
      await api.forget(kind, id);
      this.#memories = this.#memories?.filter((one) => one.id !== id) ?? null;
      this.requestUpdate();
      const run = () => gone && this.#keepAgain(kind, gone);
      toast(`The ${KINDS[kind].one} is deleted.`, { act: { label: "Undo", run } });
    });
  }

  /** @param {Kind} kind @param {Api.Memory} gone */
  async #keepAgain(kind, { text, session_id, message_id }) {
    try {
      await api.keep(kind, { text, session_id, message_id });
    } catch (error) {
      if (!isMissing(error)) throw error;
      await api.keep(kind, { text }); // its session is no longer here
    }
    await this.refresher.restart();
  }

  template() {
    const memories = this.#memories ?? [];
    const { one, title, help, none } = KINDS[this.#kind];
    const many = title.toLowerCase();
    const words = this.#q ? `No ${one} has these words.` : none;
    const list = html`<ol class="panel hits">${keyed(memories, "id", (entry) => this.#row(entry))}</ol>`;
    const isCounted = this.#memories && (this.#q !== "" || memories.length > 0);
    const empty = memories.length === 0 && !this.error && html`<p class="nothing">${words}</p>`;
    return html`<div class="page-head">
        <h1>Memory</h1><span class="muted">short texts kept across sessions</span>
      </div>
      <div class="row toolbar">
        <div class="row chips" role="group" aria-label="What to show">
          ${this.#chip("memories")}${this.#chip("learnings")}
        </div>
        <input class="search-field" type="search" .value=${this.#q} placeholder="Words to find"
          aria-label="Search ${many}" autocomplete="off">
        <span class="muted" role="status"
          >${isCounted && counted(memories.length, one, many)}</span>
      </div>
      <p class="muted">${help}</p>
      <div class="panel" ?hidden=${this.#kind !== "learnings"}><learning-proposals></learning-proposals></div>
      <div class="panel group-box"><div class="fields">
        <textarea name="new" rows="2" maxlength="4000" aria-label="A new ${one}"
          placeholder="A new ${one}"></textarea>
        <div><button data-act="add">${icon("plus")}Keep it</button></div>
      </div></div>
      ${this.problem(`Could not read the ${many}`, this.#memories)} ${this.#memories && empty}
      ${memories.length > 0 && list}`;
  }

  /** @param {Kind} kind */
  #chip(kind) {
    const proposed = kind === "learnings" ? this.#proposed : 0;
    return html`<button class="chip" data-act="kind" data-name=${kind} aria-pressed=${kind === this.#kind}
      >${KINDS[kind].title}${proposed > 0 && html`<span class="count">${proposed} proposed</span>`}</button>`;
  }

  /** @param {Api.Memory} entry */
  #row({ id, text, session_id, updated_at }) {
    const from = session_id && html`<a class="small" href=${pageOf(session_id)}>from this session</a>`;
    /** @param {string} act @param {string} label @param {string} [quiet] */
    const button = (act, label, quiet = "quiet") =>
      html`<button class="small ${quiet}" data-act=${act} data-id=${id}
        aria-label="${label}: ${text.slice(0, NAME_CHARS)}">${label}</button>`;
    const edited = html`<textarea name="edited" rows="3" maxlength="4000" aria-label="The text"
        .value=${this.#before}></textarea>
      <div>${button("save", "Save", "")} ${button("cancel", "Cancel")}</div>`;
    return html`<li class="hit">
      <div class="row hit-head">
        <span class="muted small">${agoTime(updated_at)}</span>${from} ${button("edit", "Edit", "quiet end")}
        ${button("delete", "Delete")}
      </div>
      ${this.#editing === id ? edited : html`<span class="snippet">${marked(text, this.#q)}</span>`}
    </li>`;
  }
}

customElements.define("coppice-memory", CoppiceMemory);
