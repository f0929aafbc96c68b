// <message-list session-id="…" plan-id="…" followed></message-list>
//
// The messages of a session: filters with counts, find, sort, score and fate of each, and what a row opens to.
// Reads pages of 100 as the reader scrolls. New messages slide in at the top, or wait behind a pill while the reader is
// elsewhere. `plan-id` shows fates under that plan. Emits `message-act` {id, act}; `refresh()` reads afresh, at most
// once a second; `setFilter(name)` chooses a chip. Emits `chosen` like <heavy-panel>. What is chosen stands in the address.
import { api } from "../lib/api.js";
import { CoppiceElement } from "../lib/element.js";
import { counted, number } from "../lib/format.js";
import { html } from "../lib/html.js";
import { icon } from "../lib/icons.js";
import { shortcutsFor } from "../lib/keys.js";
import { EVERYTHING, keepQuery, listHead, queryOf } from "../lib/list-head.js";
import { messageDetail, messageRow } from "../lib/message-row.js";
import { element, patch, render } from "../lib/render.js";
import { arrive, brackets, merge, signalNames, withFates } from "../lib/rows.js";

/** @typedef {import("../lib/types.js").Message} Message */
/** @typedef {import("../lib/types.js").MessageFull} MessageFull */

const PAGE = 100;
/** The filters that a plan decides on. */
const OF_A_PLAN = new Set(["kept", "protected", "goes", "shortened"]);
/** At most this many rows are read again at once. */
const REFRESHED = 500;
const CALM_MS = 1000;
/** Rows above one that was looked for. */
const AROUND = 12;

export class MessageList extends CoppiceElement {
  static observedAttributes = ["plan-id"];

  /** @type {Message[]} */
  #rows = [];
  /** @type {import("../lib/types.js").Page | null} */
  #page = null;
  /** @type {string | number | null} */
  #next = null;
  /** Where the list begins when it does not begin with the newest: a cursor of the API. @type {string | null} */
  #from = null;
  #waiting = 0;
  #query = queryOf(location.search);
  /** @type {Map<string, MessageFull | string | null>} open rows and what was read for them */
  #open = new Map();
  /** @type {Set<string>} */
  #whole = new Set();
  /** @type {Map<string, { line: HTMLElement, drawn: string }>} */
  #lines = new Map();
  /** @type {AbortController | null} */
  #reading = null;
  #readingMore = false;
  /** @type {string | null} */
  #error = null;
  #refreshedAt = 0;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  /** @type {IntersectionObserver | null} */
  #watcher = null;

