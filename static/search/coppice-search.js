// <coppice-search></coppice-search>
//
// Search over every message of every session, pruned or not, limited to a session, a role, a tool and days.
// Query and limits are part of the address.
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { counted, inOneLine, number, withPictures } from "../shared/format.js";
import { marked } from "../shared/highlight.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn } from "../shared/keys.js";
import { optionElements, sessionOptions } from "../shared/parts.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf, titleOf } from "../shared/session-facts.js";
import { agoTime, beginOf } from "../shared/times.js";
import { toastError } from "../shared/toast.js";
import { ROLE_OPTIONS } from "../shared/words.js";

const NONE = html`<p class="nothing">
  No message has these words. Of each, the first 200,000 characters are searched.
</p>`;
const NONE_WITHIN = html`<p class="nothing">
  No message within these limits has these words.
  <button class="small" data-act="unlimited">Search everywhere</button>
</p>`;
const HELP = html`<p class="muted">
  Type a word, a file name or an error. Pruned messages are found too, by their first 200,000 characters.
</p>`;
const READING = html`<p class="muted reading">Searching…</p>`;
const DEFAULTS = { q: "", session: "", role: "", tool: "", since: "", until: "" };
const SHOWN_SESSIONS = 200;

class CoppiceSearch extends ReadingElement {
  #asked = address.read(location.search, DEFAULTS);
  /** @type {Api.Hit[] | null} */
  #hits = null;
  /** @type {number | null} */
  #next = null;
  /** @type {Api.Session[]} */
  #sessions = [];
  /** The query of the hits. */
  #found = "";

  start() {
    this.readAsTyped((text) => {
      this.#asked.q = text;
    });
    this.listen(this, "change", ({ target }) => {
      if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
      if (!(target.name in DEFAULTS)) return;
      this.#asked = { ...this.#asked, [target.name]: target.value };
      address.step(this.#query, DEFAULTS);
      this.refresher.restart();
    });
    this.listen(window, "popstate", () => {
      this.#asked = address.read(location.search, DEFAULTS);
      this.refresher.restart();
    });
    this.actions({
      more: () => this.#more(),
      unlimited: () => {
        this.#asked = { ...DEFAULTS, q: this.#asked.q };
        address.step(this.#query, DEFAULTS);
        this.refresher.restart();
      },
    });
    this.stepKeys(".hit a", "result");
    this.update();
    focusOn(this.querySelector("input"));
    super.start();
    this.#readSessions();
  }

  async #readSessions() {
    try {
      this.#sessions = (await api.sessions({ limit: SHOWN_SESSIONS }, this.life)).sessions;
      this.requestUpdate();
    } catch {
      // The search itself says what is wrong.
    }
  }

  get #query() {
    return { ...this.#asked, q: this.#asked.q.trim() };
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const query = this.#query;
    address.write(query, DEFAULTS);
    const page = query.q ? await api.search(ofDays(query), signal) : null;
    if (signal.aborted) return;
    this.#hits = page?.results ?? null;
    this.#next = page?.next ?? null;
    this.#found = query.q;
  }

  async #more() {
    const { signal } = this.refresher;
    try {
      const page = await api.search({ ...ofDays(this.#query), after: this.#next }, signal);
      if (signal.aborted) return;
      const known = new Set(this.#hits?.map(placeOf));
      const fresh = page.results.filter((hit) => !known.has(placeOf(hit)));
      const first = this.#hits?.length ?? 0;
      this.#hits = [...(this.#hits ?? []), ...fresh];
      this.#next = page.next;
      this.update();
      focusOn(this.querySelectorAll(".hit a")[first]);
    } catch (error) {
      if (!signal.aborted) toastError(error, "Could not read more");
    }
  }

  template() {
    const hits = this.#hits ?? [];
    const more = this.#next !== null ? ", the best matches; more are below" : "";
    const { q, session, role, tool, since, until } = this.#asked;
    const sessions = sessionOptions(this.#sessions, session, titleOf, [["", "All sessions"]]);
    return html`<div class="page-head">
        <h1>Search</h1>
        <span class="muted">all messages of all sessions, pruned or not</span>
      </div>
      <div class="row toolbar">
        <input class="search-field" type="search" .value=${q} placeholder="Words to find"
          aria-label="Search all messages" autocomplete="off" spellcheck="false">
        <span class="muted" role="status">${this.#hits && `${counted(hits.length, "message")}${more}`}</span>
      </div>
      <div class="row toolbar search-limits" role="group" aria-label="Limit the search">
        <select name="session" aria-label="Session">${sessions}</select>
        <select name="role" aria-label="Role">${optionElements(ROLE_OPTIONS, role)}</select>
        <input type="text" name="tool" .value=${tool} placeholder="All tools" aria-label="Tool"
          spellcheck="false" autocomplete="off">
        <span class="row">
          <label class="muted small">from <input type="date" name="since" .value=${since}></label>
          <label class="muted small">to <input type="date" name="until" .value=${until}></label>
        </span>
      </div>
      ${this.problem("Could not search")}
      ${!this.error && hits.length === 0 && this.#instead()}
      ${hits.length > 0 && html`<ol class="panel hits">${hits.map((hit) => this.#hit(hit))}</ol>`}
      ${this.#next !== null && html`<p><button data-act="more">Show more</button></p>`}`;
  }

  /** The text in place of hits. */
  #instead() {
    const { q, ...limits } = this.#asked;
    if (this.#hits) return Object.values(limits).some(Boolean) ? NONE_WITHIN : NONE;
    return q.trim() ? READING : HELP;
  }

  /** @param {Api.Hit} hit */
  #hit({ session_id, session_title, number: n, role, in_context, at, snippet }) {
    return html`<li class="hit"><a href="${pageOf(session_id)}?message=${n}"
      ><span class="row hit-head"
        ><b class="one-line">${inOneLine(session_title)}</b><span class="muted">#${number(n)}</span
        ><span class="role" data-role=${role}>${role}</span
        >${!in_context && html`<span class="muted small">${icon("out")} out of the context</span>`}<span
          class="muted small end">${agoTime(at)}</span></span>
      <span class="snippet ${role === "tool" ? "mono" : ""}"
        >${marked(withPictures(snippet), this.#found)}</span></a></li>`;
  }
}

/** The identity of a hit: copies of a session have the ids of its messages. @param {Api.Hit} hit */
const placeOf = ({ session_id, number }) => `${session_id} ${number}`;

/** The query from the beginning of the first day to the end of the last, both in the reader's time zone.
 * @param {typeof DEFAULTS} query */
const ofDays = ({ since, until, ...rest }) => ({
  ...rest,
  since: since && beginOf(since),
  until: until && beginOf(until, 1),
});

customElements.define("coppice-search", CoppiceSearch);
