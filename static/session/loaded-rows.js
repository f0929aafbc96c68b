// The loaded rows of a long list, with gaps. Pure. A row is identified by its index in the list.

/** @typedef {import("./row-heights.js").Span} Span */

export class LoadedRows {
  /** @type {Map<number, Api.Message>} */
  #rows = new Map();

  get size() {
    return this.#rows.size;
  }

  /** The loaded rows, in no order. */
  get all() {
    return [...this.#rows.values()];
  }

  /** @param {number} index */
  at(index) {
    return this.#rows.get(index);
  }

  /** The index of the row that meets a condition, or -1.
   * @param {(message: Api.Message) => boolean} condition */
  find(condition) {
    for (const [index, message] of this.#rows) if (condition(message)) return index;
    return -1;
  }

  /** The index of the row of a message, or -1. @param {string} id */
  indexOf(id) {
    return this.find((message) => message.id === id);
  }

  /** @param {string} id of a message */
  withId(id) {
    return this.at(this.indexOf(id));
  }

  /** The loaded rows between two indices, both among them, in their order. @param {number} one
   * @param {number} other */
  between(one, other) {
    const found = [];
    for (let index = Math.min(one, other); index <= Math.max(one, other); index++) {
      const message = this.at(index);
      if (message) found.push(message);
    }
    return found;
  }

  /** Stores consecutive rows. @param {number} from @param {Api.Message[]} rows */
  put(from, rows) {
    for (const [i, message] of rows.entries()) this.#rows.set(from + i, message);
  }

  /** Replaces loaded rows. @param {Api.Message[]} rows */
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

  /** Removes all rows outside a span. @param {Span} span @param {number} [also] the place of one more
   * that is kept */
  keep({ from, to }, also) {
    for (const index of this.#rows.keys())
      if ((index < from || index >= to) && index !== also) this.#rows.delete(index);
  }

  /** The part of a span from its first to its last missing row; null if none is missing.
   * @param {Span} span @returns {Span | null} */
  missing({ from, to }) {
    let [first, last] = [from, to];
    while (first < last && this.#rows.has(first)) first++;
    while (last > first && this.#rows.has(last - 1)) last--;
    return first < last ? { from: first, to: last } : null;
  }
}
