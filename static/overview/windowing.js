// The rows of a long list near the view, with gaps in place of the others. Pure.

/** A row by its index, or a gap in pixels. @typedef {{ at: number } | { gap: number }} Part */

/** The parts of a list between `top` and `bottom`, in pixels from its beginning; row `keep` is always one of
 * them, so that the focus is not lost with its row. @param {number} count rows in all
 * @param {(i: number) => number} height of a row, in pixels
 * @param {{ top: number, bottom: number, keep?: number }} viewport @returns {Part[]} */
export function windowed(count, height, { top, bottom, keep = -1 }) {
  /** @type {Part[]} */
  const parts = [];
  let [y, gap] = [0, 0];
  const close = () => {
    if (gap > 0) parts.push({ gap });
    gap = 0;
  };
  for (let i = 0; i < count; i++) {
    const end = y + height(i);
    if ((end > top && y < bottom) || i === keep) {
      close();
      parts.push({ at: i });
    } else gap += end - y;
    y = end;
  }
  close();
  return parts;
}

/** The known heights of rows; for the others, the mean of their kind. */
export class Heights {
  /** @type {Map<string, number>} */
  #known = new Map();
  /** @type {Map<string, { sum: number, count: number }>} */
  #kinds = new Map();
  #first;

  /** @param {number} first the guess before anything is known, in pixels */
  constructor(first) {
    this.#first = first;
  }

  /** Records the height of a drawn row. @param {string} key @param {string} kind @param {number} px
   * @returns {boolean} true if it has changed */
  note(key, kind, px) {
    const before = this.#known.get(key);
    if (px <= 0 || before === px) return false;
    const mean = this.#kinds.get(kind) ?? { sum: 0, count: 0 };
    mean.sum += px - (before ?? 0);
    if (before === undefined) mean.count += 1;
    this.#kinds.set(kind, mean);
    this.#known.set(key, px);
    return true;
  }

  /** Removes all heights, after the width of the list has changed. */
  clear() {
    this.#known.clear();
    this.#kinds.clear();
  }

  /** @param {string} key @param {string} kind */
  of(key, kind) {
    const mean = this.#kinds.get(kind);
    return this.#known.get(key) ?? (mean ? mean.sum / mean.count : this.#first);
  }
}
