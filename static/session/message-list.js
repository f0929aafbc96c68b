// <message-list session-id="…" plan-id="…"></message-list>
//
// The messages of a session with filters, search and order, each with its fate, and its text and score when
// opened. Draws the rows in view and some around them, and reads those as the reader scrolls. While somebody
// reads, the list ends at the newest message it showed, and what comes waits behind a pill; otherwise new
// rows slide in at the top. With `plan-id` the fates are of that plan, and a list that showed everything
// shows what the plan changes. Emits `message-act` {id, act}, and `chosen` like <heavy-panel>. `refresh()`
// reads again, at most once a second; `reveal(number)` opens a message. The choices are part of the address.
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { html, keyed, nothing } from "../shared/html.js";
import { shortcutsFor } from "../shared/keys.js";
import { reasonOf } from "../shared/problem.js";
import { Reader } from "../shared/reader.js";
import { toastError } from "../shared/toast.js";
import { listFoot, pill, selection } from "./list-foot.js";
import { CHANGES, EVERYTHING, isSame, keepQuery, listHead, NO_ROWS, queryOf } from "./list-head.js";
import { Loaded } from "./loaded.js";
import { messageDetail, messageRow, rowToCome } from "./message-row.js";
import { numbered } from "./numbered.js";
import { bracketOf, canDrop, canShorten, newer, withFates } from "./rows.js";
import { RowHeights } from "./window.js";

/** The rows drawn before the length of a list is known. */
const FIRST = 60;
/** Filters whose rows depend on a plan. */
const OF_A_PLAN = new Set(["kept", "protected", "changes", "goes", "shortened"]);
/** Rows kept above and below those that are drawn. */
const KEPT = 300;
const CALM_MS = 1000;
/** New rows slide in unless others came so shortly before: then one movement would run into the next. */
const SLIDE_MS = 300;
/** Reading fates takes at most this share of the time: they take long in a long session. */
const SHARE = 0.1;
/** Elements that must not move under the pointer. */
const HELD = ":is(.rows, .pill, .selection)";

export class MessageList extends CoppiceElement {
  static observedAttributes = ["plan-id", "certainty"];

  #rows = new Loaded();
  #total = 0;
  /** @type {Api.Page | null} */
  #page = null;
  /** The number of the newest message when the list was last let in. */
  #head = 0;
  #waiting = 0;
  #query = queryOf(location.search);
  /** True while the list shows a plan's changes because the plan was opened. */
  #followsPlan = false;
  /** Open rows with their messages, the error, or null while reading.
   * @type {Map<string, { number: number, full: Api.MessageFull | string | null }>} */
  #open = new Map();
  /** @type {Set<string>} */
  #whole = new Set();
  /** The heights of the details of open rows. @type {Map<string, number>} */
  #details = new Map();
  /** @type {Map<string, Api.Message>} */
  #selected = new Map();
  /** Rows that just came. @type {Set<string>} */
  #entering = new Set();
  /** When rows came last. */
  #cameAt = Number.NEGATIVE_INFINITY;
  #heights = new RowHeights(1);
  /** The height of a closed row in pixels, which depends on the width of the page only. */
  #rowHeight = 52;
  /** @type {import("./window.js").Span} */
  #span = { from: 0, to: FIRST };
  /** The row to focus once it is drawn. @type {number | null} */
  #focusAt = null;
  #reader = new Reader((signal) => this.#read(signal), { calm: CALM_MS, share: SHARE });
  #filling = false;
  /** The tokens of the heaviest row so far: the scale of all bars. */
  #most = 1;
  /** @type {string | null} */
  #error = null;
  #sizes = new ResizeObserver((entries) => this.#resized(entries));

