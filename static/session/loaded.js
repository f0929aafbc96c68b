// The rows of a long list that were read: a list with gaps. Pure. A row is known by its place in the list.

/** @typedef {import("./window.js").Span} Span */

export class Loaded {
  /** @type {Map<number, Api.Message>} */
  #rows = new Map();

  get size() {
    return this.#rows.size;
  }

  /** The rows that are known, in no order. */
  get all() {
    return [...this.#rows.values()];
  }

  /** @param {number} index */
  at(index) {
    return this.#rows.get(index);
  }

  /** The place of the row that meets a condition, or -1.
   * @param {(message: Api.Message) => boolean} condition */
  find(condition) {
    for (const [index, message] of this.#rows) if (condition(message)) return index;
    return -1;
  }

  /** Takes consecutive rows. @param {number} from @param {Api.Message[]} rows */
  put(from, rows) {
    for (const [i, message] of rows.entries()) this.#rows.set(from + i, message);
  }

  /** Replaces rows that are known. @param {Api.Message[]} rows */
  renew(rows) {
    const fresh = new Map(rows.map((message) => [message.id, message]));
    for (const [index, { id }] of this.#rows) {
      const now = fresh.get(id);
      if (now) this.#rows.set(index, now);
    }
  }

  /** Puts rows before all others, which move down. @param {Api.Message[]} rows */
  unshift(rows) {
    const moved = [...this.#rows].map(
      ([index, message]) => /** @type {const} */ ([index + rows.length, message]),
    );
    this.#rows = new Map(moved);
    this.put(0, rows);
  }

  /** Forgets all rows outside of a span. @param {Span} span @param {number} [also] the place of one more
   * that is kept */
  keep({ from, to }, also) {
    for (const index of this.#rows.keys())
      if ((index < from || index >= to) && index !== also) this.#rows.delete(index);
  }

  /** The part of a span from its first to its last row that is not known; null where all are.
   * @param {Span} span @returns {Span | null} */
  missing({ from, to }) {
    let [first, last] = [from, to];
    while (first < last && this.#rows.has(first)) first++;
    while (last > first && this.#rows.has(last - 1)) last--;
    return first < last ? { from: first, to: last } : null;
  }
}
