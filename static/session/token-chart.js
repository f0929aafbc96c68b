// <token-chart followed unseen="12400"></token-chart>
//
// Tokens over time, or over messages: the agent's context and the pruned view, the target as a dotted line, prunes ▼ and
// compactions ◆ as marks. It begins where the total is known: at `unseen` tokens, which every call sends. Property
// `value`: a Timeline; `push(point)` adds the newest, once there is a message. Drawn by uPlot in the colours of
// the theme; what it shows is said in words for screen readers.
import uPlot from "uplot";
import { CoppiceElement } from "../shared/element.js";
import { compact, number, timeOfDay } from "../shared/format.js";
import { html } from "../shared/html.js";
import { recall, remember } from "../shared/preferences.js";
import { render } from "../shared/render.js";
import { across, hasTime, known, prefersTime, timeLabels } from "./chart.js";

/** @typedef {import("../shared/types.js").Timeline} Timeline */

const HEIGHT = 150;
/** A context holds its size until the next message: a line of steps is the true one. */
const STEPS = uPlot.paths.stepped?.({ align: 1 });

export class TokenChart extends CoppiceElement {
  /** @type {Timeline | null} */
  #value = null;
  /** What is drawn of it. @type {Timeline | null} */
  #shown = null;
  /** @type {uPlot | null} */
  #plot = null;
  #drawn = "";
  #axis = recall("chart-axis");

  /** @param {Timeline | null} value */
  set value(value) {
    this.#value = value;
    this.requestUpdate();
  }

  /** @param {Timeline["points"][number]} point */
  push(point) {
    if (!this.#value || point.number < 1) return;
    const points = this.#value.points;
    const last = points.at(-1);
    if (last && last.number === point.number && last.agent === point.agent && last.pruned === point.pruned)
      return;
    this.#value = {
      ...this.#value,
      points: last?.number === point.number ? [...points.slice(0, -1), point] : [...points, point],
    };
    this.requestUpdate();
  }