  get #session() {
    return this.getAttribute("session-id") ?? "";
  }

  /** The certainty of the tokens of all messages. */
  get #certainty() {
    return this.getAttribute("certainty") ?? "";
  }

  start() {
    this.actions({
      filter: ({ dataset: { name } }) =>
        this.#change(name === "all" && isSame(this.#query, CHANGES) ? EVERYTHING : { fate: name }),
      open: (target) => this.#toggle(target.dataset.id ?? ""),
      whole: (target) => {
        this.#whole.add(target.dataset.id ?? "");
        this.requestUpdate();
      },
      message: (target) => this.#act(target.dataset.id ?? "", target.dataset.do ?? ""),
      "show-new": () => this.#showNew(),
      "retry-messages": () => this.#reader.restart(),
      "no-filter": () => this.#change({ ...EVERYTHING, sort: this.#query.sort }),
      "no-range": () => this.#change({ from: "", to: "" }),
      "choose-selected": ({ dataset }) => this.#choose(dataset.kind ?? ""),
      "select-none": () => this.#select(() => this.#selected.clear()),
    });
    this.#listenToFields();
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => this.#clicked(event));
    for (const type of ["pointerout", "focusout"])
      this.listen(this, type, (/** @type {PointerEvent | FocusEvent} */ event) => this.#left(event));
    this.listen(window, "scroll", () => this.#look());
    this.listen(window, "resize", () => {
      this.#readRowHeight();
      this.#look();
    });
    this.#readRowHeight();
    shortcutsFor(
      [
        { key: "j", label: "Next row", run: () => this.#step(1) },
        { key: "k", label: "Previous row", run: () => this.#step(-1) },
        { key: "[", label: "Earlier message of the user", run: () => this.#stepUser(-1) },
        { key: "]", label: "Later message of the user", run: () => this.#stepUser(1) },
        { key: "s", label: "Select the row", run: () => this.#selectHere() },
        { key: "x", label: "Pin or unpin the message", run: () => this.#pinHere() },
      ],
      this.life,
    );
    this.refresh();
  }

  #listenToFields() {
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const { name, value } = /** @type {HTMLSelectElement} */ (event.target);
      if (["role", "tool", "sort"].includes(name)) this.#change({ [name]: value });
    });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.type === "search") this.#change({ q: field.value }, address.write);
    });
  }

  stop() {
    this.#sizes.disconnect();
    this.#reader.stop();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (!this.isConnected) return;
    if (name === "certainty") return this.requestUpdate();
    const [opened, planned] = [before === null, now !== null];
    if (opened && planned && isSame(this.#query, EVERYTHING) && !this.#isRead) {
      this.#change(CHANGES, address.write);
      this.#followsPlan = true;
    } else if (!planned && this.#followsPlan) this.#change(EVERYTHING, address.write);
    else this.refresh();
  }

  /** @param {Partial<import("./list-head.js").Query>} change @param {typeof address.write} [keep] */
  #change(change, keep = address.step) {
    this.#query = { ...this.#query, ...change };
    keepQuery(this.#query, keep);
    this.#startOver();
  }

  #startOver() {
    this.#followsPlan = false;
    this.#empty();
    this.requestUpdate();
    this.#reader.restart();
  }

  /** Removes the rows, so that a scroll does not continue an old list. */
  #empty() {
    this.#rows = new Loaded();
    this.#head = this.#waiting = 0;
    this.#span = { from: 0, to: FIRST };
    this.#entering.clear();
    this.#open.clear();
    this.#whole.clear();
    this.#selected.clear();
  }

  /** Shows the messages with these numbers. @param {number} from @param {number} to */
  range(from, to) {
    this.#change({ ...EVERYTHING, from: String(from), to: String(to) });
  }

  /** Shows what is about a tool, or holds some words. @param {{ tool?: string, q?: string }} what */
  narrow(what) {
    this.#change({ ...EVERYTHING, ...what });
    this.querySelector(".list-head")?.scrollIntoView({ block: "nearest" });
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

  /** True where the list shows every message, the newest first. */
  get #isWhole() {
    return isSame(this.#query, EVERYTHING);
  }

  /** Shows appended rows at once; their fates follow with `refresh`. Where the newest rows are not first, or
   * the event lacks some, the list is read instead. @param {Api.Message[]} messages */
  arrived(messages) {
    const fresh = this.#isWhole && this.#page && !this.hasAttribute("plan-id") && newer(this.#head, messages);
    if (fresh && this.#isRead) this.#waiting = Math.max(this.#waiting, fresh.length);
    else if (fresh) {
      this.#enter(fresh);
      this.#rows.unshift(fresh);
      this.#total += fresh.length;
      this.#head += fresh.length;
      this.#waiting = 0;
    }
    this.#rows.renew(withFates(this.#rows.all, messages));
    this.requestUpdate();
    this.refresh();
  }

  /** Lets new rows slide in. @param {Api.Message[]} fresh */
  #enter(fresh) {
    const now = Date.now();
    this.#entering = new Set(now - this.#cameAt > SLIDE_MS ? fresh.map(({ id }) => id) : []);
    if (fresh.length > 0) this.#cameAt = now;
  }

  /** @param {Partial<import("../shared/api.js").PageQuery>} more */
  #fetch(more) {
    const { fate, from, to, ...rest } = this.#query;
    const plan_id = this.getAttribute("plan-id") ?? undefined;
    const first = from ? Number(from) : undefined;
    const ends = [to, more.last].filter(Boolean).map(Number);
    const last = ends.length > 0 ? Math.min(...ends) : undefined;
    const which = { ...rest, fate: fate === "all" ? "" : fate, plan_id, first };
    const query = { ...which, ...more, last, without_parts: this.#open.size === 0 };
    return api.messages(this.#session, query, this.#reader.signal);
  }

  /** The page to show. While a new plan replaces the one on the page, rows keep their fates; null where the
   * plan decides which rows are shown. @param {Api.Page} page */
  #withKnownFates(page) {
    const asked = this.getAttribute("plan-id");
    if (!asked || page.pending || page.plan_id === asked || !this.#page) return page;
    if (OF_A_PLAN.has(this.#query.fate)) return this.#rows.size > 0 ? null : page;
    const { all, out, errors } = page.counts;
    const counts = { ...this.#page.counts, all, out, errors };
    return { ...page, counts, messages: withFates(this.#rows.all, page.messages) };
  }

  /** @param {AbortSignal} signal aborted once another list is wanted */
  async #read(signal) {
    try {
      // An empty list shows its rows first: fates take time in a long session.
      const pending = await this.#take(signal, this.#rows.size === 0);
      if (pending) await this.#take(signal, false);
    } catch (error) {
      if (signal.aborted) return;
      this.#error = reasonOf(error);
      this.requestUpdate();
    }
  }

  /** Reads the rows that are drawn. Returns whether their fates are still to come.
   * @param {AbortSignal} signal
   * @param {boolean} atOnce */
  async #take(signal, atOnce) {
    const held = this.#isRead && this.#head > 0 && this.#query.sort !== "oldest";
    const [head, { from, to }] = [this.#head, this.#span];
    const limit = Math.max(FIRST, to - from);
    const last = held ? head : undefined;
    const page = this.#withKnownFates(
      await this.#fetch({ offset: from, limit, last, at_once: atOnce || undefined }),
    );
    if (signal.aborted || !page) return;
    if (this.#followsPlan && !page.pending && page.total === 0)
      return void this.#change(EVERYTHING, address.write);
    const newest = page.counts.all ?? head;
    if (held) this.#waiting = await this.#late(page, newest - head);
    if (signal.aborted) return;
    // Rows came in meanwhile, or somebody began to read: these are elsewhere now.
    const reads = head > 0 && this.#isRead;
    if (head !== this.#head || (reads && !held && newest > head)) return void this.refresh();
    if (!held) this.#letIn(page, head, newest);
    this.#put(page, from, held || reads);
    return page.pending;
  }

  /** Takes a page of rows; those in view stay where they are. @param {Api.Page} page @param {number} from
   * @param {boolean} held */
  #put(page, from, held) {
    const anchor = this.#anchor();
    if (!held || page.total !== this.#total) this.#rows = new Loaded();
    this.#rows.put(from, page.messages);
    this.#page = page;
    this.#total = page.total;
    this.#error = null;
    for (const { tokens } of page.messages) this.#most = Math.max(this.#most, tokens);
    for (const id of this.#open.keys())
      if (page.total <= page.messages.length && this.#rows.find((m) => m.id === id) < 0)
        this.#open.delete(id);
    this.update();
    const now = anchor ? this.#rows.find((message) => message.id === anchor.id) : -1;
    if (anchor && now >= 0 && now !== anchor.index)
      scrollBy(0, this.#heights.top(now) - this.#heights.top(anchor.index));
    this.#fill();
  }

  /** The list shows everything up to `newest` now. @param {Api.Page} page @param {number} head the newest
   * message before @param {number} newest */
  #letIn(page, head, newest) {
    if (head > 0) this.#enter(page.messages.filter((m) => m.number > head));
    this.#head = newest;
    this.#waiting = 0;
  }

  /** The messages that would be in the list if it were let in. @param {Api.Page} page
   * @param {number} late messages that came to the session */
  async #late(page, late) {
    if (late <= 0 || this.#isWhole || this.#query.to) return this.#query.to ? 0 : Math.max(0, late);
    return Math.max(0, (await this.#fetch({ limit: 1 })).total - page.total);
  }

  /** The first row in view where the list is scrolled; null at its top. */
  #anchor() {
    const top = this.#scrolled;
    if (top <= 0) return null;
    const index = this.#heights.at(top);
    const message = this.#rows.at(index);
    return message ? { index, id: message.id } : null;
  }

  /** The pixels of the list above the view. */
  get #scrolled() {
    const body = this.querySelector(".rows");
    return body ? -body.getBoundingClientRect().top : 0;
  }

  /** Draws the rows that came into view, and reads those that are missing. */
  #look() {
    if (this.#total === 0) return;
    const { from, to } = this.#spanInView();
    if (from === this.#span.from && to === this.#span.to) return;
    this.#entering.clear();
    this.update();
    this.#fill();
  }

  #spanInView() {
    const top = this.#scrolled;
    return this.#heights.span(top, top + innerHeight, this.#total);
  }

  /** Reads the drawn rows that are missing, one request at a time. */
  async #fill() {
    if (this.#filling || !this.#page) return;
    this.#filling = true;
    const { signal } = this.#reader;
    const head = this.#head;
    try {
      for (let missing = this.#rows.missing(this.#span); missing; missing = this.#rows.missing(this.#span)) {
        const { from, to } = missing;
        const page = await this.#fetch({ offset: from, limit: to - from, last: head || undefined });
        if (signal.aborted || head !== this.#head) break;
        if (page.messages.length === 0) break;
        this.#rows.put(from, page.messages);
        this.#rows.keep({ from: this.#span.from - KEPT, to: this.#span.to + KEPT }, this.#here);
        this.update();
      }
    } catch {
      // The next scroll asks again.
    }
    this.#filling = false;
    if (head !== this.#head || signal.aborted) this.#look();
  }

  /** True while somebody reads the list: nothing may move under the pointer, at the focus, in an open row, or
   * above the view. */
  get #isRead() {
    const body = this.querySelector(".rows");
    if (!body || this.#rows.size === 0) return false;
    if (this.querySelector(`${HELD}:hover`) || body.contains(document.activeElement)) return true;
    return this.#open.size > 0 || this.#selected.size > 0 || body.getBoundingClientRect().top <= 0;
  }

  async #showNew() {
    this.#empty();
    this.#keepRows(address.write);
    this.requestUpdate();
    await this.#reader.restart();
    this.querySelector(".list-head")?.scrollIntoView({ block: "nearest" });
    this.#step(1);
  }

  /** A click anywhere in a row opens it; one on its box selects it, with the key for capitals all rows from
   * the one selected last. @param {MouseEvent} event */
  #clicked(event) {
    const target = /** @type {Element} */ (event.target);
    const id = target.closest(".msg")?.getAttribute("data-id");
    if (!id) return;
    if (target instanceof HTMLInputElement) return this.#selectTo(id, target.checked, event.shiftKey);
    if (!target.closest("button, a, label") && !getSelection()?.toString()) this.#toggle(id);
  }

  /** @param {string} id @param {boolean} on @param {boolean} range */
  #selectTo(id, on, range) {
    const here = this.#rows.find((m) => m.id === id);
    const before = range ? [...this.#selected.keys()].at(-1) : undefined;
    const there = before === undefined ? here : this.#rows.find((m) => m.id === before);
    this.#select(() => {
      for (let i = Math.min(here, there); i <= Math.max(here, there); i++) {
        const message = this.#rows.at(i);
        if (message && on) this.#selected.set(message.id, message);
        else if (message) this.#selected.delete(message.id);
      }
    });
  }

  /** @param {() => void} change of the selection */
  #select(change) {
    change();
    this.#keepRows(address.write);
    this.requestUpdate();
  }

  /** Writes the open and the selected rows into the address. @param {typeof address.write} keep */
  #keepRows(keep) {
    /** @param {Map<string, { number: number }>} rows */
    const text = (rows) => address.numbersText([...rows.values()].map((row) => row.number));
    keep({ message: text(this.#open), selected: text(this.#selected) }, NO_ROWS);
  }

  /** The row that has the focus, or -1. */
  get #here() {
    const item = document.activeElement?.closest("message-list .item");
    return item instanceof HTMLElement ? Number(item.dataset.index) : -1;
  }

  #selectHere() {
    const message = this.#rows.at(this.#here);
    if (message) this.#selectTo(message.id, !this.#selected.has(message.id), false);
  }

  #pinHere() {
    const message = this.#rows.at(this.#here);
    if (message?.in_context) this.#act(message.id, message.pinned ? "unpin" : "pin");
  }

  /** @param {string} kind */
  #choose(kind) {
    const able = { drop: canDrop, shorten: canShorten }[kind] ?? (() => true);
    const messages = [...this.#selected.values()].filter(able).map(({ id, number }) => ({ id, number }));
    this.#selected.clear();
    this.requestUpdate();
    if (messages.length > 0) this.emit("chosen", { kind, messages });
    this.#keepRows(address.write);
  }

  /** Moves the focus by so many rows, from where it is or is about to be; from nowhere, to the first row in
   * view. @param {number} by */
  #step(by) {
    if (this.#total === 0) return;
    const here = this.#focusAt ?? this.#here;
    const first = Math.ceil(Math.max(0, this.#scrolled) / this.#heights.height);
    this.#goTo(here < 0 ? first : Math.min(this.#total - 1, Math.max(0, here + by)));
  }

  /** Brings a row into view and gives it the focus once it is there. @param {number} index
   * @param {boolean} [centre] */
  #goTo(index, centre = false) {
    this.#focusAt = index;
    this.update();
    const [top, height] = [this.#heights.top(index) - this.#scrolled, this.#heights.height];
    const bar = Number.parseFloat(getComputedStyle(this).getPropertyValue("--bar-height")) || 0;
    if (centre) scrollBy(0, top - innerHeight / 3);
    else if (top < bar + height) scrollBy(0, top - bar - height);
    else if (top + 2 * height > innerHeight) scrollBy(0, top + 2 * height - innerHeight);
    this.update();
    this.#fill();
  }

  /** Goes to the nearest message of the user before or after the row that has the focus.
   * @param {number} by */
  async #stepUser(by) {
    const from = this.#rows.at(this.#here)?.number ?? (by < 0 ? this.#head + 1 : 0);
    const query = by < 0 ? { last: from - 1, sort: "newest" } : { first: from + 1, sort: "oldest" };
    if (by < 0 && from <= 1) return;
    try {
      const { messages } = await api.messages(this.#session, {
        ...query,
        role: "user",
        limit: 1,
        at_once: true,
      });
      if (messages[0]) await this.#find(messages[0].number);
    } catch (error) {
      toastError(error, "Could not find the next message of the user");
    }
  }

  /** Brings a message into view, and gives it the focus; a list that lacks it shows everything again.
   * @param {number} messageNumber @param {typeof address.write} [keep]
   * @returns {Promise<Api.Message | undefined>} */
  async #find(messageNumber, keep = address.step) {
    let index = this.#rows.find((m) => m.number === messageNumber);
    if (index < 0 && (!this.#isWhole || messageNumber > this.#head)) {
      this.#change(EVERYTHING, keep);
      await this.#reader.ask();
    }
    if (index < 0) index = this.#head - messageNumber;
    if (index < 0 || index >= this.#total) return undefined;
    this.#goTo(index, true);
    if (!this.#rows.at(index)) {
      const offset = Math.max(0, index - FIRST / 2);
      this.#rows.put(offset, (await this.#fetch({ offset, last: this.#head })).messages);
      this.#goTo(index, true);
    }
    return this.#rows.at(index);
  }

  /** @param {string} id @param {typeof address.write} [keep] */
  #toggle(id, keep = address.step) {
    const message = this.#rows.all.find((m) => m.id === id);
    if (this.#open.has(id)) {
      this.#open.delete(id);
      this.#whole.delete(id);
    } else if (message) this.#readRow(message);
    this.#keepRows(keep);
    this.requestUpdate();
  }

  /** Opens a row and reads its message. @param {Api.Message} message */
  async #readRow({ id, number }) {
    this.#open.set(id, { number, full: null });
    const full = await api.message(this.#session, id).catch(reasonOf);
    if (this.#open.has(id)) this.#open.set(id, { number, full });
    this.requestUpdate();
  }

  /** Opens the row of a message. @param {number} messageNumber */
  async reveal(messageNumber) {
    await this.#reader.ask();
    const query = this.#query;
    const found = await this.#find(messageNumber);
    // Where the list was widened for it, that was the step.
    const keep = query === this.#query ? address.step : address.write;
    if (found && !this.#open.has(found.id)) this.#toggle(found.id, keep);
  }

  /** Shows what the address says, where it differs from what is shown. */
  async recall() {
    const query = queryOf(location.search);
    if (!isSame(query, this.#query)) {
      this.#query = query;
      this.#startOver();
    }
    await this.#recallRows();
  }

  /** Opens and selects the rows that the address names, and only those. */
  async #recallRows() {
    const { search } = location;
    const { message, selected } = address.read(search, NO_ROWS);
    const open = new Set(address.numbersIn(message));
    const chosen = new Set(address.numbersIn(selected));
    for (const [id, { number }] of this.#open) if (!open.delete(number)) this.#open.delete(id);
    for (const [id, { number }] of this.#selected) if (!chosen.delete(number)) this.#selected.delete(id);
    this.requestUpdate();
    try {
      const rows = await numbered(
        this.#session,
        [...new Set([...open, ...chosen])],
        this.#rows.all,
        this.life,
      );
      if (search !== location.search) return; // another choice was made meanwhile
      for (const row of rows) {
        if (open.has(row.number)) this.#readRow(row);
        if (chosen.has(row.number)) this.#selected.set(row.id, row);
      }
    } catch (error) {
      if (!this.life.aborted) toastError(error, "Could not open the messages that the address names");
    }
    this.requestUpdate();
  }

  /** Shows the rows that the address names when the page is opened, the first open one in view. */
  async recallFirst() {
    const { message, selected } = address.read(location.search, NO_ROWS);
    if (!message && !selected) return;
    await this.#reader.ask();
    const [first] = address.numbersIn(message);
    const found = first === undefined ? undefined : await this.#find(first, address.write);
    await this.#recallRows();
    if (found && !this.#open.has(found.id)) this.#toggle(found.id, address.write);
  }

  /** Closes all open rows. Returns whether any was open. */
  closeRows() {
    const had = this.#open.size > 0;
    this.#open.clear();
    this.#keepRows(address.step);
    this.requestUpdate();
    return had;
  }

  /** Emits the action of a row's button; one that can be previewed is chosen for a plan. @param {string} id
   * @param {string} act */
  #act(id, act) {
    const message = this.#rows.all.find((m) => m.id === id);
    if (act !== "shorten") this.emit("message-act", { id, act });
    else if (message) this.emit("chosen", { kind: act, messages: [{ id, number: message.number }] });
  }

  /** @param {ResizeObserverEntry[]} entries */
  #resized(entries) {
    for (const { target } of entries) {
      const id = target.getAttribute("data-of") ?? "";
      if (target.isConnected) this.#details.set(id, target.getBoundingClientRect().height);
    }
    this.update();
  }

  #readRowHeight() {
    const height = getComputedStyle(this).getPropertyValue("--row-height");
    this.#rowHeight = Number.parseFloat(height) || this.#rowHeight;
  }

  /** Measures the rows, and chooses which of them are drawn. */
  #layOut() {
    /** @type {[number, number][]} */
    const more = [...this.#open.keys()].map((id) => [
      this.#rows.find((m) => m.id === id),
      this.#details.get(id) ?? 0,
    ]);
    this.#heights = new RowHeights(
      this.#rowHeight,
      more.filter(([index]) => index >= 0),
    );
    if (this.#total > 0) this.#span = this.#spanInView();
  }

  update() {
    this.#layOut();
    super.update();
    for (const detail of this.querySelectorAll(".msg-detail")) this.#sizes.observe(detail);
    if (this.#focusAt === null) return;
    const open = this.querySelector(`.item[data-index="${this.#focusAt}"] .m-open`);
    if (!(open instanceof HTMLElement)) return;
    open.focus({ preventScroll: true });
    this.#focusAt = null;
  }

  view() {
    const end = { error: this.#error, page: this.#page, total: this.#total };
    const selecting = this.#selected.size > 0;
    return html`<section class="panel messages" aria-label="Messages" data-selecting=${selecting}>
      ${listHead(this.#query, this.#page?.counts, this.#page?.tools ?? [])} ${pill(this.#waiting)}
      <div role="table" aria-label="Messages" aria-rowcount=${this.#page ? this.#total + 1 : -1}>
        <div role="rowgroup" class="msg-head"><div class="msg-heads" role="row">
          <span role="columnheader" class="num">#</span>
          <span role="columnheader">Role</span>
          <span role="columnheader">Message, and its fate under the plan</span>
          <span role="columnheader" class="m-score num">Score</span>
          <span role="columnheader" class="num">Tokens</span>
        </div></div>
        <div role="rowgroup" class="rows" .style="height:${this.#heights.top(this.#total)}px"
          ><div role="presentation" class="drawn" .style="transform:translateY(${this.#origin}px)"
          >${this.#lines()}</div></div>
      </div>
      ${selection([...this.#selected.values()], this.#certainty)}
      <div class="list-foot">${listFoot(end, this.#query)}</div>
    </section>`;
  }

  /** The place from which rows are placed, in pixels from the top of the list: the end at which no rows come.
   * Rows that come move all others by moving this one place. */
  get #origin() {
    return this.#query.sort === "oldest" ? 0 : this.#heights.top(this.#total);
  }

  /** The drawn rows, each with its detail where it is open, and the one that has the focus wherever it is. */
  #lines() {
    const { from, to } = this.#span;
    const here = this.#here;
    const drawn = Array.from({ length: Math.max(0, Math.min(to, this.#total) - from) }, (_, i) => from + i);
    if (here >= 0 && here < from) drawn.unshift(here);
    if (here >= to && here < this.#total) drawn.push(here);
    const rows = drawn.map((index) => ({ index, key: this.#rows.at(index)?.id ?? index }));
    return keyed(rows, "key", ({ index }) => this.#line(index));
  }

  /** @param {number} index */
  #line(index) {
    const message = this.#rows.at(index);
    const place = `top:${this.#heights.top(index) - this.#origin}px`;
    if (!message)
      return html`<div class="item" role="presentation" data-index=${index} .style=${place}
        >${rowToCome()}</div>`;
    const { id } = message;
    const open = this.#open.has(id);
    const row = messageRow(message, {
      open,
      index,
      bracket: bracketOf(this.#rows.at(index - 1), message, this.#rows.at(index + 1)),
      selected: this.#selected.has(id),
      entering: this.#entering.has(id),
      most: this.#most,
      certainty: this.#certainty,
    });
    const detail = open && messageDetail(message, this.#open.get(id)?.full ?? null, this.#whole.has(id));
    return html`<div class="item" role="presentation" data-index=${index} .style=${place}
      >${row}${detail || nothing}</div>`;
  }
}

customElements.define("message-list", MessageList);
