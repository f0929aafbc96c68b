// <coppice-memory></coppice-memory>
//
// What outlives sessions: memories and learnings, each a short text. Searched, added, edited and deleted here; what
// suits a session's newest message goes into its context by itself. With the learnings stand those that are proposed.
import "../shared/learning-proposals.js";
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted } from "../shared/format.js";
import { highlight } from "../shared/highlight.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { problem } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { render } from "../shared/render.js";
import { live } from "../shared/socket.js";
import { agoTime } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";

/** @typedef {import("../shared/api.js").Kept} Kept */
/** @typedef {"memories" | "learnings"} Kind */

const TYPING_MS = 200;
const CALM_MS = 2000;
/** @type {Record<Kind, { one: string, title: string, help: string, none: import("../shared/html.js").Html }>} */
const KINDS = {
  memories: {
    one: "memory",
    title: "Memories",
    help: "Facts: where things are, how they are called, what holds. Those that share words with the newest message go into the system prompt.",
    none: html`No memories yet. Write the first above, or let a program send it: <code>POST ${location.origin}/api/memories</code>`,
  },
  learnings: {
    one: "learning",
    title: "Learnings",
    help: "What went well or wrong and should be known the next time. Up to five go into the system prompt.",
    none: html`No learnings yet. Write the first above, keep one that is proposed, or open a message of a session and choose <b>Keep as a learning</b>.`,
  },
};

export class CoppiceMemory extends CoppiceElement {
  /** @type {Kind} */
  #kind = "memories";
  #q = "";
  /** @type {Kept[] | null} */
  #kept = null;
  /** @type {number | null} */
  #editing = null;
  /** @type {string | null} */
  #error = null;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  #proposed = 0;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #calm = null;
  #reader = new Reader((signal) => this.#read(signal));

  start() {
    live.join("overview");
    this.listen(live, "session:updated", () => this.#somethingCame());
    this.listen(this, "proposals", (/** @type {CustomEvent} */ event) => {
      this.#proposed = event.detail.count;
      this.requestUpdate();
    });
    this.listen(this, "kept", () => this.#load());
    this.actions({
      kind: (target) => this.#show(/** @type {Kind} */ (target.dataset.name)),
      add: () => this.#add(),
      edit: (target) => this.#edit(Number(target.dataset.id)),
      cancel: () => this.#edit(null),
      save: (target) => this.#save(Number(target.dataset.id)),
      delete: (target) => this.#delete(Number(target.dataset.id)),
      "retry-kept": () => this.#load(),
    });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.type !== "search") return;
      this.#q = field.value;
      if (this.#timer) clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#load(), TYPING_MS);
    });
    this.#load();
  }

  stop() {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#calm) clearTimeout(this.#calm);
    this.#reader.stop();
  }

