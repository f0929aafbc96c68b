// <message-list session-id="…" plan-id="…" followed></message-list>
//
// The messages of a session: filters with counts, find, sort, score and fate of each, and what a row opens to.
// Reads pages of 100 as the reader scrolls, and gives up those far down while nobody reads the list. New messages slide
// in at the top, or wait behind a pill while somebody does. `plan-id` shows fates under that plan. Emits `message-act`
// {id, act}; `refresh()` reads afresh, at most once a second; `setFilter(name)` chooses a chip. Emits `chosen` like
// <heavy-panel>. What is chosen stands in the address.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { shortcutsFor } from "../shared/keys.js";
import { Reader } from "../shared/reader.js";
import { element, patch, render } from "../shared/render.js";
import { listFoot, pill } from "./list-foot.js";
import { EVERYTHING, keepQuery, listHead, queryOf } from "./list-head.js";
import { messageDetail, messageRow } from "./message-row.js";
import { pageOver } from "./paging.js";
import { arrive, brackets, cursorAfter, merge, signalNames, withFates } from "./rows.js";

/** @typedef {import("../shared/types.js").Message} Message */
/** @typedef {import("../shared/types.js").MessageFull} MessageFull */

const PAGE = 100;
/** The filters that a plan decides on. */
const OF_A_PLAN = new Set(["kept", "protected", "goes", "shortened"]);
/** At most this many rows are read at once, and stand while nobody reads them. */
const MOST = 500;
const CALM_MS = 1000;
/** Rows above one that was looked for. */
const AROUND = 12;
/** What must not move under the pointer. */
const HELD = ":is(.rows, .pill)";

export class MessageList extends CoppiceElement {
  static observedAttributes = ["plan-id"];