  get #session() {
    return this.getAttribute("session-id") ?? "";
  }

  start() {
    this.actions({
      filter: (target) => this.setFilter(target.dataset.name ?? "all"),
      open: (target) => this.#toggle(target.dataset.id ?? ""),
      whole: (target) => {
        this.#whole.add(target.dataset.id ?? "");
        this.requestUpdate();
      },
      message: (target) => this.#act(target.dataset.id ?? "", target.dataset.do ?? ""),
      "show-new": () => this.#showNew(),
      "retry-messages": () => this.#read(),
      "no-filter": () => this.#change({ fate: "all", role: "", q: "" }),
    });
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => {
      const target = /** @type {Element} */ (event.target);
      if (!target.closest("button, a") && !getSelection()?.toString()) this.#toggleAt(target.closest(".msg"));
    });
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLSelectElement} */ (event.target);
      if (field.name === "role") this.#change({ role: field.value });
      if (field.name === "sort") this.#change({ sort: field.value });
    });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.type === "search") this.#change({ q: field.value });
    });
    shortcutsFor(
      [
        { key: "j", label: "Next row", run: () => this.#step(1) },
        { key: "k", label: "Previous row", run: () => this.#step(-1) },
      ],
      this.life,
    );
    this.#watcher = new IntersectionObserver(
      (entries) => entries.some((e) => e.isIntersecting) && this.#readMore(),
      {
        rootMargin: "800px",
      },
    );
    this.#read();
  }

  stop() {
    this.#watcher?.disconnect();
    this.#reading?.abort();
    if (this.#timer) clearTimeout(this.#timer);
  }

  attributeChangedCallback() {
    if (this.isConnected) this.refresh();
  }

  /** @param {string} name */
  setFilter(name) {
    this.#change({ fate: name });
  }

  /** @param {Partial<{ fate: string, role: string, q: string, sort: string }>} change */
  #change(change) {
    this.#query = { ...this.#query, ...change };
    keepQuery(this.#query);
    this.#empty();
    this.requestUpdate();
    this.#read();
  }

  /** Forgets the rows, and with them the place at which their list goes on: a scroll must not read on there. */
  #empty() {
    this.#from = null;
    this.#next = null;
    this.#rows = [];
  }

  /** Reads afresh soon: rows change in place, new ones come in or wait. */
  refresh() {
    if (this.#timer) return;
    const wait = Math.max(0, this.#refreshedAt + CALM_MS - Date.now());
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#read();
    }, wait);
  }

  /**
   * Shows rows that were just appended at once, as they were told; the fates of the others follow with `refresh`.
   * Where the newest rows do not stand first, or not all of them, only the reading can tell their places.
   * @param {Message[]} messages @param {number} count how many were appended, of which these are the newest
   */
  arrived(messages, count) {
    const { fate, role, q, sort } = this.#query;
    const plain = fate === "all" && !role && !q && sort === "newest" && this.#from === null;
    if (plain && this.#page && messages.length === count && !this.hasAttribute("plan-id")) {
      const { rows, waiting } = arrive(this.#rows, messages, this.#mayInsert());
      this.#rows = rows;
      this.#waiting += waiting;
      this.requestUpdate();
    }
    this.refresh();
  }

  /** @param {string | number | null} after @param {number} limit @param {boolean} [at_once] */
  #fetch(after, limit, at_once) {
    const { fate, ...rest } = this.#query;
    const plan_id = this.getAttribute("plan-id") ?? undefined;
    this.#reading ??= new AbortController();
    const query = { ...rest, fate: fate === "all" ? "" : fate, after, limit, plan_id, at_once };
    return api.messages(this.#session, query, this.#reading.signal);
  }

  /**
   * A page as it is shown: where the session has outgrown the plan on the page, another plan is on its way, and until
   * it is there the rows keep what the old one said of them. Null where not even the choice of rows would hold.
   * @param {import("../lib/types.js").Page} page
   */
  #settled(page) {
    const asked = this.getAttribute("plan-id");
    if (!asked || page.pending || page.plan_id === asked || !this.#page) return page;
    if (OF_A_PLAN.has(this.#query.fate)) return this.#rows.length > 0 ? null : page;
    const { all, out, errors } = page.counts;
    const counts = { ...this.#page.counts, all, out, errors };
    return { ...page, counts, messages: withFates(this.#rows, page.messages) };
  }

  /** A list that shows nothing yet does not wait for fates, which take their time in a long session, and asks again. */
  async #read(atOnce = this.#rows.length === 0) {
    this.#reading?.abort();
    const mine = new AbortController();
    this.#reading = mine;
    this.#refreshedAt = Date.now();
    const shown = this.#rows.length;
    try {
      const limit = Math.min(REFRESHED, Math.max(PAGE, shown));
      const page = this.#settled(await this.#fetch(this.#from, limit, atOnce || undefined));
      if (mine.signal.aborted || !page) return;
      const complete = page.messages.length >= shown || page.next === null;
      const { rows, waiting } = merge(this.#rows, page.messages, complete, this.#mayInsert());
      this.#page = page;
      if (rows.length !== shown || complete)
        this.#next = rows.length > page.messages.length ? this.#next : page.next;
      this.#rows = rows;
      this.#waiting = waiting;
      this.#error = null;
      if (page.pending) this.#read(false);
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  async #readMore() {
    if (this.#readingMore || this.#next === null) return;
    this.#readingMore = true;
    const reading = this.#reading;
    try {
      const page = await this.#fetch(this.#next, PAGE);
      // Whatever was read anew meanwhile has its own next page.
      if (reading !== this.#reading) throw new DOMException("superseded", "AbortError");
      const known = new Set(this.#rows.map((m) => m.id));
      this.#rows = [...this.#rows, ...page.messages.filter((m) => !known.has(m.id))];
      this.#next = page.next;
    } catch {
      // The next scroll asks again.
    }
    this.#readingMore = false;
    this.requestUpdate();
  }

  /** Nothing moves under the pointer, in an open row, or above what is being read. */
  #mayInsert() {
    if (this.#query.sort === "oldest" || this.#rows.length === 0) return true;
    const body = this.querySelector(".rows");
    if (!body) return true;
    if (body.matches(":hover") || body.contains(document.activeElement) || this.#open.size > 0) return false;
    return body.getBoundingClientRect().top > 0;
  }

  #showNew() {
    this.#empty();
    this.#lines.clear();
    this.querySelector(".rows")?.replaceChildren();
    this.#waiting = 0;
    this.#read().then(() => this.querySelector(".list-head")?.scrollIntoView({ block: "nearest" }));
  }

  /** A click anywhere in a row is one on its button. @param {Element | null} line */
  #toggleAt(line) {
    const id = line?.getAttribute("data-id");
    if (id) this.#toggle(id);
  }

  /** @param {string} id */
  async #toggle(id) {
    if (this.#open.has(id)) {
      this.#open.delete(id);
      this.#whole.delete(id);
      return this.requestUpdate();
    }
    this.#open.set(id, null);
    this.requestUpdate();
    try {
      const full = await api.message(this.#session, id);
      if (this.#open.has(id)) this.#open.set(id, full);
    } catch (error) {
      this.#open.set(id, error instanceof Error ? error.message : String(error));
    }
    this.requestUpdate();
  }

  /** Opens the row of one message; one that is not loaded is read with those around it. @param {number} messageNumber */
  async reveal(messageNumber) {
    const here = () => this.#rows.find((m) => m.number === messageNumber);
    if (!here()) {
      this.#change(EVERYTHING);
      // In the order of the log a cursor is the number of the message before the page.
      this.#from = String(messageNumber + AROUND);
      await this.#read();
    }
    const found = here();
    if (!found) return;
    if (!this.#open.has(found.id)) await this.#toggle(found.id);
    this.update();
    this.#lines.get(found.id)?.line.scrollIntoView({ block: "center" });
    this.#lines.get(found.id)?.line.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Closes all open rows; tells whether there were any. */
  closeRows() {
    const had = this.#open.size > 0;
    this.#open.clear();
    this.requestUpdate();
    return had;
  }

  /** Asks for what a row's button says; what can be previewed is chosen for a plan. @param {string} id @param {string} act */
  #act(id, act) {
    const message = this.#rows.find((m) => m.id === id);
    if (act !== "shorten") this.emit("message-act", { id, act });
    else if (message) this.emit("chosen", { kind: act, messages: [{ id, number: message.number }] });
  }

  /** @param {number} by */
  #step(by) {
    const rows = [...this.querySelectorAll(".m-open")];
    const here = rows.findIndex((row) => row.matches(":focus"));
    const next = rows[here < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, here + by))];
    if (next instanceof HTMLElement) next.focus();
    next?.closest(".msg")?.scrollIntoView({ block: "nearest" });
  }

  update() {
    const signals = signalNames(this.#rows);
    render(
      this,
      html`<section class="panel messages" aria-label="Messages">
        ${listHead(this.#query, this.#page?.counts)}
        ${this.#waiting > 0 && html`<div class="pill-holder" data-key="pill"><button class="pill" data-act="show-new">${icon("up")}${this.#waiting < PAGE ? counted(this.#waiting, "new message") : `${number(PAGE)} or more new messages`}</button></div>`}
        ${this.#from !== null && html`<p class="note-box" data-key="from" role="status">From message ${number(this.#rows[0]?.number ?? 0)} on. <button class="small" data-act="show-new">Newest</button></p>`}
        <div role="table" aria-label="Messages" data-key="table" aria-rowcount="${this.#page?.total ?? -1}">
          <div role="rowgroup" class="msg-head"><div class="msg-heads" role="row"><span role="columnheader" class="num">#</span><span role="columnheader">Role</span><span role="columnheader">Message, and its fate under the plan</span><span role="columnheader" class="m-score">Score</span><span role="columnheader" class="num">Tokens</span></div></div>
          <message-rows role="rowgroup" class="rows"></message-rows>
        </div>
        <div class="list-foot" data-key="foot">${this.#foot()}</div>
      </section>`,
    );
    this.#draw(signals);
    const foot = this.querySelector(".list-foot");
    if (foot) this.#watcher?.observe(foot);
  }

  #foot() {
    if (this.#error)
      return html`<p role="alert"><span class="fault">Could not read the messages: ${this.#error}</span> <button class="small" data-act="retry-messages">Try again</button></p>`;
    if (!this.#page) return html`<p class="muted">Reading…</p>`;
    if (this.#rows.length === 0) {
      const filtered = this.#query.fate !== "all" || this.#query.role || this.#query.q;
      return filtered
        ? html`<p class="muted">No message fits. <button class="small" data-act="no-filter">Show all</button></p>`
        : html`<p class="muted">No messages yet. They appear here as the agent writes them.</p>`;
    }
    return this.#next === null
      ? html``
      : html`<p class="muted">${number(this.#rows.length)} of ${number(this.#page.total)}, more below…</p>`;
  }

  /** Draws the rows that differ from what is drawn, and puts all in order. @param {string[]} signals */
  #draw(signals) {
    const body = /** @type {HTMLElement} */ (this.querySelector(".rows"));
    const places = brackets(this.#rows);
    const first = this.#lines.size === 0;
    /** @type {Set<string>} */
    const wanted = new Set();
    let here = body.firstElementChild;
    /** @param {string} key @param {string} state @param {() => import("../lib/html.js").Html} content */
    const put = (key, state, content) => {
      wanted.add(key);
      let known = this.#lines.get(key);
      if (!known) {
        known = { line: element(content()), drawn: state };
        if (!first) known.line.classList.add("entering");
        this.#lines.set(key, known);
      } else if (known.drawn !== state) {
        patch(known.line, content());
        known.drawn = state;
      }
      if (known.line === here) here = here.nextElementSibling;
      else body.insertBefore(known.line, here);
    };
    for (const [i, message] of this.#rows.entries()) {
      const open = this.#open.has(message.id);
      const view = { open, bracket: places[i] ?? "none", signals };
      const state = JSON.stringify([message, view]);
      put(message.id, state, () => messageRow(message, view));
      if (!open) continue;
      const full = this.#open.get(message.id) ?? null;
      const whole = this.#whole.has(message.id);
      const drawn = `${state}${whole}${full === null ? 0 : typeof full === "string" ? full : 1}`;
      put(`${message.id} detail`, drawn, () => messageDetail(message, full, signals, whole));
    }
    for (const [key, { line }] of this.#lines)
      if (!wanted.has(key)) {
        line.remove();
        this.#lines.delete(key);
      }
  }
}

customElements.define("message-list", MessageList);
