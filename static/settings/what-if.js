// <what-if></what-if>
//
// The effect of unsaved settings on one session: tokens after a prune, and how many messages would change
// fate. Property `settings`: those being edited, or null while they equal the saved ones. Emits `faults` with
// the wrong fields when the server refuses them.
import "../shared/context-gauge.js";
import { ApiError, api } from "../shared/api.js";
import { counted, number, percent } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { whatItDoes } from "../shared/prune-words.js";
import { ReadingElement } from "../shared/reading-element.js";
import { mainGauge, titleOf } from "../shared/session-facts.js";
import { options, planBar } from "../shared/session-parts.js";
import { typeName, typeReason, typeUnder } from "../shared/task-types.js";

const TYPING_MS = 250;
const SHOWN_SESSIONS = 200;
const NONE = html`<p class="pad muted">There is no session to try settings on yet.</p>`;
const WRONG = html`<p class="muted">A field is wrong. Correct it to see what these settings would do.</p>`;

export class WhatIf extends ReadingElement {
  /** @type {Api.Session[] | null} */
  #sessions = null;
  /** @type {Api.Session | null} */
  #session = null;
  /** @type {Api.Settings | null} */
  #settings = null;
  /** @type {Api.Plan | null} */
  #saved = null;
  /** @type {Api.Plan | null} */
  #tried = null;
  #busy = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Api.Settings | null} settings */
  set settings(settings) {
    this.#settings = settings;
    this.#busy = settings !== null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.reader.restart(), TYPING_MS);
    this.requestUpdate();
  }

  start() {
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const id = /** @type {HTMLSelectElement} */ (event.target).value;
      this.#session = this.#sessions?.find((s) => s.id === id) ?? null;
      this.#saved = this.#tried = null;
      this.reader.restart();
    });
    super.start();
  }

  stop() {
    clearTimeout(this.#timer);
    super.stop();
  }

  /** Asks for the plan of the saved settings again. */
  refresh() {
    this.#saved = null;
    return this.reader.restart();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    if (!this.#sessions) {
      this.#sessions = (await api.sessions({ limit: SHOWN_SESSIONS, sort: "tokens" }, signal)).sessions;
      this.#session = this.#sessions[0] ?? null;
    }
    const session = this.#session;
    if (!session) return;
    try {
      this.#saved ??= await api.plan(session.id, {}, signal);
      const wanted = ownFirst(session, this.#settings);
      const wish = { settings: { ...wanted }, compare: true };
      this.#tried = wanted ? await api.plan(session.id, wish, signal) : null;
      if (!signal.aborted) this.emit("faults", []);
    } catch (error) {
      if (signal.aborted) return;
      this.#tried = null;
      if (!(error instanceof ApiError) || !error.faults.length) throw error;
      this.emit("faults", error.faults);
    } finally {
      if (!signal.aborted) this.#busy = false;
    }
  }

  view() {
    const session = this.#session;
    return html`<section class="panel" aria-labelledby="what-if-title">
      <header><h2 id="what-if-title">What it would do</h2></header>
      ${this.problem("Could not try the settings")}
      ${this.#sessions?.length === 0 && NONE}
      ${session && this.#comparison(session)}
    </section>`;
  }

  /** @param {Api.Session} session */
  #comparison(session) {
    const [saved, tried] = [this.#saved, this.#tried];
    const choices = (this.#sessions ?? []).map(
      (s) => /** @type {const} */ ([s.id, `${titleOf(s)} (${percent(mainGauge(s).utilization)})`]),
    );
    return html`<div class="pad what-if-body">
      <label class="small muted" for="what-if-session">On the session</label>
      <select id="what-if-session">${options(choices, session.id)}</select>
      <p class="small muted">
        Counts as <b>${typeName(typeUnder(session, this.#settings))}</b>.
        ${typeReason(session, this.#settings)}
      </p>
      <div class="plan-bars">
        ${saved && planBar("Now", session, saved.before, session.pruned.regions)}
        ${saved && planBar("Saved", session, saved.after, saved.regions_after)}
        ${tried && planBar("These", session, tried.after, tried.regions_after)}
      </div>
      <div role="status" class="what-if-words" data-busy=${this.#busy}>${this.#words()}</div>
    </div>`;
  }

  #words() {
    const [saved, tried] = [this.#saved, this.#tried];
    if (!saved) return html`<p class="muted">Planning…</p>`;
    if (!tried && this.#settings && !this.#busy) return !this.error && WRONG;
    if (!tried)
      return html`<p class="muted">
        With the saved settings a prune ${whatItDoes(saved)}. Change something to see the difference here.
      </p>`;
    if (tried.changed === 0)
      return html`<p>No message would change fate: a prune still ${whatItDoes(tried)}.</p>`;
    const more = tried.after.tokens - saved.after.tokens;
    const tokens = html`<b>${number(Math.abs(more))}</b> tokens ${more > 0 ? "more" : "less"}`;
    return html`<p><b>${counted(tried.changed ?? 0, "message")}</b> would change fate.</p>
      <p>
        A prune ${whatItDoes(tried)}; with the saved settings it ${whatItDoes(saved)}. It leaves
        ${more === 0 ? "as many tokens" : tokens}.
      </p>
      ${tried.over_budget && html`<p class="warned">${icon("warning")} ${tried.over_budget.message}</p>`}`;
  }
}

/** The settings for a session: a task type chosen for it comes first. @param {Api.Session} session
 * @param {Api.Settings | null} settings */
function ownFirst({ task_type }, settings) {
  return settings && task_type.own ? { ...settings, task_type: task_type.setting } : settings;
}

customElements.define("what-if", WhatIf);
