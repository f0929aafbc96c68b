// The heights of the rows of a long list, from which follow the position of each row and the rows to draw.
// Pure. Closed rows have one height; that of an open one is known once it is drawn.

/** Rows drawn above and below the view, and the step in which the drawn part moves. */
const OVERSCAN = 40;
const STEP = 20;

/** @typedef {{ from: number, to: number }} Span rows from `from` up to, but without, `to` */

export class RowHeights {
  /** @param {number} height of a closed row in pixels
   * @param {Iterable<[index: number, pixels: number]>} [more] additional heights of open rows */
  constructor(height, more = []) {
    this.height = height;
    this.more = [...more].sort(([a], [b]) => a - b);
  }

  /** The distance of a row from the top of the list, in pixels. @param {number} index */
  top(index) {
    return this.more.reduce((top, [at, pixels]) => (at < index ? top + pixels : top), index * this.height);
  }

  /** The row at a distance from the top of the list. @param {number} pixels */
  at(pixels) {
    let above = 0;
    for (const [index, more] of this.more) {
      const top = index * this.height + above;
      if (pixels < top + this.height) break;
      if (pixels < top + this.height + more) return index;
      above += more;
    }
    return Math.max(0, Math.floor((pixels - above) / this.height));
  }

  /** The rows to draw of a list of `count` while the view shows the pixels from `top` to `bottom` of it.
   * @param {number} top @param {number} bottom @param {number} count @returns {Span} */
  span(top, bottom, count) {
    const first = Math.min(this.at(top), Math.max(0, count - 1)) - OVERSCAN;
    const last = Math.min(this.at(Math.max(top, bottom)), count) + OVERSCAN;
    return {
      from: Math.max(0, Math.floor(first / STEP) * STEP),
      to: Math.min(count, Math.ceil(last / STEP) * STEP),
    };
  }
}
