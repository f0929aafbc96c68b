// <token-chart certainty="estimated" unseen="12400"></token-chart>
//
// Tokens over time or over messages, stacked by region: of the agent's context if there is one, with the
// pruned view as a line where it differs; the target as a dotted line, prunes ▼ and compactions ◆ as named
// marks. It begins where the total is known, at least the `unseen` tokens that every call sends. Property
// `value`: a Timeline; `push(point)` adds the newest point, once there is a message. Clicks on the chart, a
// mark or a named step emit `chart-message` {number}; dragging emits `chart-range` {from, to}. Drawn by uPlot
// in the theme's colours, with a text for screen readers.
import uPlot from "uplot";
import { CoppiceElement } from "../shared/element.js";
import { compact, gain, number, timeOfDay, tokens } from "../shared/format.js";
import { html } from "../shared/html.js";
import { recall, remember } from "../shared/preferences.js";
import { problem, READING } from "../shared/problem.js";
import { eventWords } from "../shared/prune-words.js";
import { mainGauge } from "../shared/session-facts.js";
import { ACTORS, CHANGES, changeOf } from "../shared/words.js";
import {
  fromFirstTotal,
  hasPrunedLine,
  hasTime,
  prefersTime,
  prunedLine,
  spreadMarks,
  stacked,
  steepest,
  timeLabels,
  withEnd,
  xOfChange,
  xValues,
} from "./chart-numbers.js";

/** A shorter drag, in pixels, is a click. */
const CLICK_PIXELS = 4;
/** The number of steps with their own button. */
const NAMED_STEPS = 4;
/** The number of events whose outcome shows at once. */
const SHOWN_EVENTS = 2;
/** A context keeps its size until the next message, so the line has steps. */
const STEPS = uPlot.paths.stepped?.({ align: 1 });

export class TokenChart extends CoppiceElement {
  static observedAttributes = ["certainty"];

  /** @type {Api.Timeline | null} */
  #value = null;
  /** The part that is drawn. @type {Api.Timeline | null} */
  #shown = null;
  /** @type {uPlot | null} */
  #plot = null;
  /** All that a plot keeps from its first draw, as text: a change of it takes a new plot. */
  #shape = "";
  #failure = "";
  /** The axis that the reader chose; null to choose by the points. */
  #chosenAxis = recall("chart-axis");
  /** The positions of the marks, in pixels from the left of the chart. @type {(number | null)[]} */
  #places = [];
  /** The pixels of the reader's font size, which the text of the chart follows. */
  #rem = 16;

  /** @param {Api.Timeline | null} value */
  set value(value) {
    this.#value = value;
    this.requestUpdate();
  }

  /** The reason why the chart could not be read, shown while there is none. @param {string} why */
  set failure(why) {
    this.#failure = why;
    this.requestUpdate();
  }

  /** Adds the size of a session as it is now. @param {Api.Session} session */
  push(session) {
    if (!this.#value || session.messages < 1) return;
    const { points, regions } = this.#value;
    const now = new Map(mainGauge(session).regions.map(({ name, tokens }) => [name, tokens]));
    const last = points.at(-1);
    const point = {
      at: session.last_activity,
      number: session.messages,
      agent: session.agent?.tokens ?? null,
      pruned: session.pruned.tokens,
      regions: regions.map((name) => now.get(name) ?? 0),
      cause: last?.number === session.messages ? last.cause : null,
    };
    if (last && last.number === point.number && last.agent === point.agent && last.pruned === point.pruned)
      return;
    this.#value = {
      ...this.#value,
      points: last?.number === point.number ? [...points.slice(0, -1), point] : [...points, point],
    };
    this.requestUpdate();
  }

