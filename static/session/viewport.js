// The part of the message list that is in view: which rows are drawn, where each is placed, and which has the
// focus.
import { focusOn } from "../shared/keys.js";
import { RowHeights } from "./row-heights.js";

/** @typedef {import("./row-heights.js").Span} Span */

/** The rows drawn before the length of a list is known. */
export const FIRST_ROWS = 60;
/** Elements that must not move under the pointer. */
const HELD = ":is(.rows, .pill, .selection)";

export class Viewport {
  /** The drawn rows. @type {Span} */
  span = { from: 0, to: FIRST_ROWS };
  #heights = new RowHeights(1);
  #list;
  /** The height of a closed row in pixels; it depends on the page's width and the size of its text. */
  #rowHeight = 52;
  /** The heights of the details of open rows. @type {Map<string, number>} */
  #details = new Map();
  /** The row to focus once it is drawn. @type {number | null} */
  #focusAt = null;
  #sizes = new ResizeObserver((entries) => this.#resized(entries));

  /** @param {import("../shared/element.js").CoppiceElement} list */
  constructor(list) {
    this.#list = list;
  }

  start() {
    this.readRowHeight();
    this.#sizes.observe(this.#list);
  }

  stop() {
    this.#sizes.disconnect();
  }

  /** Shows the top of a list of unknown length. */
  reset() {
    this.span = { from: 0, to: FIRST_ROWS };
  }

  readRowHeight() {
    const height = getComputedStyle(this.#list).getPropertyValue("--row-height");
    this.#rowHeight = Number.parseFloat(height) || this.#rowHeight;
  }

  /** @param {ResizeObserverEntry[]} entries */
  #resized(entries) {
    this.readRowHeight();
    for (const { target } of entries) {
      if (target === this.#list) continue;
      const id = target.getAttribute("data-of") ?? "";
      if (target.isConnected) this.#details.set(id, target.getBoundingClientRect().height);
    }
    this.#list.update();
  }

  /** Measures the rows, and chooses which of them are drawn. @param {[id: string, index: number][]} open rows
   * @param {number} total */
  layOut(open, total) {
    /** @type {[number, number][]} */
    const more = open.map(([id, index]) => [index, this.#details.get(id) ?? 0]);
    this.#heights = new RowHeights(
      this.#rowHeight,
      more.filter(([index]) => index >= 0),
    );
    if (total > 0) this.span = this.#spanInView(total);
  }

  /** Watches the size of the drawn details, and focuses the row that waited to be drawn. */
  drawn() {
    for (const detail of this.#list.querySelectorAll(".msg-detail")) this.#sizes.observe(detail);
    if (this.#focusAt === null) return;
    const open = this.#list.querySelector(`.item[data-index="${this.#focusAt}"] .m-open`);
    if (!open || open.closest("[inert]")) return; // a row of the list before
    focusOn(open, { preventScroll: true });
    this.#focusAt = null;
  }

  /** @param {number} total @returns {Span} */
  #spanInView(total) {
    const top = this.scrolled;
    return this.#heights.span(top, top + innerHeight, total);
  }

  /** Returns whether other rows came into view than those that are drawn. @param {number} total */
  hasMoved(total) {
    const { from, to } = this.#spanInView(total);
    return from !== this.span.from || to !== this.span.to;
  }

  get #body() {
    return this.#list.querySelector(".rows");
  }

  /** The pixels of the list above the view. */
  get scrolled() {
    return this.#body ? -this.#body.getBoundingClientRect().top : 0;
  }

  /** The distance of a row from the top of the list, in pixels. @param {number} index */
  top(index) {
    return this.#heights.top(index);
  }

  /** The first row in view where the list is scrolled; null at its top. */
  get anchor() {
    const top = this.scrolled;
    return top <= 0 ? null : this.#heights.at(top);
  }

  /** Scrolls by the distance that a row was moved, so that it stays where it is on the screen.
   * @param {number} was its index before @param {number} now */
  follow(was, now) {
    if (now >= 0 && now !== was) scrollBy(0, this.#heights.top(now) - this.#heights.top(was));
  }

  /** The row that has the focus, or -1. */
  get here() {
    const item = document.activeElement?.closest("message-list .item");
    return item instanceof HTMLElement ? Number(item.dataset.index) : -1;
  }

  /** The row that is `by` rows from the one that has the focus or is about to have it; without one, the first
   * in view. @param {number} by @param {number} total */
  neighbour(by, total) {
    const here = this.#focusAt ?? this.here;
    if (here < 0) return Math.ceil(Math.max(0, this.scrolled) / this.#heights.height);
    return Math.min(total - 1, Math.max(0, here + by));
  }

  /** Brings a row into view and gives it the focus once it is there. @param {number} index
   * @param {boolean} [centre] */
  goTo(index, centre = false) {
    this.#focusAt = index;
    this.#list.update();
    const [top, height] = [this.#heights.top(index) - this.scrolled, this.#heights.height];
    const bar = Number.parseFloat(getComputedStyle(this.#list).getPropertyValue("--bar-height")) || 0;
    if (centre) scrollBy(0, top - innerHeight / 3);
    else if (top < bar + height) scrollBy(0, top - bar - height);
    else if (top + 2 * height > innerHeight) scrollBy(0, top + 2 * height - innerHeight);
    this.#list.update();
  }

  /** True while the rows must stay under the pointer or the focus, or are scrolled. */
  get isHeld() {
    const body = this.#body;
    if (!body) return false;
    if (this.#list.querySelector(`${HELD}:hover`) || body.contains(document.activeElement)) return true;
    return body.getBoundingClientRect().top <= 0;
  }

  /** Returns whether the pointer or the focus leaves what must not move under it.
   * @param {PointerEvent | FocusEvent} event */
  isLeft({ target, relatedTarget: to }) {
    const held = (/** @type {EventTarget | null} */ at) => at instanceof Element && at.closest(HELD) !== null;
    return held(target) && !held(to);
  }
}
