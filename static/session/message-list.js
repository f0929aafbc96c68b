// <message-list session-id="…" plan-id="…"></message-list>
//
// The messages of a session with filters, search and order, each with its score and fate, and its text when
// opened. Reads pages of 100 as the reader scrolls, and drops those far down while nobody reads. New messages
// slide in at the top, or wait behind a pill while somebody reads. With `plan-id` the fates are of that plan.
// Emits `message-act` {id, act}, and `chosen` like <heavy-panel>. `refresh()` reads again, at most once a
// second; `reveal(number)` opens a message. The choices are part of the address.
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { number } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { reasonOf } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { listFoot, pill } from "./list-foot.js";
import { EVERYTHING, keepQuery, listHead, queryOf } from "./list-head.js";
import { messageDetail, messageRow } from "./message-row.js";
import { pageOver } from "./paging.js";
import { arrive, brackets, cursorAfter, merge, signalNames, withFates } from "./rows.js";

const PAGE = 100;
/** Filters whose rows depend on a plan. */
const OF_A_PLAN = new Set(["kept", "protected", "goes", "shortened"]);
/** The most rows read at once, and kept while nobody reads them. */
const MOST = 500;
const CALM_MS = 1000;
/** Rows shown above a message that was looked for. */
const AROUND = 12;
/** Elements that must not move under the pointer. */
const HELD = ":is(.rows, .pill)";

export class MessageList extends CoppiceElement {
  static observedAttributes = ["plan-id"];

  /** @type {Api.Message[]} */
  #rows = [];
  /** @type {Api.Page | null} */
  #page = null;
  /** @type {string | null} */
  #next = null;
  /** The cursor at which the list begins; null for the newest. @type {string | null} */
  #from = null;
  #waiting = 0;
  #query = queryOf(location.search);
  /** Open rows with their messages, the error, or null while reading.
   * @type {Map<string, Api.MessageFull | string | null>} */
  #open = new Map();
  /** @type {Set<string>} */
  #whole = new Set();
  /** The ids of the first rows shown: later ones slide in. @type {Set<string> | null} */
  #first = null;
  #reader = new Reader((signal) => this.#read(signal), { calm: CALM_MS });
  #readingMore = false;
  /** The number of further pages read. */
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
      filter: (target) => this.#change({ fate: target.dataset.name }),
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
      // A click anywhere in a row opens it.
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
    this.stepKeys(".m-open", "row", (row) => row?.closest(".msg")?.scrollIntoView({ block: "nearest" }));
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

  /** @param {Partial<import("./list-head.js").Query>} change */
  #change(change) {
    this.#query = { ...this.#query, ...change };
    keepQuery(this.#query);
    this.#empty();
    this.requestUpdate();
    this.#reader.restart();
  }

