// <context-manager-widget session="…" server="" token="" data-theme=""></context-manager-widget>
//
// The utilization of one session and a button that prunes it, in a shadow root so that it looks the same on
// every page. Attributes, which may change: `session`; `server`, its address, by default the page's own;
// `token`, if the server needs one; `data-theme`, light or dark, by default the page's. Our own pages import
// this module; other sites load it as one script that includes its imports
// (`/static/context-manager-widget.js`). Refreshes at least every three seconds; on our own pages live, at
// most once a second. `getStatus()` returns the shown state. Emits `context:pruned` with the result of a
// prune.

import { ApiError, apiAt, root } from "../shared/api.js";
import "../shared/context-gauge.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number, percent, sentence, tokens } from "../shared/format.js";
import { html, withCode } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { reasonOf } from "../shared/problem.js";
import { prunedItems } from "../shared/prune-words.js";
import { Refresher } from "../shared/refresher.js";
import { gaugeOf, mainGauge } from "../shared/session-facts.js";
import { SHEET } from "./sheet.js";

/** @typedef {{ label: string, value: string }} Metric */
/** @typedef {{ state: "idle" | "active" | "warning", primaryMetric: Metric, secondaryMetric: Metric,
 * lastActivity: string | null, message: string }} WidgetStatus */

const EVENTS = [
  "context:stats",
  "messages:appended",
  "context:pruned",
  "context:restored",
  "settings:changed",
  "models:changed",
  "resync",
];
/** True on Coppice's own pages, which have the live connection. */
const isOurs = document.querySelector("script#choices") !== null;
/** The status of an answer about a session that does not exist. */
const NO_SESSION = 404;
const REFRESH_MS = 3000;
const INTERVAL_MS = 1000;
const TOAST_MS = 6000;
const AUTOMATIC = "Automatic management is on: the context is pruned when it crosses its target.";
const MANUAL = "Automatic management is off: the context is pruned only when you prune it.";
const VIEWING = "A viewer's token shows the context and cannot prune it.";

export class ContextManagerWidget extends CoppiceElement {
  static observedAttributes = ["session", "server", "token"];

  /** @type {Api.Stats | null} */
  #stats = null;
  /** The role of the token, or of the page's sign-in. @type {Api.Access | null} */
  #access = null;
  /** @type {string | null} */
  #error = null;
  /** @type {string | null} */
  #toast = null;
  #pruning = false;
  /** @type {typeof import("../shared/socket.js").live | null} */
  #live = null;
  /** The room that is joined; "" for none. */
  #room = "";
  #refresher = new Refresher((signal) => this.#read(signal), { interval: INTERVAL_MS });

  /** @returns {ShadowRoot} */
  get root() {
    return this.shadowRoot ?? this.attachShadow({ mode: "open" });
  }

