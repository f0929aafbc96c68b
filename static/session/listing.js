// The messages that the message list shows, and their rows: read from the server as they are drawn, and again
// when they may have changed. While somebody reads, the rows end at the newest message that was shown, and
// what comes waits; otherwise new rows come in at the top.
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { reasonOf } from "../shared/problem.js";
import { Refresher } from "../shared/refresher.js";
import { ALL, CHANGES, EVERYTHING, isSame, keepQuery, namesAll, queryOf } from "./list-query.js";
import { LoadedRows } from "./loaded-rows.js";
import { newer, withFates, withTexts } from "./message-facts.js";
import { FIRST_ROWS } from "./viewport.js";

/** Filters whose rows depend on a plan. */
const OF_A_PLAN = new Set(["kept", "protected", "changes", "goes", "shortened"]);
/** Rows kept above and below those that are drawn. */
const ROWS_KEPT = 300;
const INTERVAL_MS = 1000;
/** New rows slide in unless others came so shortly before: then one movement would run into the next. */
const SLIDE_MS = 300;
/** Reading fates takes at most this share of the time: they take long in a long session. */
const SHARE = 0.1;

export class Listing {
  query = queryOf(location.search);
  rows = new LoadedRows();
  /** The rows of the list before, which are drawn until those of the new list come.
   * @type {LoadedRows | null} */
  previous = null;
  total = 0;
  /** The page of rows that was read last. @type {Api.Page | null} */
  page = null;
  /** The number of the newest message that the list shows, or would show with another filter. */
  newest = 0;
  /** Messages that are not shown yet. */
  waiting = 0;
  /** Rows that just came. @type {Set<string>} */
  entering = new Set();
  /** The tokens of the heaviest row so far: the scale of all bars. */
  mostTokens = 1;
  /** @type {string | null} */
  error = null;
  #list;
  #viewport;
  #picked;
  /** The time at which rows came last. */
  #cameAt = Number.NEGATIVE_INFINITY;
  #refresher = new Refresher((signal) => this.#read(signal), { interval: INTERVAL_MS, share: SHARE });
  /** The reading of missing rows, while there is one. @type {Promise<void> | null} */
  #filling = null;

  /** @param {import("../shared/element.js").CoppiceElement} list @param {import("./viewport.js").Viewport}
   * viewport @param {import("./picked-rows.js").PickedRows} picked */
  constructor(list, viewport, picked) {
    this.#list = list;
    this.#viewport = viewport;
    this.#picked = picked;
  }

  /** Reads again soon: rows change in place, new ones come in or wait. */
  refresh() {
    return this.#refresher.ask();
  }

  /** Reads at once instead of what is being read. */
  restart() {
    return this.#refresher.restart();
  }

  stop() {
    this.#refresher.stop();
  }

  /** True where the list shows every message, the newest first. */
  get isWhole() {
    return isSame(this.query, EVERYTHING);
  }

  /** True while somebody reads the list: nothing may move under the pointer, at the focus, in an open row, or
   * above the view. */
  get isBeingRead() {
    return this.rows.size > 0 && (this.#picked.any || this.#viewport.isHeld);
  }

  get #plan() {
    return this.#list.getAttribute("plan-id");
  }