  /** A session has gone on: there may be something else to propose. */
  #somethingCame() {
    if (this.#calm) return;
    this.#calm = setTimeout(() => {
      this.#calm = null;
      const proposals = this.querySelector("learning-proposals");
      /** @type {import("../shared/learning-proposals.js").LearningProposals | null} */ (
        proposals
      )?.refresh();
    }, CALM_MS);
  }

  /** Reads what is to be shown now; an answer to an earlier question is not shown. */
  #load() {
    return this.#reader.restart();
  }

  /** @param {AbortSignal} signal */
  async #read(signal) {
    try {
      const kept = await api.kept(this.#kind, this.#q.trim(), signal);
      if (signal.aborted) return;
      this.#kept = kept;
      this.#error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** @param {Kind} kind */
  #show(kind) {
    this.#kind = kind;
    this.#kept = null;
    this.#editing = null;
    this.#load();
  }

  /** @param {number | null} id */
  #edit(id) {
    this.#editing = id;
    this.requestUpdate();
  }

  /** @param {string} name */
  #text(name) {
    const field = this.querySelector(`textarea[name="${name}"]`);
    return field instanceof HTMLTextAreaElement ? field.value.trim() : "";
  }

  async #add() {
    const [kind, text] = [this.#kind, this.#text("new")];
    if (!text) return;
    try {
      await api.keep(kind, { text });
      const field = this.querySelector('textarea[name="new"]');
      if (field instanceof HTMLTextAreaElement && field.value.trim() === text) field.value = "";
      toast(`Kept as a ${KINDS[kind].one}`);
      await this.#load();
    } catch (error) {
      toastError(error, "Could not keep it");
    }
  }

  /** @param {number} id */
  async #save(id) {
    const text = this.#text("edited");
    if (!text) return;
    try {
      await api.rewrite(this.#kind, id, text);
      if (this.#editing === id) this.#editing = null;
      await this.#load();
    } catch (error) {
      toastError(error, "Could not change it");
    }
  }

  /** @param {number} id */
  async #delete(id) {
    const kind = this.#kind;
    const gone = this.#kept?.find((one) => one.id === id);
    try {
      await api.forget(kind, id);
      const run = () => gone && api.keep(kind, { text: gone.text }).then(() => this.#load());
      toast(`The ${KINDS[kind].one} is deleted`, { act: { label: "Undo", run } });
      await this.#load();
    } catch (error) {
      toastError(error, "Could not delete it");
    }
  }

  update() {
    const kept = this.#kept ?? [];
    const words = KINDS[this.#kind];
    render(
      this,
      html`<div class="page-head"><h1>Memory</h1><span class="muted">what outlives sessions</span></div>
        <div class="toolbar"><div class="chips" role="group" aria-label="What to show">${/** @type {Kind[]} */ (Object.keys(KINDS)).map((kind) => html`<button class="chip" data-act="kind" data-name="${kind}" aria-pressed="${kind === this.#kind ? "true" : "false"}">${KINDS[kind].title}${kind === "learnings" && this.#proposed > 0 && html`<span class="count">${this.#proposed} proposed</span>`}</button>`)}</div>
        <input class="search-field" type="search" value="${this.#q}" placeholder="Words to look for" aria-label="Search ${words.title.toLowerCase()}" autocomplete="off"><span class="muted" role="status">${this.#kept && (this.#q || kept.length > 0) && counted(kept.length, words.one, words.title.toLowerCase())}</span></div>
        <p class="muted">${words.help}</p>
        <div class="panel" data-key="proposed" ${this.#kind === "learnings" ? "" : html`hidden`}><learning-proposals data-key="proposals"></learning-proposals></div>
        <div class="panel group-box"><div class="fields"><textarea name="new" rows="2" maxlength="4000" aria-label="A new ${words.one}" placeholder="A new ${words.one}"></textarea><div><button data-act="add">${icon("plus")}Keep it</button></div></div></div>
        ${this.#error && problem(`Could not read the ${words.title.toLowerCase()}`, this.#error, "retry-kept")}
        ${this.#kept && kept.length === 0 && !this.#error && html`<p class="nothing">${this.#q ? "None has these words." : words.none}</p>`}
        ${kept.length > 0 && html`<ol class="panel hits">${kept.map((one) => this.#row(one))}</ol>`}`,
    );
  }

  /** @param {Kept} one */
  #row(one) {
    const from = one.session_id && `/sessions/${encodeURIComponent(one.session_id)}`;
    const text =
      this.#editing === one.id
        ? html`<textarea name="edited" rows="3" maxlength="4000" aria-label="The text" data-key="edited">${one.text}</textarea><div><button class="small" data-act="save" data-id="${one.id}">Save</button> <button class="small quiet" data-act="cancel">Cancel</button></div>`
        : html`<span class="snippet">${highlight(one.text, this.#q).map((piece) => (piece.found ? html`<mark>${piece.text}</mark>` : piece.text))}</span>`;
    return html`<li class="hit" data-key="${one.id}"><div class="hit-head"><span class="muted small">${agoTime(one.updated_at)}</span>${from && html`<a class="small" href="${from}">where it was said</a>`}<button class="small quiet" data-act="edit" data-id="${one.id}">Edit</button><button class="small quiet" data-act="delete" data-id="${one.id}">Delete</button></div>${text}</li>`;
  }
}

customElements.define("coppice-memory", CoppiceMemory);