  get #session() {
    return this.getAttribute("session") ?? "";
  }

  get #server() {
    return (this.getAttribute("server") || root).replace(/\/$/, "");
  }

  get #api() {
    return apiAt(this.#server, this.getAttribute("token") ?? "");
  }

  /** The failure, and what to do about it. @param {unknown} error */
  #problem(error) {
    const status = error instanceof ApiError ? error.status : NO_SESSION;
    const page = `${this.getAttribute("server") ? this.#server : location.origin + root}/widget`;
    const step =
      status === NO_SESSION
        ? `${page} shows the element for each session.`
        : status === 401 || status === 403
          ? "`coppice token --role viewer` makes one for the attribute token."
          : "The widget tries again by itself.";
    return `${sentence(reasonOf(error))} ${step}`;
  }

  attributeChangedCallback() {
    if (this.life.aborted) return;
    this.#stats = null;
    this.#access = null;
    this.#error = null;
    this.#toast = null;
    this.#follow();
    this.requestUpdate();
  }

  start() {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(SHEET);
    this.root.adoptedStyleSheets = [sheet];
    this.actions({ prune: () => this.prune() });
    if (isOurs) this.#listenLive();
    this.every(REFRESH_MS, () => this.refresh());
    this.#follow();
  }

  async #listenLive() {
    const { life } = this;
    const { live } = await import("../shared/socket.js");
    if (life.aborted) return;
    this.#live = live;
    this.hear(
      live,
      EVENTS,
      ({ session_id = this.#session }) => this.#isHere && session_id === this.#session && this.refresh(),
    );
    this.#join();
  }

  /** True when the session is on the page's own server, whose events arrive here. */
  get #isHere() {
    return !this.getAttribute("server");
  }

  /** Joins the room of the session, and leaves that of the session before. */
  #join() {
    const room = this.#isHere && this.#session ? `session:${this.#session}` : "";
    if (room !== this.#room) this.#live?.leave(this.#room);
    this.#room = room;
    if (room) this.#live?.join(room);
  }

  /** Follows the session named by the attributes. */
  #follow() {
    this.#join();
    this.#refresher.restart();
  }

  stop() {
    this.#live?.leave(this.#room);
    this.#refresher.stop();
  }

  refresh() {
    return this.#refresher.ask();
  }

  /** @param {AbortSignal} signal aborted once another session is shown */
  async #read(signal) {
    try {
      if (!this.#session) throw new Error("The attribute session is missing");
      const [stats, access] = await Promise.all([
        this.#api.stats(this.#session, signal),
        this.#access ?? this.#api.access(signal),
      ]);
      if (signal.aborted) return;
      this.#stats = stats;
      this.#access = access;
      this.#error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.#error = this.#problem(error);
    }
    this.requestUpdate();
  }

  /** Prunes to the aim, as a click on the button does. */
  async prune() {
    if (this.#pruning) return;
    this.#pruning = true;
    const { signal } = this.#refresher;
    this.requestUpdate();
    try {
      const applied = await this.#api.prune(this.#session, {});
      if (!signal.aborted) this.#say(prunedItems(applied.operation));
      this.emit("context:pruned", applied);
    } catch (error) {
      if (!signal.aborted) this.#say(`Not pruned: ${reasonOf(error)}`);
    }
    this.#pruning = false;
    await this.#refresher.restart();
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

  /** True if the server reports the session above its target (B17). */
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
      primaryMetric: {
        label: "Utilization",
        value: stats ? percent(mainGauge(stats.session).utilization) : "–",
      },
      secondaryMetric: {
        label: "Tokens",
        value: stats ? `${number(stats.tokens)} of ${number(stats.limit)}` : "–",
      },
      lastActivity: stats?.session.last_activity ?? null,
      message:
        this.#error ??
        (this.#warns
          ? this.#warning
          : stats
            ? `${counted(stats.items, "message")} in the context`
            : "Reading"),
    };
  }

  template() {
    const stats = this.#stats;
    const gauge = stats && mainGauge(stats.session);
    const byHand = this.#access?.role === "viewer" ? VIEWING : MANUAL;
    const of =
      stats &&
      html`${tokens(stats.tokens, gauge?.certainty)} <span class="of">of ${number(stats.limit)}</span>`;
    /** @param {string} name @param {import("../shared/html.js").Html} value */
    const figure = (name, value) => html`<div><dt>${name}</dt><dd>${value ?? "–"}</dd></div>`;
    return html`<section class="widget" aria-label="Context" data-state=${this.getStatus().state}>
      ${this.#warns && html`<p class="banner" role="alert">${icon("warning")}${this.#warning}</p>`}
      ${this.#error && html`<p class="fault" role="alert">${withCode(this.#error)}</p>`}
      <dl>
        ${figure("Messages", stats && number(stats.items))} ${figure("Tokens", of)}
        ${figure("Utilization", gauge && percent(gauge.utilization))}
      </dl>
      <context-gauge label="Utilization" .value=${stats && gaugeOf(stats.session)}>
      </context-gauge>
      <div class="foot">
        <button data-act="prune" ?disabled=${this.#access?.role !== "operator"} aria-disabled=${this.#pruning}
          >Prune Context Now</button>
        <p class="info">${stats && (stats.session.automatic ? AUTOMATIC : byHand)}</p>
      </div>
      ${this.#toast && html`<p class="toast" role="status">${this.#toast}</p>`}
    </section>`;
  }
}

if (!customElements.get("context-manager-widget"))
  customElements.define("context-manager-widget", ContextManagerWidget);
