// <coppice-search q="…"></coppice-search>
//
// Search over every message of every session, pruned or not. The query is part of the address.
import { api } from "../shared/api.js";
import { counted, number } from "../shared/format.js";
import { marked } from "../shared/highlight.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf } from "../shared/session-facts.js";
import { agoTime } from "../shared/times.js";

const NONE = html`<p class="nothing">No message has these words.</p>`;
const HELP = html`<p class="muted">Type a word, a file name or an error. Pruned messages are found too.</p>`;

export class CoppiceSearch extends ReadingElement {
  #q = this.getAttribute("q") ?? "";
  /** @type {Api.Hit[] | null} */
  #hits = null;
  /** The query of the hits. */
  #found = "";

  start() {
    this.readAsTyped((text) => {
      this.#q = text;
    });
    this.stepKeys(".hit a", "result");
    this.update();
    this.querySelector("input")?.focus();
    super.start();
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
        <span class="muted">all messages of all sessions, pruned or not</span>
      </div>
      <div class="toolbar">
        <input class="search-field" type="search" .value=${this.#q} placeholder="Words to find"
          aria-label="Search all messages" autocomplete="off" spellcheck="false">
        <span class="muted" role="status">${this.#hits && `${counted(hits.length, "message")}${more}`}</span>
      </div>
      ${this.problem("Could not search")}
      ${!this.error && hits.length === 0 && (this.#hits ? NONE : HELP)}
      ${hits.length > 0 && html`<ol class="panel hits">${hits.map((hit) => this.#hit(hit))}</ol>`}`;
  }

  /** @param {Api.Hit} hit */
  #hit({ session_id, session_title, number: n, role, in_context, at, snippet }) {
    return html`<li class="hit"><a href="${pageOf(session_id)}?message=${n}"
      ><span class="hit-head"
        ><b>${session_title}</b><span class="muted">#${number(n)}</span
        ><span class="role" data-role=${role}>${role}</span
        >${!in_context && html`<span class="muted small">${icon("out")} out of the context</span>`}<span
          class="muted small end">${agoTime(at)}</span></span>
      <span class="snippet ${role === "tool" ? "mono" : ""}">${marked(snippet, this.#found)}</span></a></li>`;
  }
}

customElements.define("coppice-search", CoppiceSearch);