  /** The axis that is drawn. @returns {import("./chart-numbers.js").Axis} */
  get #axis() {
    const points = this.#value?.points ?? [];
    const isTime = this.#chosenAxis ? this.#chosenAxis === "time" && hasTime(points) : prefersTime(points);
    return isTime ? "time" : "messages";
  }

  start() {
    this.actions({
      axis: (target) => {
        this.#chosenAxis = target.dataset.axis ?? "time";
        remember("chart-axis", this.#chosenAxis);
        this.requestUpdate();
      },
      "chart-message": ({ dataset }) => this.emit("chart-message", { number: Number(dataset.number) }),
    });
    const resized = new ResizeObserver(() => this.#resize());
    resized.observe(this);
    this.life.addEventListener("abort", () => resized.disconnect());
    const recolour = () => {
      this.#shape = "";
      this.requestUpdate();
    };
    this.listen(document, "coppice:theme", recolour);
    for (const media of ["(prefers-color-scheme: dark)", "print"])
      this.listen(matchMedia(media), "change", recolour);
  }

  stop() {
    this.#plot?.destroy();
    this.#plot = null;
    this.#shape = "";
  }

  #resize() {
    const width = this.querySelector(".chart-area")?.clientWidth ?? 0;
    const height = this.#height;
    if (this.#rem !== rootPixels()) this.requestUpdate();
    else if (this.#plot && width > 0 && (width !== this.#plot.width || height !== this.#plot.height))
      this.#plot.setSize({ width, height });
  }

  /** True where the pruned view has a line of its own. */
  get #hasLine() {
    return hasPrunedLine(this.#shown?.points ?? []);
  }

  /** The height available to the chart, which a taller neighbour stretches. */
  get #height() {
    return this.querySelector(".chart-area")?.clientHeight ?? 0;
  }

  update() {
    const value = this.#value;
    const unseen = Number(this.getAttribute("unseen") ?? 0);
    const rem = rootPixels();
    if (rem !== this.#rem) this.#shape = "";
    this.#rem = rem;
    this.#shown = value && { ...value, points: fromFirstTotal(value.points, unseen) };
    if (!this.#shown?.points.length) this.stop();
    super.update();
    if (this.#shown?.points.length) this.#draw(this.#shown);
  }

  template() {
    const timeline = this.#shown;
    if (!timeline?.points.length)
      return html`<div class="chart-empty muted">
        ${!timeline && !this.#failure && READING}
        ${timeline && "No tokens yet. The line begins with the first message."}
        ${!timeline && this.#failure && problem("Could not read the chart", this.#failure, "retry-chart")}
      </div>`;
    return html`<figure class="chart">
      <div class="chart-area" role="img" aria-label=${this.#spoken(timeline)}
        ><div class="chart-canvas"></div></div>
      ${this.#marks(timeline)}
      <figcaption class="beside chart-foot">
        ${this.#legend(timeline)}
        <span class="chart-at" aria-hidden="true"></span>
        <span class="segmented" role="group" aria-label="Horizontal axis"
          >${this.#axisButtons(timeline)}</span>
      </figcaption>
      ${this.#steps(timeline)}
      ${this.#aftermaths(timeline)}
    </figure>`;
  }

  /** The marks above the chart. @param {Api.Timeline} timeline */
  #marks({ changes }) {
    const places = spreadMarks(this.#places, this.#rem);
    return html`<ul class="chart-marks">${changes.map((mark, i) => {
      const at = places[i];
      const words = markWords(mark, this.certainty);
      return html`<li .style=${at === null || at === undefined ? "" : `left:${at}px`}>
        <button class="bare mark" data-act="chart-message" data-number=${mark.number ?? 1}
          data-mark=${mark.kind} aria-label=${words} title=${words}>${changeOf(mark.kind).mark}</button>
      </li>`;
    })}</ul>`;
  }

  /** The calls after each event that took context away, the newest first. @param {Api.Timeline} timeline */
  #aftermaths({ changes, elsewhere, window_calls: calls }) {
    const lines = changes
      .flatMap(({ kind, number: at, aftermath }) => (aftermath ? [{ kind, at: at ?? 1, aftermath }] : []))
      .sort((a, b) => b.at - a.at)
      .map(
        ({ kind, at, aftermath }) => html`<li>
          <button class="bare" data-act="chart-message" data-number=${Math.max(1, at)}
            ><span class="mark" data-mark=${kind} aria-hidden="true">${changeOf(kind).mark}</span>
            ${changeOf(kind).name} at message ${number(at)}</button>:
          ${eventWords(aftermath, elsewhere, calls)}
        </li>`,
      );
    if (lines.length === 0) return "";
    const [older, newest] = [lines.slice(SHOWN_EVENTS), lines.slice(0, SHOWN_EVENTS)];
    return html`<ul class="chart-after">${newest}</ul>
      ${
        older.length > 0 &&
        html`<details class="chart-after">
          <summary>${number(older.length)} earlier</summary><ul>${older}</ul>
        </details>`
      }`;
  }

  /** The largest steps, named, each with a link to its message. @param {Api.Timeline} timeline */
  #steps({ points }) {
    const steps = steepest(points, NAMED_STEPS);
    if (steps.length === 0) return "";
    return html`<div class="beside chart-steps"><span class="muted">Largest steps</span>${steps.map(
      ({ number: at, label, tokens: added }) =>
        html`<button class="chip" data-act="chart-message" data-number=${at} title="Message ${number(at)}"
          ><span class="mono">${label}</span
          ><span class="num">${gain(added, this.certainty)}</span></button>`,
    )}</div>`;
  }

  /** @param {Api.Timeline} timeline */
  #legend(timeline) {
    /** @param {string} line @param {string} name */
    const entry = (line, name) => html`<li><i class="line" data-line=${line}></i>${name}</li>`;
    const above = this.#top(timeline) < timeline.target ? " (above this chart)" : "";
    return html`<ul class="legend">
      ${this.#hasLine && entry("pruned", "pruned view")}
      ${entry("target", `target ${compact(timeline.target)}${above}`)}
      ${Object.entries(CHANGES).map(
        ([kind, { mark, legend }]) =>
          legend &&
          timeline.changes.some((change) => change.kind === kind) &&
          html`<li><span class="mark" data-mark=${kind}>${mark}</span>${legend}</li>`,
      )}
    </ul>`;
  }

  /** @param {Api.Timeline} timeline */
  #axisButtons({ points }) {
    const [isTime, hasTimes] = [this.#axis === "time", hasTime(points)];
    return html`<button data-act="axis" data-axis="time" aria-pressed=${isTime} ?disabled=${!hasTimes}
        title=${hasTimes ? "" : "All messages came at once"}>Time</button>
      <button data-act="axis" data-axis="messages" aria-pressed=${!isTime}>Messages</button>`;
  }

  /** @param {Api.Timeline} timeline */
  #spoken({ points, limit, target }) {
    const last = points.at(-1);
    if (!last) return "No tokens yet";
    const now = `${number(last.agent ?? last.pruned ?? 0)} of ${number(limit)}`;
    return `Tokens over ${this.#axis}, ${number(points.length)} points, now ${now}, target ${number(target)}`;
  }

  /** @param {Api.Timeline} timeline */
  #draw(timeline) {
    const data = this.#data(timeline);
    const { points, changes, target, limit, regions } = timeline;
    const shape = [points.length === 1, this.#axis, this.#hasLine, target, limit, changes, regions];
    if (this.#plot && JSON.stringify(shape) === this.#shape) return this.#plot.setData(data);
    this.#plot?.destroy();
    const holder = /** @type {HTMLElement} */ (this.querySelector(".chart-canvas"));
    holder.replaceChildren();
    this.#shape = JSON.stringify(shape);
    this.#plot = new uPlot(this.#options(timeline), data, holder);
  }

  /** @param {Api.Timeline} timeline @returns {uPlot.AlignedData} */
  #data({ points, regions }) {
    const pruned = prunedLine(points);
    const line = this.#hasLine ? [pruned, pruned] : []; // its halo, and itself
    return withEnd(xValues(points, this.#axis), [...stacked(points, regions.length), ...line], this.#axis);
  }

  /** @param {Api.Timeline} timeline @returns {uPlot.Options} */
  #options(timeline) {
    const names = timeline.regions.flatMap((name) => [`--r-${name}`, `--r-${name}-e`]);
    const own = ["--muted", "--line", "--accent", "--text", "--warn", "--surface"];
    const colours = resolved(this, [...own, ...names]);
    /** @param {string} name */
    const colour = (name) => colours.get(name) ?? "";
    const top = this.#top(timeline);
    return {
      width: Math.max(200, this.querySelector(".chart-area")?.clientWidth ?? 600),
      height: this.#height,
      padding: [0.875 * this.#rem, 1.75 * this.#rem, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false } },
      scales: {
        x: { time: this.#axis === "time" },
        y: { range: (_, __, max) => [0, Math.max(top, max * 1.08)] },
      },
      series: seriesOf(timeline, this.#hasLine, colour),
      axes: this.#axes(colour),
      hooks: {
        draw: [(plot) => this.#drawMarks(plot, colour)],
        setCursor: [(plot) => this.#showValues(plot)],
        setSelect: [(plot) => this.#emitRange(plot)],
        ready: [(plot) => this.listen(plot.over, "click", () => this.#emitMessage(plot))],
      },
    };
  }

  /** @param {(name: string) => string} colour @returns {uPlot.Axis[]} */
  #axes(colour) {
    const [rem, isTime] = [this.#rem, this.#axis === "time"];
    const line = colour("--line");
    const axis = {
      stroke: colour("--muted"),
      font: `${0.6875 * rem}px ${getComputedStyle(this).fontFamily}`,
      ticks: { stroke: line, width: 1, size: 4 },
    };
    /** @param {number} tick the number of a message */
    const whole = (tick) =>
      Number.isInteger(tick) && tick <= (this.#pointAt(Infinity)?.number ?? 0) ? number(tick) : "";
    return [
      {
        ...axis,
        grid: { show: false },
        size: 1.75 * rem,
        space: 5.625 * rem,
        values: (_, ticks) => (isTime ? timeLabels(ticks, Date.now()) : ticks.map(whole)),
      },
      {
        ...axis,
        size: 2.875 * rem,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        values: (_, ticks) => ticks.map((t) => compact(t)),
        space: 1.75 * rem,
      },
    ];
  }

  /** The point with this index; the last one for the end of the chart, where it still holds.
   * @param {number | null | undefined} index */
  #pointAt(index) {
    const points = this.#shown?.points ?? [];
    return points[Math.min(index ?? -1, points.length - 1)];
  }

  /** Emits the range that was dragged over. @param {uPlot} plot */
  #emitRange(plot) {
    const { left, width } = plot.select;
    if (width < CLICK_PIXELS) return;
    const [first, last] = [left, left + width].map((at) => this.#pointAt(plot.posToIdx(at)));
    plot.setSelect({ ...plot.select, width: 0 }, false);
    if (first && last)
      this.emit("chart-range", { from: Math.max(1, first.number), to: Math.max(1, last.number) });
  }

  /** Emits the message at the cursor: the one that caused the step there. @param {uPlot} plot */
  #emitMessage(plot) {
    const point = this.#pointAt(plot.cursor.idx);
    if (point && plot.select.width < CLICK_PIXELS)
      this.emit("chart-message", { number: point.cause?.number ?? Math.max(1, point.number) });
  }

  /** The least height of the scale. It includes the target unless that would flatten the line.
   * @param {Api.Timeline} timeline */
  #top({ points, target }) {
    const most = points.reduce((top, p) => Math.max(top, p.agent ?? 0, p.pruned), 1);
    return most > target * 0.35 ? target * 1.06 : most;
  }

  /** Draws the target and the lines of the changes, and notes where their marks belong.
   * @param {uPlot} plot @param {(name: string) => string} colour */
  #drawMarks(plot, colour) {
    const timeline = this.#shown;
    if (!timeline) return;
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    // A mark at either end must not be cut off.
    const [aside, above] = [6 * ratio, 0.875 * this.#rem * ratio];
    ctx.rect(bbox.left - aside, bbox.top - above, bbox.width + 2 * aside, bbox.height + above);
    ctx.clip();
    const y = Math.round(plot.valToPos(timeline.target, "y", true));
    ctx.strokeStyle = colour("--text");
    ctx.lineWidth = ratio;
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    stroke(ctx, bbox.left, y, bbox.left + bbox.width, y);
    ctx.setLineDash([]);
    const drawn = plot.data[0].slice(0, timeline.points.length); // without the end
    const places = timeline.changes.map((change) => {
      const at = xOfChange(change, timeline.points, drawn, this.#axis);
      if (at === null) return null;
      const x = Math.round(plot.valToPos(at, "x", true));
      for (const [width, name] of /** @type {const} */ ([
        [5, "--surface"],
        [1, changeOf(change.kind).byAgent ? "--warn" : "--accent"],
      ])) {
        ctx.lineWidth = width * ratio;
        ctx.strokeStyle = colour(name);
        stroke(ctx, x, bbox.top, x, bbox.top + bbox.height);
      }
      return Math.round(x / ratio);
    });
    ctx.restore();
    if (places.join() === this.#places.join()) return;
    this.#places = places;
    this.requestUpdate();
  }

  /** Writes the numbers under the cursor. @param {uPlot} plot */
  #showValues(plot) {
    const place = this.querySelector(".chart-at");
    if (!place) return;
    const point = this.#pointAt(plot.cursor.idx);
    const both = point && hasPrunedLine([point]);
    const words = point
      ? [
          `#${number(point.number)}`,
          timeOfDay(point.at, Date.now()),
          point.cause && `${point.cause.label} ${gain(point.cause.tokens, this.certainty)}`,
          both && `agent ${tokens(point.agent ?? 0, this.certainty)}`,
          `${both ? "pruned " : ""}${tokens(point.pruned, this.certainty)}`,
        ]
      : [];
    place.textContent = words.filter(Boolean).join(" · ");
  }
}

/** A mark in words. @param {Api.Timeline["changes"][number]} mark @param {string} certainty */
function markWords({ kind, label, number: at, before, after }, certainty) {
  const said = label.charAt(0).toUpperCase() + label.slice(1);
  const by = ACTORS[label] ? ` ${ACTORS[label]}` : label && `: ${label}`;
  // The labels of an undo and of what the agent does are sentences.
  const isSentence = label !== "" && (kind === "undo" || changeOf(kind).byAgent);
  const what = isSentence ? said : changeOf(kind).name + by;
  const where = at === null ? "" : `, at message ${number(at)}`;
  return `${what}${where}, ${tokens(before, certainty)} to ${tokens(after, certainty)} tokens`;
}

/** @param {CanvasRenderingContext2D} ctx @param {number} x1 @param {number} y1 @param {number} x2
 * @param {number} y2 */
function stroke(ctx, x1, y1, x2, y2) {
  ctx.beginPath();
  ctx.moveTo(x1 + 0.5, y1 + 0.5);
  ctx.lineTo(x2 + 0.5, y2 + 0.5);
  ctx.stroke();
}

/** The font size that the reader chose in the browser, in pixels. */
const rootPixels = () => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);

/** The page's colours in a form for a canvas, which cannot resolve light-dark(). All are read together,
 * because each reading after a change makes the browser compute styles again. @param {HTMLElement} host
 * @param {string[]} names @returns {Map<string, string>} */
function resolved(host, names) {
  const probes = names.map((name) => {
    const probe = document.createElement("span");
    probe.style.setProperty("color", `var(${name})`);
    probe.style.setProperty("forced-color-adjust", "none"); // otherwise all would have the same colour
    return probe;
  });
  host.append(...probes);
  const found = probes.map((probe) => getComputedStyle(probe).color);
  for (const probe of probes) probe.remove();
  return new Map(names.map((name, i) => [name, found[i] ?? ""]));
}

/** The regions from the top down, and the line of the pruned view, with a halo in the colour of the ground,
 * because its own is too close to those of some regions.
 * @param {Api.Timeline} timeline @param {boolean} hasLine @param {(name: string) => string} colour
 * @returns {uPlot.Series[]} */
function seriesOf({ points, regions }, hasLine, colour) {
  /** @param {string} fill */
  const look = (fill) => ({ paths: STEPS, points: { show: points.length === 1, size: 7, fill } });
  const areas = [...regions].reverse().map((name) => ({
    stroke: colour(`--r-${name}-e`),
    width: 1,
    fill: colour(`--r-${name}`),
    ...look(colour(`--r-${name}-e`)),
  }));
  const accent = colour("--accent");
  const halo = { stroke: colour("--surface"), width: 6, paths: STEPS, points: { show: false } };
  const line = hasLine ? [halo, { stroke: accent, width: 2, dash: [6, 3], ...look(accent) }] : [];
  return [{}, ...areas, ...line];
}

customElements.define("token-chart", TokenChart);