  /** @type {Message[]} */
  #rows = [];
  /** @type {import("../shared/types.js").Page | null} */
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
  #reader = new Reader((signal) => this.#read(signal), { calm: CALM_MS });
  #readingMore = false;
  /** How many pages were read on to. */
  #readOn = 0;
  /** @type {string | null} */
  #error = null;
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
      "retry-messages": () => this.#reader.restart(),
      "no-filter": () => this.#change({ fate: "all", role: "", q: "" }),
    });
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => {
      const target = /** @type {Element} */ (event.target);
      const id = target.closest(".msg")?.getAttribute("data-id");
      // A click anywhere in a row is one on its button.
      if (id && !target.closest("button, a") && !getSelection()?.toString()) this.#toggle(id);
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
    for (const type of ["pointerout", "focusout"])
      this.listen(this, type, (/** @type {PointerEvent | FocusEvent} */ event) => this.#left(event));
    shortcutsFor(
      [
        { key: "j", label: "Next row", run: () => this.#step(1) },
        { key: "k", label: "Previous row", run: () => this.#step(-1) },
      ],
      this.life,
    );
    this.#watcher = new IntersectionObserver(
      (entries) => entries.some((e) => e.isIntersecting) && this.#readMore(),
      { rootMargin: "800px" },
    );
    this.refresh();
  }

  stop() {
    this.#watcher?.disconnect();
    this.#reader.stop();
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
    this.#reader.restart();
  }

  /** Forgets the rows and which are open, and the place at which their list goes on: a scroll must not read on there. */
  #empty() {
    this.#from = null;
    this.#next = null;
    this.#rows = [];
    this.#open.clear();
    this.#whole.clear();
  }

  /** Reads afresh soon: rows change in place, new ones come in or wait. */
  refresh() {
    this.#reader.ask();
  }

  /** The pointer or the focus left the rows: what waits may come in. @param {PointerEvent | FocusEvent} event */
  #left({ target, relatedTarget: to }) {
    const held = (/** @type {EventTarget | null} */ at) => at instanceof Element && at.closest(HELD) !== null;
    if (this.#waiting > 0 && held(target) && !held(to)) this.refresh();
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
      const { rows, waiting } = arrive(this.#rows, messages, !this.#isRead, MOST);
      const [was, last] = [this.#rows.at(-1), rows.at(-1)];
      if (was && last && last.number > was.number) this.#next = cursorAfter(sort, last, rows.length);
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
    const query = { ...rest, fate: fate === "all" ? "" : fate, after, limit, plan_id, at_once };
    return api.messages(this.#session, query, this.#reader.signal);
  }

  /**
   * A page as it is shown: where the session has outgrown the plan on the page, another plan is on its way, and until
   * it is there the rows keep what the old one said of them. Null where not even the choice of rows would hold.
   * @param {import("../shared/types.js").Page} page
   */
  #settled(page) {
    const asked = this.getAttribute("plan-id");
    if (!asked || page.pending || page.plan_id === asked || !this.#page) return page;
    if (OF_A_PLAN.has(this.#query.fate)) return this.#rows.length > 0 ? null : page;
    const { all, out, errors } = page.counts;
    const counts = { ...this.#page.counts, all, out, errors };
    return { ...page, counts, messages: withFates(this.#rows, page.messages) };
  }

  /** @param {AbortSignal} signal aborted once another list is wanted */
  async #read(signal) {
    try {
      // A list that shows nothing yet does not wait for fates, which take their time in a long session, and asks again.
      const pending = await this.#take(signal, this.#rows.length === 0);
      if (pending) await this.#take(signal, false);
    } catch (error) {
      if (signal.aborted) return;
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** Reads the rows, and tells whether their fates are still to come. @param {AbortSignal} signal @param {boolean} atOnce */
  async #take(signal, atOnce) {
    const [shown, { sort }, readOn] = [this.#rows, this.#query, this.#readOn];
    const limit = Math.max(PAGE, shown.length + Math.min(PAGE, this.#waiting));
    const first = await this.#fetch(this.#from, Math.min(MOST, limit), atOnce || undefined);
    // All that somebody reads is read again, but otherwise only the beginning.
    const fetchPage = this.#fetch.bind(this);
    const page = this.#settled(this.#isRead ? await pageOver(fetchPage, first, shown, sort, MOST) : first);
    if (signal.aborted || !page) return;
    // The list has become longer than what was read.
    if (readOn !== this.#readOn) return void this.refresh();
    const { rows, waiting, end } = merge(this.#rows, page.messages, sort === "oldest" || !this.#isRead);
    const last = page.messages[end - 1];
    const next = last && end < page.messages.length ? cursorAfter(sort, last, end) : page.next;
    if (next !== this.#next) this.#watch();
    this.#next = next;
    this.#page = page;
    this.#rows = rows;
    this.#waiting = waiting;
    this.#error = null;
    const ids = new Set(rows.map((m) => m.id));
    for (const id of this.#open.keys()) if (!ids.has(id)) this.#open.delete(id);
    this.requestUpdate();
    return page.pending;
  }

  async #readMore() {
    const after = this.#next;
    if (this.#readingMore || after === null) return;
    this.#readingMore = true;
    const { signal } = this.#reader;
    try {
      const page = await this.#fetch(after, PAGE);
      // Rows that came or went meanwhile end elsewhere.
      if (signal.aborted || after !== this.#next) this.#watch();
      else {
        const known = new Set(this.#rows.map((m) => m.id));
        this.#rows = [...this.#rows, ...page.messages.filter((m) => !known.has(m.id))];
        this.#next = page.next;
        this.#readOn += 1;
      }
    } catch {
      // The next scroll asks again.
    }
    this.#readingMore = false;
    this.requestUpdate();
  }

  /** Reads on if the end of the list is in view. */
  #watch() {
    const foot = this.querySelector(".list-foot");
    this.#watcher?.disconnect();
    if (foot) this.#watcher?.observe(foot);
  }

  /** Nothing moves under the pointer, at the focus, in an open row, or above what is being read. */
  get #isRead() {
    const body = this.querySelector(".rows");
    if (!body || this.#rows.length === 0) return false;
    if (this.querySelector(`${HELD}:hover`) || body.contains(document.activeElement)) return true;
    return this.#open.size > 0 || body.getBoundingClientRect().top <= 0;
  }

  #showNew() {
    this.#empty();
    this.#lines.clear();
    this.querySelector(".rows")?.replaceChildren();
    this.#waiting = 0;
    this.#reader.restart().then(() => this.querySelector(".list-head")?.scrollIntoView({ block: "nearest" }));
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
      if (this.#open.has(id)) this.#open.set(id, error instanceof Error ? error.message : String(error));
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
      await this.#reader.ask();
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
        ${pill(this.#waiting, PAGE)}
        ${this.#from !== null && html`<p class="note-box" data-key="from" role="status">From message ${number(this.#rows[0]?.number ?? 0)} on. <button class="small" data-act="show-new">Newest</button></p>`}
        <div role="table" aria-label="Messages" data-key="table" aria-rowcount="${this.#page?.total ?? -1}">
          <div role="rowgroup" class="msg-head"><div class="msg-heads" role="row"><span role="columnheader" class="num">#</span><span role="columnheader">Role</span><span role="columnheader">Message, and its fate under the plan</span><span role="columnheader" class="m-score">Score</span><span role="columnheader" class="num">Tokens</span></div></div>
          <message-rows role="rowgroup" class="rows"></message-rows>
        </div>
        <div class="list-foot" data-key="foot">${listFoot({ error: this.#error, page: this.#page, shown: this.#rows.length, more: this.#next !== null }, this.#query)}</div>
      </section>`,
    );
    this.#draw(signals);
  }

  /** Draws the rows that differ from what is drawn, and puts all in order. @param {string[]} signals */
  #draw(signals) {
    const body = /** @type {HTMLElement} */ (this.querySelector(".rows"));
    const places = brackets(this.#rows);
    const first = this.#lines.size === 0;
    /** @type {Set<string>} */
    const wanted = new Set();
    let here = body.firstElementChild;
    /** @param {string} key @param {string} state @param {() => import("../shared/html.js").Html} content */
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