  get #overTime() {
    const points = this.#value?.points ?? [];
    return this.#axis ? this.#axis === "time" && hasTime(points) : prefersTime(points);
  }

  start() {
    this.actions({
      axis: (target) => {
        this.#axis = target.dataset.axis ?? "time";
        remember("chart-axis", this.#axis);
        this.requestUpdate();
      },
    });
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this);
    this.life.addEventListener("abort", () => resized.disconnect());
    const recolour = () => {
      this.#drawn = "";
      this.requestUpdate();
    };
    this.listen(document, "coppice:theme", recolour);
    this.listen(matchMedia("(prefers-color-scheme: dark)"), "change", recolour);
  }

  stop() {
    this.#plot?.destroy();
    this.#plot = null;
    this.#drawn = "";
  }

  #resize() {
    const width = this.querySelector(".chart-area")?.clientWidth ?? 0;
    const height = this.#height;
    if (this.#plot && width > 0 && (width !== this.#plot.width || height !== this.#plot.height))
      this.#plot.setSize({ width, height });
  }

  /** As high as its place, where a neighbour is higher. */
  get #height() {
    return Math.max(HEIGHT, this.querySelector(".chart-area")?.clientHeight ?? 0);
  }

  update() {
    const value = this.#value;
    const timeline = value && {
      ...value,
      points: known(value.points, Number(this.getAttribute("unseen") ?? 0)),
    };
    this.#shown = timeline;
    const followed = this.hasAttribute("followed");
    if (!timeline || timeline.points.length === 0) {
      this.stop();
      return render(
        this,
        html`<div class="chart-empty muted" data-key="none">${timeline && "No tokens yet. The line begins with the first message."}</div>`,
      );
    }
    const time = this.#overTime;
    render(
      this,
      html`<figure class="chart" data-key="chart"><div class="chart-area" role="img" aria-label="${this.#spoken(timeline)}"><chart-canvas></chart-canvas></div>
        <figcaption class="chart-foot"><ul class="legend">
          ${followed && html`<li><i class="line" data-line="agent"></i>agent's context</li>`}
          <li><i class="line" data-line="pruned"></i>${followed ? "pruned view" : "context"}</li><li><i class="line" data-line="target"></i>target ${compact(timeline.target)}${this.#top(timeline) < timeline.target && " (above this picture)"}</li>
          ${timeline.marks.some((m) => m.kind === "prune") && html`<li><span class="mark" data-mark="prune">▼</span>prune</li>`}
          ${timeline.marks.some((m) => m.kind === "compaction") && html`<li><span class="mark" data-mark="compaction">◆</span>compaction by the agent</li>`}</ul>
          <span class="chart-at" aria-hidden="true"></span>
          <span class="segmented" role="group" aria-label="Across"><button data-act="axis" data-axis="time" aria-pressed="${time ? "true" : "false"}" ${hasTime(timeline.points) ? "" : html`disabled title="All messages came at once"`}>Time</button><button data-act="axis" data-axis="messages" aria-pressed="${time ? "false" : "true"}">Messages</button></span>
        </figcaption>
        <ul class="sr">${timeline.marks.map((m) => html`<li>${m.label}${m.number !== null && html` at message ${number(m.number)}`}${m.before !== null && m.after !== null && html`, ${number(m.before)} to ${number(m.after)} tokens`}</li>`)}</ul></figure>`,
    );
    this.#plotIt(timeline, time, followed);
  }

  /** @param {Timeline} timeline */
  #spoken({ points, limit, target }) {
    const last = points.at(-1);
    if (!last) return "No tokens yet";
    return `Tokens over time, ${number(points.length)} points, now ${number(last.agent ?? last.pruned ?? 0)} of ${number(limit)}, target ${number(target)}`;
  }

  /** @param {Timeline} timeline @param {boolean} time @param {boolean} followed */
  #plotIt(timeline, time, followed) {
    const data = this.#data(timeline, time, followed);
    const shape = `${timeline.points.length === 1}${time}${followed}${timeline.target}${timeline.limit}${JSON.stringify(timeline.marks)}`;
    if (this.#plot && shape === this.#drawn) return this.#plot.setData(data);
    this.#plot?.destroy();
    const holder = /** @type {HTMLElement} */ (this.querySelector("chart-canvas"));
    holder.replaceChildren();
    this.#drawn = shape;
    this.#plot = new uPlot(this.#options(timeline, time, followed), data, holder);
  }

  /** @param {Timeline} timeline @param {boolean} time @param {boolean} followed @returns {uPlot.AlignedData} */
  #data({ points }, time, followed) {
    const xs = across(points, time);
    const pruned = points.map((p) => p.pruned);
    return followed ? [xs, points.map((p) => p.agent), pruned] : [xs, pruned];
  }

  /** @param {Timeline} timeline @param {boolean} time @param {boolean} followed @returns {uPlot.Options} */
  #options(timeline, time, followed) {
    const style = getComputedStyle(this);
    /** @param {string} name */
    const colour = (name) => resolve(this, style.getPropertyValue(name));
    const [muted, line, accent, agent] = ["--muted", "--line", "--accent", "--chart-agent"].map(colour);
    const font = `11px ${style.fontFamily}`;
    const axis = { stroke: muted, font, ticks: { stroke: line, width: 1, size: 4 } };
    /** @type {uPlot.Series} */
    const pruned = {
      stroke: accent,
      width: 1.75,
      fill: colour("--accent-soft"),
      points: { show: false },
      paths: STEPS,
    };
    const series = [
      {},
      ...(followed
        ? [{ stroke: agent, width: 1.5, points: { show: false }, paths: STEPS }, pruned]
        : [pruned]),
    ];
    const top = this.#top(timeline);
    const alone = timeline.points.length === 1;
    for (const one of series.slice(1)) Object.assign(one, { points: { show: alone, size: 7 } });
    return {
      width: Math.max(200, this.querySelector(".chart-area")?.clientWidth ?? 600),
      height: this.#height,
      padding: [14, 28, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false }, points: { size: 6 } },
      scales: { x: { time }, y: { range: (_, __, max) => [0, Math.max(top, max * 1.08)] } },
      series,
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 28,
          space: 90,
          values: (_, ticks) =>
            time ? timeLabels(ticks) : ticks.map((t) => (Number.isInteger(t) ? number(t) : "")),
        },
        {
          ...axis,
          size: 46,
          grid: { stroke: line, width: 1 },
          ticks: { show: false },
          values: (_, ticks) => ticks.map((t) => compact(t)),
          space: 28,
        },
      ],
      hooks: {
        draw: [
          (plot) =>
            this.#drawMarks(plot, timeline, time, {
              text: colour("--text"),
              warn: colour("--warn"),
              accent: accent ?? "",
              font,
            }),
        ],
        setCursor: [(plot) => this.#tell(plot)],
      },
    };
  }

  /** The least height of the scale: it shows the target unless that would press the line to the ground.
   * @param {Timeline} timeline */
  #top({ points, target }) {
    const most = points.reduce((top, p) => Math.max(top, p.agent ?? 0, p.pruned ?? 0), 1);
    return most > target * 0.35 ? target * 1.06 : most;
  }

  /** @param {uPlot} plot @param {Timeline} timeline @param {boolean} time @param {{ text: string, warn: string, accent: string, font: string }} look */
  #drawMarks(plot, timeline, time, look) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    // A mark at either end is seen whole.
    const [aside, above] = [6 * ratio, 14 * ratio];
    ctx.rect(bbox.left - aside, bbox.top - above, bbox.width + 2 * aside, bbox.height + above);
    ctx.clip();
    const y = Math.round(plot.valToPos(timeline.target, "y", true));
    ctx.strokeStyle = look.text;
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    stroke(ctx, bbox.left, y, bbox.left + bbox.width, y);
    ctx.setLineDash([]);
    ctx.textAlign = "center";
    ctx.font = `${11 * ratio}px sans-serif`;
    for (const mark of timeline.marks) {
      const at = time && mark.at ? Date.parse(mark.at) / 1000 : mark.number;
      if (at === null) continue;
      const x = Math.round(plot.valToPos(at, "x", true));
      const compaction = mark.kind === "compaction";
      ctx.strokeStyle = ctx.fillStyle = compaction ? look.warn : look.accent;
      stroke(ctx, x, bbox.top, x, bbox.top + bbox.height);
      if (compaction || mark.kind === "prune") ctx.fillText(compaction ? "◆" : "▼", x, bbox.top + 8 * ratio);
    }
    ctx.restore();
  }

  /** Says what stands under the cursor. @param {uPlot} plot */
  #tell(plot) {
    const place = this.querySelector(".chart-at");
    if (!place) return;
    const point = this.#shown?.points[plot.cursor.idx ?? -1];
    const words = point
      ? [
          `#${number(point.number)}`,
          timeOfDay(point.at, Date.now()),
          this.hasAttribute("followed") && point.agent !== null ? `agent ${number(point.agent)}` : "",
          point.pruned !== null
            ? `${this.hasAttribute("followed") ? "pruned " : ""}${number(point.pruned)}`
            : "",
        ]
      : [];
    place.textContent = words.filter(Boolean).join(" · ");
  }
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
function stroke(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1 + 0.5, y1 + 0.5);
  ctx.lineTo(x2 + 0.5, y2 + 0.5);
  ctx.stroke();
}

/** A token's value as a colour that a canvas knows: light-dark() is settled by the page. @param {HTMLElement} host @param {string} value */
function resolve(host, value) {
  const probe = document.createElement("span");
  probe.style.setProperty("color", value);
  probe.style.setProperty("forced-color-adjust", "none"); // else all would be one colour
  host.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

customElements.define("token-chart", TokenChart);
