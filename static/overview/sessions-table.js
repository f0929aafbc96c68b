// <sessions-table></sessions-table>
//
// The table of sessions. Only rows near the view, and the one with the focus, are in the page; a print has
// all. Property `value`: the entries in order, the sorted column, and the shortened titles. The order changes
// only while neither pointer nor focus is in the table. A click on a row opens its session.
import "../shared/context-gauge.js";
import "./trend-line.js";
import { CoppiceElement } from "../shared/element.js";
import { html, repeat } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { direction } from "./rows.js";
import { ALWAYS_SHOWN, projectRow, sessionRow } from "./session-row.js";
import { Heights, windowed } from "./windowing.js";

/** @typedef {import("./rows.js").Row | import("./rows.js").Head} Entry */
/** @typedef {{ entries: Entry[], sort: string, names: Map<string,
 * import("./titles.js").Name> }} TableValue */

/** @type {[name: string, sorted: string, label: import("../shared/html.js").Html][]} */
const COLUMNS = [
  ["c-state", "", html`<span class="sr">State</span>`],
  ["c-title", "title", "Session"],
  ["c-gauge", "", "Context"],
  ["c-full num", "full", "Full"],
  ["c-trend", "", "Trend"],
  ["c-tokens num", "tokens", "Tokens / limit"],
  ["c-growth num", "growth", "Per turn"],
  ["c-left num", "left", "To target"],
  ["c-prunes num", "prunes", "Prunes"],
  ["c-last num", "last", "Last"],
];

const ROW_PX = 66;
/** Rows are drawn up to this far outside the view, in pixels. */
const MARGIN_PX = 600;

/** @param {Entry} entry */
const keyOf = (entry) => ("head" in entry ? entry.key : entry.session.id);
/** @param {Entry} entry */
const kindOf = (entry) => ("head" in entry ? entry.head : "row");

class SessionsTable extends CoppiceElement {
  /** @type {TableValue} */
  #value = { entries: [], sort: "", names: new Map() };
  /** The keys of the shown entries in order. @type {string[]} */
  #order = [];
  #heights = new Heights(ROW_PX);
  #width = 0;
  #isPrinted = false;

  /** @param {TableValue} value */
  set value(value) {
    this.#value = value;
    this.requestUpdate();
  }

  start() {
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => this.#open(event));
    this.listen(window, "scroll", () => requestAnimationFrame(() => this.requestUpdate()));
    for (const type of ["pointerout", "focusout"])
      this.listen(this, type, (/** @type {PointerEvent | FocusEvent} */ { relatedTarget: to }) => {
        if (!(to instanceof Element && to.closest("tbody"))) this.requestUpdate();
      });
    for (const type of ["beforeprint", "afterprint"])
      this.listen(window, type, () => {
        this.#isPrinted = type === "beforeprint";
        this.update();
      });
    const sizes = new ResizeObserver(() => {
      if (this.clientWidth === this.#width) return;
      this.#width = this.clientWidth;
      this.#heights.clear();
      this.requestUpdate();
    });
    sizes.observe(this);
    this.life.addEventListener("abort", () => sizes.disconnect());
    this.stepKeys("tr.session-row a.title", "row");
  }

  update() {
    super.update();
    let news = false;
    for (const row of /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll("tr[data-key]")))
      if (this.#heights.note(row.dataset.key ?? "", row.dataset.kind ?? "", row.offsetHeight)) news = true;
    if (news) this.requestUpdate();
  }

  /** @param {MouseEvent} event */
  #open(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("a, button") || getSelection()?.toString()) return;
    target.closest("tr.session-row")?.querySelector("a")?.click();
  }

  /** The entries, in the shown order while pointer or focus is among them. */
  get #entries() {
    const { entries } = this.#value;
    const body = this.querySelector("tbody");
    const held = body?.matches(":hover") || body?.contains(document.activeElement);
    const byKey = new Map(entries.map((entry) => [keyOf(entry), entry]));
    const before = held ? this.#order.flatMap((key) => byKey.get(key) ?? []) : [];
    const same = before.length === entries.length && this.#order.length === entries.length;
    const shown = held && same ? before : entries;
    this.#order = shown.map(keyOf);
    return shown;
  }

  /** The part of the list that is in view, in pixels from its beginning. @param {Entry[]} entries */
  #viewport(entries) {
    if (this.#isPrinted) return { top: Number.NEGATIVE_INFINITY, bottom: Number.POSITIVE_INFINITY };
    const begin = this.querySelector("tbody")?.getBoundingClientRect().top ?? 0;
    const focused = document.activeElement?.closest("tr[data-key]");
    const key = focused instanceof HTMLElement && this.contains(focused) ? focused.dataset.key : "";
    const keep = key ? entries.findIndex((entry) => keyOf(entry) === key) : -1;
    return { top: -begin - MARGIN_PX, bottom: innerHeight - begin + MARGIN_PX, keep };
  }

  template() {
    const entries = this.#entries;
    /** @param {number} i */
    const entryAt = (i) => /** @type {Entry} */ (entries[i]);
    /** @param {number} i */
    const height = (i) => this.#heights.of(keyOf(entryAt(i)), kindOf(entryAt(i)));
    const parts = windowed(entries.length, height, this.#viewport(entries));
    const { names } = this.#value;
    return html`<div class="panel"><table class="sessions" role="table" aria-label="Sessions"
      aria-rowcount=${entries.length + 1}>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex="1">${COLUMNS.map((column) => this.#head(column))}</tr>
      </thead>
      <tbody role="rowgroup">${repeat(
        parts,
        (part, i) => ("gap" in part ? `gap ${i}` : keyOf(entryAt(part.at))),
        (part) =>
          "gap" in part
            ? html`<tr class="gap" role="presentation"><td colspan=${ALWAYS_SHOWN} role="presentation"
                .style="height:${part.gap}px"></td></tr>`
            : row(entryAt(part.at), part.at, names),
      )}</tbody>
    </table></div>`;
  }

  /** @param {typeof COLUMNS[number]} column */
  #head([name, column, label]) {
    if (!column) return html`<th role="columnheader" class=${name}>${label}</th>`;
    const sorted = direction(column, this.#value.sort);
    return html`<th role="columnheader" class=${name} aria-sort=${sorted}><button class="bare sort"
      data-act="sort" data-column=${column}>${label}${
        sorted !== "none" && icon(sorted === "ascending" ? "up" : "down")
      }</button></th>`;
  }
}

/** @param {Entry} entry @param {number} at @param {TableValue["names"]} names */
const row = (entry, at, names) =>
  "head" in entry ? projectRow(entry, at + 2) : sessionRow(entry, names.get(entry.session.id), at + 2);

customElements.define("sessions-table", SessionsTable);
