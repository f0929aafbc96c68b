// <coppice-search q="…"></coppice-search>
//
// Search over everything ever said, pruned or not. The query is part of the address, so that a search can be kept and
// shared between tabs.
import { api } from "../shared/api.js";
import { counted, number } from "../shared/format.js";
import { marked } from "../shared/highlight.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { shortcutsFor } from "../shared/keys.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf } from "../shared/session-facts.js";
import { agoTime } from "../shared/times.js";

const TYPING_MS = 200;

export class CoppiceSearch extends ReadingElement {
  #q = this.getAttribute("q") ?? "";
  /** @type {Api.Hit[] | null} */
  #hits = null;
  /** The query that the hits belong to. */
  #found = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  start() {
    this.listen(this, "input", (/** @type {Event} */ event) => {
      this.#q = /** @type {HTMLInputElement} */ (event.target).value;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.reader.restart(), TYPING_MS);
    });
    shortcutsFor(
      [
        { key: "j", label: "Next result", run: () => this.step(".hit a", 1) },
        { key: "k", label: "Previous result", run: () => this.step(".hit a", -1) },
      ],
      this.life,
    );
    this.update();
    this.querySelector("input")?.focus();
    super.start();
  }

  stop() {
    clearTimeout(this.#timer);
    super.stop();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const q = this.#q.trim();
    history.replaceState(null, "", q ? `/search?q=${encodeURIComponent(q)}` : "/search");
    this.#hits = q ? await api.search(q, signal) : null;
    this.#found = q;
  }

  view() {
    const hits = this.#hits ?? [];
    const more = hits.length >= 100 ? ", the best of more" : "";
    return html`<div class="page-head">
        <h1>Search</h1>
        <span class="muted">everything ever said, pruned or not</span>
      </div>
      <div class="toolbar">
        <input class="search-field" type="search" .value=${this.#q} placeholder="Words to look for"
          aria-label="Search all messages" autocomplete="off" spellcheck="false">
        <span class="muted" role="status">${this.#hits && `${counted(hits.length, "message")}${more}`}</span>
      </div>
      ${this.problem("Could not search")}
      ${
        this.#hits &&
        hits.length === 0 &&
        !this.error &&
        html`<p class="nothing">Nothing that was ever said has these words.</p>`
      }
      ${
        !this.#hits &&
        !this.error &&
        html`<p class="muted">Type a word, a file name, an error. Messages that were pruned are found as well.</p>`
      }
      ${hits.length > 0 && html`<ol class="panel hits">${hits.map((hit) => this.#hit(hit))}</ol>`}`;
  }

  /** @param {Api.Hit} hit */
  #hit({ session_id, session_title, number: n, role, in_context, at, snippet }) {
    return html`<li class="hit"><a href="${pageOf(session_id)}?message=${n}"
      ><span class="hit-head"
        ><b>${session_title ?? session_id}</b><span class="muted">#${number(n)}</span
        ><span class="role" data-role=${role}>${role}</span
        >${in_context === false && html`<span class="muted small">${icon("out")} out of the context</span>`}<span
          class="muted small hit-at">${agoTime(at)}</span></span>
      <span class="snippet ${role === "tool" ? "mono" : ""}">${marked(snippet, this.#found)}</span></a></li>`;
  }
}

customElements.define("coppice-search", CoppiceSearch);
