// <token-chart followed unseen="12400"></token-chart>
//
// Tokens over time, or over messages: the agent's context and the pruned view, the target as a dotted line,
// prunes ▼ and compactions ◆ as marks. It begins where the total is known: at `unseen` tokens, which every
// call sends. Property `value`: a Timeline; `push(point)` adds the newest, once there is a message. Drawn by
// uPlot in the colours of the theme, with the same in words for screen readers.
import uPlot from "uplot";
import { CoppiceElement } from "../shared/element.js";
import { compact, number, timeOfDay } from "../shared/format.js";
import { html } from "../shared/html.js";
import { recall, remember } from "../shared/preferences.js";
import { across, hasTime, known, prefersTime, timeLabels } from "./chart.js";

const HEIGHT = 150;
/** A context keeps its size until the next message, so the line goes in steps. */
const STEPS = uPlot.paths.stepped?.({ align: 1 });
/** @type {Record<string, string>} */
const MARKS = { prune: "▼", compaction: "◆", clearing: "◇" };

export class TokenChart extends CoppiceElement {
  /** @type {Api.Timeline | null} */
  #value = null;
  /** The part that is drawn. @type {Api.Timeline | null} */
  #shown = null;
  /** @type {uPlot | null} */
  #plot = null;
  #drawn = "";
  #axis = recall("chart-axis");

  /** @param {Api.Timeline | null} value */
  set value(value) {
    this.#value = value;
    this.requestUpdate();
  }

  /** @param {Api.Timeline["points"][number]} point */
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