  /** Removes the rows and the cursor, so that a scroll does not continue an old list. */
  #empty() {
    this.#from = null;
    this.#next = null;
    this.#rows = [];
    this.#first = null;
    this.#open.clear();
    this.#whole.clear();
  }

  /** Reads again soon: rows change in place, new ones come in or wait. */
  refresh() {
    this.#reader.ask();
  }

  /** Lets waiting rows in when pointer and focus leave the list. @param {PointerEvent | FocusEvent} event */
  #left({ target, relatedTarget: to }) {
    const held = (/** @type {EventTarget | null} */ at) => at instanceof Element && at.closest(HELD) !== null;
    if (this.#waiting > 0 && held(target) && !held(to)) this.refresh();
  }

  /** Shows appended rows at once; their fates follow with `refresh`. Where the newest rows are not first, or
   * the event lacks some, the list is read instead. @param {Api.Message[]} messages
   * @param {number} count how many were appended, of which these are the newest */
  arrived(messages, count) {
    const { fate, role, q, sort } = this.#query;
    const newestFirst = fate === "all" && !role && !q && sort === "newest" && this.#from === null;
    if (newestFirst && this.#page && messages.length === count && !this.hasAttribute("plan-id")) {
      const { rows, waiting } = arrive(this.#rows, messages, !this.#isRead, MOST);
      const [was, last] = [this.#rows.at(-1), rows.at(-1)];
      if (was && last && last.number > was.number) this.#next = cursorAfter(sort, last, rows.length);
      this.#rows = rows;
      this.#waiting += waiting;
      this.requestUpdate();
    }
    this.refresh();
  }

  /** @param {string | null} after @param {number} limit @param {boolean} [at_once] */
  #fetch(after, limit, at_once) {
    const { fate, ...rest } = this.#query;
    const plan_id = this.getAttribute("plan-id") ?? undefined;
    const query = { ...rest, fate: fate === "all" ? "" : fate, after, limit, plan_id, at_once };
    return api.messages(this.#session, query, this.#reader.signal);
  }

  /** The page to show. While a new plan replaces the one on the page, rows keep their fates; null where the
   * plan decides which rows are shown. @param {Api.Page} page */
  #withKnownFates(page) {
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
      // An empty list shows its rows first: fates take time in a long session.
      const pending = await this.#take(signal, this.#rows.length === 0);
      if (pending) await this.#take(signal, false);
    } catch (error) {
      if (signal.aborted) return;
      this.#error = reasonOf(error);
    }
    this.requestUpdate();
  }

  /** Reads the rows. Returns whether their fates are still to come. @param {AbortSignal} signal
   * @param {boolean} atOnce */
  async #take(signal, atOnce) {
    const [shown, { sort }, readOn] = [this.#rows, this.#query, this.#readOn];
    const limit = Math.max(PAGE, shown.length + Math.min(PAGE, this.#waiting));
    const first = await this.#fetch(this.#from, Math.min(MOST, limit), atOnce || undefined);
    // All rows are read again while somebody reads them, otherwise only the first page.
    const fetchPage = this.#fetch.bind(this);
    const page = this.#withKnownFates(
      this.#isRead ? await pageOver(fetchPage, first, shown, sort, MOST) : first,
    );
    if (signal.aborted || !page) return;
    // More pages were read meanwhile.
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
      // Rows came or went meanwhile: the list ends elsewhere.
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

  /** Reads the next page when the end of the list is in view. */
  #watch() {
    const foot = this.querySelector(".list-foot");
    this.#watcher?.disconnect();
    if (foot) this.#watcher?.observe(foot);
  }

  /** True while somebody reads the list: nothing may move under the pointer, at the focus, in an open row, or
   * above the view. */
  get #isRead() {
    const body = this.querySelector(".rows");
    if (!body || this.#rows.length === 0) return false;
    if (this.querySelector(`${HELD}:hover`) || body.contains(document.activeElement)) return true;
    return this.#open.size > 0 || body.getBoundingClientRect().top <= 0;
  }

  #showNew() {
    this.#empty();
    this.#waiting = 0;
    this.update();
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
    const full = await api.message(this.#session, id).catch(reasonOf);
    if (this.#open.has(id)) this.#open.set(id, full);
    this.requestUpdate();
  }

  /** Opens the row of a message; reads it with those around it where it is not loaded.
   * @param {number} messageNumber */
  async reveal(messageNumber) {
    const here = () => this.#rows.find((m) => m.number === messageNumber);
    if (!here()) {
      this.#change(EVERYTHING);
      // With the newest first, a cursor is the number of the message before the page.
      this.#from = String(messageNumber + AROUND);
      await this.#reader.ask();
    }
    const found = here();
    if (!found) return;
    if (!this.#open.has(found.id)) await this.#toggle(found.id);
    this.update();
    const line = this.querySelector(`.msg[data-id="${CSS.escape(found.id)}"]`);
    line?.scrollIntoView({ block: "center" });
    line?.querySelector("button")?.focus({ preventScroll: true });
  }

  /** Closes all open rows. Returns whether any was open. */
  closeRows() {
    const had = this.#open.size > 0;
    this.#open.clear();
    this.requestUpdate();
    return had;
  }

  /** Emits the action of a row's button; one that can be previewed is chosen for a plan. @param {string} id
   * @param {string} act */
  #act(id, act) {
    const message = this.#rows.find((m) => m.id === id);
    if (act !== "shorten") this.emit("message-act", { id, act });
    else if (message) this.emit("chosen", { kind: act, messages: [{ id, number: message.number }] });
  }

  view() {
    const end = { error: this.#error, page: this.#page, shown: this.#rows.length, more: this.#next !== null };
    return html`<section class="panel messages" aria-label="Messages">
      ${listHead(this.#query, this.#page?.counts)} ${pill(this.#waiting, PAGE)}
      ${
        this.#from !== null &&
        html`<p class="note-box" role="status">
          From message ${number(this.#rows[0]?.number ?? 0)} on.
          <button class="small" data-act="show-new">Newest</button>
        </p>`
      }
      <div role="table" aria-label="Messages" aria-rowcount=${this.#page?.total ?? -1}>
        <div role="rowgroup" class="msg-head"><div class="msg-heads" role="row">
          <span role="columnheader" class="num">#</span>
          <span role="columnheader">Role</span>
          <span role="columnheader">Message, and its fate under the plan</span>
          <span role="columnheader" class="m-score">Score</span>
          <span role="columnheader" class="num">Tokens</span>
        </div></div>
        <div role="rowgroup" class="rows">${this.#lines()}</div>
      </div>
      <div class="list-foot">${listFoot(end, this.#query)}</div>
    </section>`;
  }

  /** The rows, each with its detail where it is open. */
  #lines() {
    const signals = signalNames(this.#rows);
    const places = brackets(this.#rows);
    if (this.#rows.length > 0) this.#first ??= new Set(this.#rows.map((m) => m.id));
    return keyed(this.#rows, "id", (message, i) => {
      const { id } = message;
      const open = this.#open.has(id);
      const entering = !this.#first?.has(id);
      const row = messageRow(message, { open, bracket: places[i] ?? "none", signals, entering });
      const full = this.#open.get(id) ?? null;
      return html`${row}${open && messageDetail(message, full, signals, this.#whole.has(id))}`;
    });
  }
}

customElements.define("message-list", MessageList);
