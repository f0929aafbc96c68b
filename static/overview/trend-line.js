// <trend-line points="12,18,40,35" target="80"></trend-line>
//
// The last utilizations of a session in percent as a small line, with the target dotted where it is near.
// Hidden from screen readers: the number beside it says the same.
import { CoppiceElement } from "../shared/element.js";
import { html, nothing, svg } from "../shared/html.js";

const [WIDTH, HEIGHT] = [72, 20];
/** Fewer points show no trend. */
const LEAST = 3;

class TrendLine extends CoppiceElement {
  static observedAttributes = ["points", "target"];

  template() {
    const points = (this.getAttribute("points") ?? "").split(",").filter(Boolean).map(Number);
    if (points.length < LEAST) return nothing;
    const target = Number(this.getAttribute("target") ?? 0);
    const top = Math.max(...points, 1) * 1.05;
    /** @param {number} value */
    const y = (value) => (HEIGHT - 1 - (value / top) * (HEIGHT - 3)).toFixed(1);
    const step = (WIDTH - 3) / (points.length - 1);
    const line = points.map((value, i) => `${(i * step).toFixed(1)},${y(value)}`).join(" ");
    const near = target > 0 && target <= top;
    return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true">
      ${near && svg`<line class="limit" x1="0" x2=${WIDTH} y1=${y(target)} y2=${y(target)} />`}
      <polyline points=${line} /><circle cx=${WIDTH - 3} cy=${y(points.at(-1) ?? 0)} r="1.8" />
    </svg>`;
  }
}

customElements.define("trend-line", TrendLine);
