// <coppice-search q="…"></coppice-search>
//
// Search over everything ever said, pruned or not, in all sessions or one. The query stands in the address, so that a
// search can be kept and shared between tabs.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number } from "../shared/format.js";
import { highlight } from "../shared/highlight.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { shortcutsFor } from "../shared/keys.js";
import { problem } from "../shared/problem.js";
import { render } from "../shared/render.js";
import { agoTime } from "../shared/times.js";

/** @typedef {import("../shared/types.js").Hit} Hit */

const TYPING_MS = 200;

export class CoppiceSearch extends CoppiceElement {
  #q = this.getAttribute("q") ?? "";
  /** @type {Hit[] | null} */
  #hits = null;
  /** The query that the hits belong to. */
  #found = "";
  /** @type {string | null} */
  #error = null;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  /** @type {AbortController | null} */
  #asking = null;

  start() {
    this.listen(this, "input", (/** @type {Event} */ event) => {
      this.#q = /** @type {HTMLInputElement} */ (event.target).value;
      if (this.#timer) clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), TYPING_MS);
    });
    this.actions({ "retry-search": () => this.#search() });
    shortcutsFor(
      [
        { key: "j", label: "Next result", run: () => this.#step(1) },
        { key: "k", label: "Previous result", run: () => this.#step(-1) },
      ],
      this.life,
    );
    this.update();
    this.querySelector("input")?.focus();
    if (this.#q) this.#search();
  }

  stop() {
    if (this.#timer) clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  /** @param {number} by */
  #step(by) {
    const links = [...this.querySelectorAll(".hit a")];
    const here = links.findIndex((link) => link.matches(":focus"));
    const next = links[Math.min(links.length - 1, Math.max(0, here + by))];
    if (next instanceof HTMLElement) next.focus();
  }

  async #search() {
    const q = this.#q.trim();
    history.replaceState(null, "", q ? `/search?q=${encodeURIComponent(q)}` : "/search");
    this.#asking?.abort();
    if (!q) {
      this.#hits = null;
      return this.requestUpdate();
    }
    const mine = new AbortController();
    this.#asking = mine;
    try {
      this.#hits = await api.search(q, undefined, mine.signal);
      this.#found = q;
      this.#error = null;
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  update() {
    const hits = this.#hits ?? [];
    render(
      this,
      html`<div class="page-head"><h1>Search</h1><span class="muted">everything ever said, pruned or not</span></div>
        <div class="toolbar"><input class="search-field" type="search" value="${this.#q}" placeholder="Words to look for" aria-label="Search all messages" autocomplete="off" spellcheck="false"><span class="muted" role="status">${this.#hits && `${counted(hits.length, "message")}${hits.length >= 100 ? ", the best of more" : ""}`}</span></div>
        ${this.#error && problem("Could not search", this.#error, "retry-search")}
        ${this.#hits && hits.length === 0 && !this.#error && html`<p class="nothing">Nothing that was ever said has these words.</p>`}
        ${!this.#hits && !this.#error && html`<p class="muted">Type a word, a file name, an error. Messages that were pruned are found as well.</p>`}
        ${hits.length > 0 && html`<ol class="panel hits">${hits.map((hit) => this.#hit(hit))}</ol>`}`,
    );
  }

  /** @param {Hit} hit */
  #hit(hit) {
    const href = `/sessions/${encodeURIComponent(hit.session_id)}?message=${hit.number}`;
    return html`<li class="hit" data-key="${hit.session_id} ${hit.number}"><a href="${href}"><span class="hit-head"><b>${hit.session_title ?? hit.title ?? hit.session_id}</b><span class="muted">#${number(hit.number)}</span><span class="role" data-role="${hit.role}">${hit.role}</span>${hit.in_context === false && html`<span class="muted small">${icon("out")} out of the context</span>`}<span class="muted small hit-at">${agoTime(hit.at)}</span></span>
      <span class="snippet ${hit.role === "tool" ? "mono" : ""}">${highlight(hit.snippet, this.#found).map((piece) => (piece.found ? html`<mark>${piece.text}</mark>` : piece.text))}</span></a></li>`;
  }
}

customElements.define("coppice-search", CoppiceSearch);