  /** True while a plan is shown or awaited. */
  get #isPlanning() {
    return this.#plan !== null || this.#list.hasAttribute("awaits-plan");
  }

  /** True while the list shows a plan's changes as it does when a plan is opened, also after a reload. */
  get #followsPlan() {
    return isSame(this.query, CHANGES);
  }

  /** Shows what the reader chose. Under a plan the address names a choice of all messages, too, so that
   * the plan's changes do not replace it. @param {Partial<import("./list-query.js").Query>} change
   * @param {address.Keep} [keep] */
  change(change, keep = address.step) {
    this.#show({ ...this.query, ...change }, keep, this.#isPlanning);
  }

  /** @param {import("./list-query.js").Query} query @param {address.Keep} [keep]
   * @param {boolean} [isChosen] under a plan */
  #show(query, keep = address.write, isChosen = false) {
    this.query = query;
    keepQuery(query, keep, isChosen && this.isWhole);
    this.startOver();
  }

  startOver() {
    this.empty();
    this.restart();
  }

  /** Removes the rows, so that a scroll does not continue an old list. */
  empty() {
    if (this.rows.size > 0) this.previous = this.rows;
    this.rows = new LoadedRows();
    this.newest = this.waiting = 0;
    this.entering.clear();
    this.#viewport.reset();
    this.#picked.clear();
    this.#list.requestUpdate();
  }

  /** Shows the changes of a plan that was opened, where all messages were shown, nobody chose that since it
   * was asked for, and nobody reads; and all again once it is closed. @param {string | null} before the id of
   * the plan before @param {string | null} now */
  follow(before, now) {
    if (before === null && now !== null && this.isWhole && !this.isBeingRead && !namesAll(location.search)) {
      this.#show(CHANGES);
    } else if (now === null && this.#followsPlan) this.#show(EVERYTHING);
    else this.refresh();
    this.forgetAll();
  }

  /** Removes the choice of all messages from the address unless there is a plan, so that the next plan shows
   * its changes again. */
  forgetAll() {
    if (!this.#isPlanning && namesAll(location.search)) address.write(ALL, ALL);
  }

  /** Shows appended rows at once; their fates follow with `refresh`. Where the newest rows are not first, or
   * the event lacks some, the list is read instead. @param {Api.Message[]} messages */
  arrived(messages) {
    const fresh = this.isWhole && this.page && this.#plan === null && newer(this.newest, messages);
    if (fresh && this.isBeingRead) this.waiting = Math.max(this.waiting, fresh.length);
    else if (fresh) {
      this.#enter(fresh);
      this.rows.unshift(fresh);
      this.#dropFarRows();
      this.total += fresh.length;
      this.newest += fresh.length;
      this.waiting = 0;
    }
    this.rows.renew(withFates(this.rows.all, messages));
    this.#list.requestUpdate();
    this.refresh();
  }

  /** Lets new rows slide in, unless others still do. @param {Api.Message[]} fresh */
  #enter(fresh) {
    if (fresh.length === 0) return;
    const now = Date.now();
    if (now - this.#cameAt > SLIDE_MS) this.entering = new Set(fresh.map(({ id }) => id));
    this.#cameAt = now;
  }

  /** @param {Partial<import("../shared/api.js").PageQuery>} more */
  #fetch(more) {
    const { fate, from, to, ...rest } = this.query;
    const first = from ? Number(from) : undefined;
    const ends = [to, more.last].filter(Boolean).map(Number);
    const last = ends.length > 0 ? Math.min(...ends) : undefined;
    const which = { ...rest, fate: fate === "all" ? "" : fate, plan_id: this.#plan ?? undefined, first };
    const query = { ...which, ...more, last, without_parts: this.#picked.open.size === 0 };
    return api.messages(this.#list.sessionId, query, this.#refresher.signal);
  }

  /** Reads rows. Where all were there before, their texts, which are most of a page, come only once.
   * @param {number} from @param {Partial<import("../shared/api.js").PageQuery> & { limit: number }} more */
  async #fetchRows(from, more) {
    const query = { ...more, offset: from };
    const span = { from, to: Math.min(from + more.limit, this.total) };
    if (this.rows.size === 0 || this.#picked.open.size > 0 || this.rows.missing(span))
      return this.#fetch(query);
    const page = await this.#fetch({ ...query, brief: true });
    const messages = withTexts(this.rows.all, page.messages);
    return messages ? { ...page, messages } : this.#fetch(query);
  }

  /** The page to show. While a new plan replaces the one on the page, rows keep their fates; null where the
   * plan decides which rows are shown. @param {Api.Page} page */
  #withKnownFates(page) {
    if (!this.#plan || page.pending || page.plan_id === this.#plan || !this.page) return page;
    if (OF_A_PLAN.has(this.query.fate)) return this.rows.size > 0 ? null : page;
    const { all, out, errors } = page.counts;
    const counts = { ...this.page.counts, all, out, errors };
    return { ...page, counts, messages: withFates(this.rows.all, page.messages) };
  }

  /** @param {AbortSignal} signal aborted once another list is wanted */
  async #read(signal) {
    try {
      // An empty list shows its rows first: fates take time in a long session.
      const pending = this.rows.size > 0 || (await this.#readRows(signal, true));
      if (signal.aborted) return;
      this.#list.emit("fates-asked");
      if (pending) await this.#readRows(signal, false);
    } catch (error) {
      if (signal.aborted) return;
      this.error = reasonOf(error);
      this.previous = null;
      this.#list.requestUpdate();
    }
  }

  /** Reads the rows that are drawn. Returns whether their fates are still to come.
   * @param {AbortSignal} signal
   * @param {boolean} atOnce */
  async #readRows(signal, atOnce) {
    const before = this.newest;
    const isHeld = this.isBeingRead && before > 0 && this.query.sort !== "oldest";
    const { from, to } = this.#viewport.span;
    const limit = Math.max(FIRST_ROWS, to - from);
    const last = isHeld ? before : undefined;
    const read = await this.#fetchRows(from, { limit, last, at_once: atOnce || undefined });
    const page = this.#withKnownFates(read);
    if (signal.aborted || !page) return;
    const changesNothing = this.#isPlanning && !page.pending && page.total === 0;
    if (changesNothing && this.#followsPlan) return void this.#show(EVERYTHING);
    const newest = page.counts.all ?? before;
    if (isHeld) this.waiting = await this.#countWaiting(page, newest - before);
    if (signal.aborted) return;
    const hasGrown = before !== this.newest;
    const isReadNow = before > 0 && this.isBeingRead;
    // Rows came in during the request, or somebody began to read: these rows have other places now.
    if (hasGrown || (isReadNow && !isHeld && newest > before)) {
      this.rows.renew(page.messages);
      this.#list.requestUpdate();
      return void this.refresh();
    }
    if (!isHeld) this.#showUpTo(newest, page);
    this.#showRows(page, from, isHeld || isReadNow);
    // The reader left the list during the request, when no row was waiting yet.
    if (this.waiting > 0 && !isReadNow) this.refresh();
    return page.pending;
  }

  /** Takes a page of rows; those in view stay where they are. @param {Api.Page} page @param {number} from
   * @param {boolean} keepsOthers true if rows outside the page stay, as far as their places are the same */
  #showRows(page, from, keepsOthers) {
    const anchor = this.#viewport.anchor;
    const anchored = anchor === null ? undefined : this.rows.at(anchor);
    if (!keepsOthers || page.total !== this.total) this.rows = new LoadedRows();
    this.previous = null;
    this.rows.put(from, page.messages);
    if (this.page?.pending && !page.pending) this.#readOtherFates();
    this.page = page;
    this.total = page.total;
    this.error = null;
    this.#picked.renew(page.messages);
    for (const { tokens } of page.messages) this.mostTokens = Math.max(this.mostTokens, tokens);
    for (const id of this.#picked.open.keys())
      if (page.total <= page.messages.length && this.rows.indexOf(id) < 0) this.#picked.open.delete(id);
    this.#list.update();
    if (anchor !== null && anchored) this.#viewport.follow(anchor, this.rows.indexOf(anchored.id));
    this.fill();
  }

  /** Fates are known now: reads those of the rows that were drawn during the request, and later those of the
   * rows elsewhere in the list. */
  #readOtherFates() {
    this.rows.keep(this.#viewport.span, this.#viewport.here);
    if (this.rows.all.some(({ fate }) => fate === "pending")) this.refresh();
  }

  /** Notes that the list shows everything up to a message. @param {number} newest @param {Api.Page} page */
  #showUpTo(newest, page) {
    if (this.newest > 0) this.#enter(page.messages.filter((m) => m.number > this.newest));
    this.newest = newest;
    this.waiting = 0;
  }

  /** The new messages that the list does not show yet. @param {Api.Page} page
   * @param {number} late messages that came to the session */
  async #countWaiting(page, late) {
    if (late <= 0 || this.isWhole || this.query.to) return this.query.to ? 0 : Math.max(0, late);
    return Math.max(0, (await this.#fetch({ limit: 1 })).total - page.total);
  }

  /** Draws the rows that came into view, and reads those that are missing. */
  drawInView() {
    if (this.total === 0 || !this.#viewport.hasMoved(this.total)) return;
    this.entering.clear();
    this.#list.update();
    this.fill();
  }

  /** Reads the drawn rows that are missing; resolves once they are there, or could not be read. */
  fill() {
    this.#filling ??= this.#readMissing().then((isOther) => {
      this.#filling = null;
      if (isOther) this.drawInView();
    });
    return this.#filling;
  }

  /** Reads the drawn rows that are missing, one request at a time; without fates while those of the page are
   * still to come. Returns whether the list is another one now. */
  async #readMissing() {
    if (!this.page) return false;
    const { signal } = this.#refresher;
    const { newest } = this;
    try {
      let missing = this.rows.missing(this.#viewport.span);
      for (; missing; missing = this.rows.missing(this.#viewport.span)) {
        const { from, to } = missing;
        const at_once = this.page.pending || undefined;
        const page = await this.#fetch({
          offset: from,
          limit: to - from,
          last: newest || undefined,
          at_once,
        });
        if (signal.aborted || newest !== this.newest) break;
        if (page.messages.length === 0) break;
        this.error = null;
        this.rows.put(from, page.messages);
        this.#picked.renew(page.messages);
        this.#dropFarRows();
        this.#list.update();
      }
    } catch (error) {
      if (!signal.aborted) this.error = reasonOf(error); // the next scroll asks again too
      this.#list.requestUpdate();
    }
    return newest !== this.newest || signal.aborted;
  }

  /** The row that is drawn at an index. @param {number} index */
  shown(index) {
    return this.rows.at(index) ?? this.previous?.at(index);
  }

  /** Removes the rows far from those that are drawn. */
  #dropFarRows() {
    const { span, here } = this.#viewport;
    this.rows.keep({ from: span.from - ROWS_KEPT, to: span.to + ROWS_KEPT }, here);
  }
}