  /** The height of the chart's place, which a higher neighbour stretches. */
  get #height() {
    return Math.max(HEIGHT, this.querySelector(".chart-area")?.clientHeight ?? 0);
  }

  update() {
    const value = this.#value;
    const unseen = Number(this.getAttribute("unseen") ?? 0);
    this.#shown = value && { ...value, points: known(value.points, unseen) };
    if (!this.#shown?.points.length) this.stop();
    super.update();
    if (this.#shown?.points.length) this.#plotIt(this.#shown, this.#overTime, this.hasAttribute("followed"));
  }

  view() {
    const timeline = this.#shown;
    if (!timeline?.points.length)
      return html`<div class="chart-empty muted">
        ${timeline && "No tokens yet. The line begins with the first message."}
      </div>`;
    return html`<figure class="chart">
      <div class="chart-area" role="img" aria-label=${this.#spoken(timeline)}
        ><div class="chart-canvas"></div></div>
      <figcaption class="chart-foot">
        ${this.#legend(timeline)}
        <span class="chart-at" aria-hidden="true"></span>
        <span class="segmented" role="group" aria-label="Across">${this.#axes(timeline)}</span>
      </figcaption>
      <ul class="sr">${timeline.marks.map((mark) => html`<li>${markWords(mark)}</li>`)}</ul>
    </figure>`;
  }

  /** @param {Api.Timeline} timeline */
  #legend(timeline) {
    const followed = this.hasAttribute("followed");
    /** @param {string} line @param {string} name */
    const entry = (line, name) => html`<li><i class="line" data-line=${line}></i>${name}</li>`;
    const above = this.#top(timeline) < timeline.target ? " (above this picture)" : "";
    const names = {
      prune: "prune",
      compaction: "compaction by the agent",
      clearing: "cleared by the agent, not recorded",
    };
    return html`<ul class="legend">
      ${followed && entry("agent", "agent's context")}
      ${entry("pruned", followed ? "pruned view" : "context")}
      ${entry("target", `target ${compact(timeline.target)}${above}`)}
      ${Object.entries(names).map(
        ([kind, name]) =>
          timeline.marks.some((mark) => mark.kind === kind) &&
          html`<li><span class="mark" data-mark=${kind}>${MARKS[kind]}</span>${name}</li>`,
      )}
    </ul>`;
  }

  /** @param {Api.Timeline} timeline */
  #axes({ points }) {
    const [time, timed] = [this.#overTime, hasTime(points)];
    return html`<button data-act="axis" data-axis="time" aria-pressed=${time} ?disabled=${!timed}
        title=${timed ? "" : "All messages came at once"}>Time</button>
      <button data-act="axis" data-axis="messages" aria-pressed=${!time}>Messages</button>`;
  }

  /** @param {Api.Timeline} timeline */
  #spoken({ points, limit, target }) {
    const last = points.at(-1);
    if (!last) return "No tokens yet";
    const now = `${number(last.agent ?? last.pruned ?? 0)} of ${number(limit)}`;
    return `Tokens over time, ${number(points.length)} points, now ${now}, target ${number(target)}`;
  }

  /** @param {Api.Timeline} timeline @param {boolean} time @param {boolean} followed */
  #plotIt(timeline, time, followed) {
    const data = this.#data(timeline, time, followed);
    const { points, marks, target, limit } = timeline;
    const shape = JSON.stringify([points.length === 1, time, followed, target, limit, marks]);
    if (this.#plot && shape === this.#drawn) return this.#plot.setData(data);
    this.#plot?.destroy();
    const holder = /** @type {HTMLElement} */ (this.querySelector(".chart-canvas"));
    holder.replaceChildren();
    this.#drawn = shape;
    this.#plot = new uPlot(this.#options(timeline, time, followed), data, holder);
  }

  /** @param {Api.Timeline} timeline @param {boolean} time @param {boolean} followed
   * @returns {uPlot.AlignedData} */
  #data({ points }, time, followed) {
    const xs = across(points, time);
    const pruned = points.map((p) => p.pruned);
    return followed ? [xs, points.map((p) => p.agent), pruned] : [xs, pruned];
  }

  /** @param {Api.Timeline} timeline @param {boolean} time @param {boolean} followed
   * @returns {uPlot.Options} */
  #options(timeline, time, followed) {
    const style = getComputedStyle(this);
    /** @param {string} name */
    const colour = (name) => resolve(this, style.getPropertyValue(name));
    const [muted, line, accent, agent] = ["--muted", "--line", "--accent", "--chart-agent"].map(colour);
    const font = `11px ${style.fontFamily}`;
    const axis = { stroke: muted, font, ticks: { stroke: line, width: 1, size: 4 } };
    const look = { paths: STEPS, points: { show: timeline.points.length === 1, size: 7 } };
    const pruned = { stroke: accent, width: 1.75, fill: colour("--accent-soft"), ...look };
    const series = [{}, ...(followed ? [{ stroke: agent, width: 1.5, ...look }] : []), pruned];
    const top = this.#top(timeline);
    const marks = { text: colour("--text"), warn: colour("--warn"), accent: accent ?? "" };
    /** @param {number} tick the number of a message */
    const whole = (tick) => (Number.isInteger(tick) ? number(tick) : "");
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
          values: (_, ticks) => (time ? timeLabels(ticks) : ticks.map(whole)),
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
        draw: [(plot) => this.#drawMarks(plot, timeline, time, marks)],
        setCursor: [(plot) => this.#tell(plot)],
      },
    };
  }

  /** The least height of the scale: it includes the target unless that would press the line to the ground.
   * @param {Api.Timeline} timeline */
  #top({ points, target }) {
    const most = points.reduce((top, p) => Math.max(top, p.agent ?? 0, p.pruned ?? 0), 1);
    return most > target * 0.35 ? target * 1.06 : most;
  }

  /** @param {uPlot} plot @param {Api.Timeline} timeline @param {boolean} time
   * @param {{ text: string, warn: string, accent: string }} look */
  #drawMarks(plot, timeline, time, look) {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    // A mark at either end must not be cut off.
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
      ctx.strokeStyle = ctx.fillStyle = ["compaction", "clearing"].includes(mark.kind)
        ? look.warn
        : look.accent;
      stroke(ctx, x, bbox.top, x, bbox.top + bbox.height);
      ctx.fillText(MARKS[mark.kind] ?? "", x, bbox.top + 8 * ratio);
    }
    ctx.restore();
  }

  /** Writes the figures under the cursor. @param {uPlot} plot */
  #tell(plot) {
    const place = this.querySelector(".chart-at");
    if (!place) return;
    const point = this.#shown?.points[plot.cursor.idx ?? -1];
    const followed = this.hasAttribute("followed");
    const words = point
      ? [
          `#${number(point.number)}`,
          timeOfDay(point.at, Date.now()),
          followed && point.agent !== null && `agent ${number(point.agent)}`,
          point.pruned !== null && `${followed ? "pruned " : ""}${number(point.pruned)}`,
        ]
      : [];
    place.textContent = words.filter(Boolean).join(" · ");
  }
}

/** A mark in words, for screen readers. @param {Api.Timeline["marks"][number]} mark */
function markWords({ label, number: at, before, after }) {
  const tokens = before !== null && after !== null ? `, ${number(before)} to ${number(after)} tokens` : "";
  return `${label}${at === null ? "" : ` at message ${number(at)}`}${tokens}`;
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x1 @param {number} y1 @param {number} x2
 * @param {number} y2 */
function stroke(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1 + 0.5, y1 + 0.5);
  ctx.lineTo(x2 + 0.5, y2 + 0.5);
  ctx.stroke();
}

/** A style's value as a colour that a canvas knows: only the page resolves light-dark().
 * @param {HTMLElement} host @param {string} value */
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
