// <context-manager-widget session-id="…" base-url=""></context-manager-widget>
//
// The utilization of one session and the button that prunes it, for any page of ours; in a shadow root so
// that it looks the same everywhere. Attributes, which may change: `session-id`, and `base-url`, the address
// of the server, by default that of the page. Refreshes live, at most once a second and at least every three.
// `getStatus()` returns what it shows. Emits `context:pruned` with the result of a prune.

import { apiAt } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { number, percent } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { reasonOf } from "../shared/problem.js";
import { prunedItems } from "../shared/prune-words.js";
import { Reader } from "../shared/reader.js";
import { root } from "../shared/root.js";
import { live } from "../shared/socket.js";
import { WIDGET_STYLE } from "./style.js";

/** @typedef {{ label: string, value: string }} Metric */
/** @typedef {{ state: "idle" | "active" | "warning", primaryMetric: Metric, secondaryMetric: Metric,
 * lastActivity: string | null, message: string }} WidgetStatus */

const REFRESH_MS = 3000;
const CALM_MS = 1000;
const TOAST_MS = 6000;
const AUTOMATIC = "Automatic management is on: the context is pruned when it crosses its target.";
const MANUAL = "Automatic management is off: the context is pruned when you say so.";

export class ContextManagerWidget extends CoppiceElement {
  static observedAttributes = ["session-id", "base-url"];

  /** @type {Api.Stats | null} */
  #stats = null;
  /** @type {string | null} */
  #error = null;
  /** @type {string | null} */
  #toast = null;
  #pruning = false;
  #reader = new Reader((signal) => this.#read(signal), { calm: CALM_MS });

  /** @returns {ShadowRoot} */
  get root() {
    return this.shadowRoot ?? this.attachShadow({ mode: "open" });
  }

  get #session() {
    return this.getAttribute("session-id") ?? "";
  }

  get #api() {
    return apiAt((this.getAttribute("base-url") ?? root).replace(/\/$/, ""));
  }

  attributeChangedCallback() {
    if (this.life.aborted) return;
    this.#stats = null;
    this.#error = null;
    this.#toast = null;
    this.#follow();
    this.requestUpdate();
  }

  start() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(WIDGET_STYLE);
    this.root.adoptedStyleSheets = [sheet];
    this.actions({ prune: () => this.prune() });
    this.hear(
      live,
      [
        "context:stats",
        "messages:appended",
        "context:pruned",
        "context:restored",
        "settings:changed",
        "models:changed",
      ],
      ({ session_id = this.#session }) => this.#isHere && session_id === this.#session && this.refresh(),
    );
    this.every(REFRESH_MS, () => this.refresh());
    this.#follow();
  }

  /** True when the session is on the page's own server, whose events arrive here. */
  get #isHere() {
    return !this.getAttribute("base-url");
  }

  /** Follows the session that the attributes name. */
  #follow() {
    if (this.#isHere && this.#session) live.join(`session:${this.#session}`);
    this.#reader.restart();
  }

  stop() {
    this.#reader.stop();
  }

  refresh() {
    return this.#reader.ask();
  }

  /** @param {AbortSignal} signal aborted once another session is shown */
  async #read(signal) {
    if (!this.#session) return;
    try {
      const stats = await this.#api.stats(this.#session, signal);
      if (signal.aborted) return;
      this.#stats = stats;
      this.#error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.#error = reasonOf(error);
    }
    this.requestUpdate();
  }

  /** Prunes to the aim, as a click on the button does. */
  async prune() {
    if (this.#pruning) return;
    this.#pruning = true;
    const { signal } = this.#reader;
    this.requestUpdate();
    try {
      const applied = await this.#api.prune(this.#session, {});
      if (!signal.aborted) this.#say(prunedItems(applied.operation));
      this.emit("context:pruned", applied);
    } catch (error) {
      if (!signal.aborted) this.#say(`Not pruned: ${reasonOf(error)}`);
    }
    this.#pruning = false;
    await this.#reader.restart();
  }

  /** @param {string} message */
  #say(message) {
    this.#toast = message;
    this.requestUpdate();
    setTimeout(() => {
      if (this.#toast === message) this.#toast = null;
      this.requestUpdate();
    }, TOAST_MS);
  }

  /** The server says so: above the session's own target (B17). */
  get #warns() {
    return this.#stats?.needsPruning ?? false;
  }

  get #warning() {
    return `Context exceeds ${this.#stats?.session.target_percent ?? 0}% capacity - pruning recommended`;
  }

  /** The shown state as data. @returns {WidgetStatus} */
  getStatus() {
    const stats = this.#stats;
    const state = this.#warns
      ? "warning"
      : stats?.session.activity === "working" || stats?.session.state === "active"
        ? "active"
        : "idle";
    return {
      state,
      primaryMetric: { label: "Utilization", value: stats ? percent(stats.utilizationPercent) : "–" },
      secondaryMetric: {
        label: "Tokens",
        value: stats ? `${number(stats.tokens)} of ${number(stats.limit)}` : "–",
      },
      lastActivity: stats?.session.last_activity ?? null,
      message:
        this.#error ??
        (this.#warns ? this.#warning : stats ? `${number(stats.items)} messages in the context` : "Reading"),
    };
  }

  view() {
    const stats = this.#stats;
    const used = stats?.utilizationPercent ?? 0;
    const shown = Math.min(100, used);
    const of = stats && html`${number(stats.tokens)} <span class="of">of ${number(stats.limit)}</span>`;
    /** @param {string} name @param {import("../shared/html.js").Html} value */
    const figure = (name, value) => html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`;
    return html`<section class="widget" aria-label="Context" data-state=${this.getStatus().state}>
      ${this.#warns && html`<p class="banner" role="alert">${icon("warning")}${this.#warning}</p>`}
      ${this.#error && html`<p class="fault" role="alert">${this.#error}</p>`}
      <dl>
        ${figure("Messages", stats && number(stats.items))} ${figure("Tokens", of)}
        ${figure("Utilization", stats && percent(used))}
      </dl>
      <div class="track" role="progressbar" aria-label="Utilization" aria-valuemin="0" aria-valuemax="100"
        aria-valuenow=${Math.round(shown)} aria-valuetext=${percent(used)}
        ><i .style="--w:${shown}%"></i></div>
      <div class="foot">
        <button data-act="prune" ?disabled=${this.#pruning || !stats}>Prune Context Now</button>
        <p class="info">${stats?.session.automatic ? AUTOMATIC : MANUAL}</p>
      </div>
      ${this.#toast && html`<p class="toast" role="status">${this.#toast}</p>`}
    </section>`;
  }
}

customElements.define("context-manager-widget", ContextManagerWidget);
