// <what-if></what-if>
//
// What unsaved settings would do to one session, before they are saved: tokens after a prune, and how many messages
// would change fate. Property `settings`: the draft, or null while it equals what is saved. Emits `faults` with the
// wrong fields when the server refuses the draft.
import "../shared/context-gauge.js";
import { mainGauge, titleOf } from "../overview/sessions.js";
import { whatItDoes } from "../session/plan.js";
import { planBar } from "../session/plan-view.js";
import { ApiError, api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number, percent } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { problem } from "../shared/problem.js";
import { render } from "../shared/render.js";
import { typeName, typeReason, typeUnder } from "../shared/task-types.js";

/** @typedef {import("../shared/types.js").Plan} Plan */
/** @typedef {import("../shared/types.js").Session} Session */
/** @typedef {import("../shared/types.js").Settings} Settings */

const TYPING_MS = 250;

export class WhatIf extends CoppiceElement {
  /** @type {Session[] | null} */
  #sessions = null;
  /** @type {Session | null} */
  #session = null;
  /** @type {Settings | null} */
  #settings = null;
  /** @type {Plan | null} */
  #saved = null;
  /** @type {Plan | null} */
  #tried = null;
  #busy = false;
  /** @type {string | null} */
  #error = null;
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  /** @type {AbortController | null} */
  #asking = null;

  /** @param {Settings | null} settings */
  set settings(settings) {
    this.#settings = settings;
    this.#busy = settings !== null;
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#try(), TYPING_MS);
    this.requestUpdate();
  }

  start() {
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const id = /** @type {HTMLSelectElement} */ (event.target).value;
      this.#session = this.#sessions?.find((s) => s.id === id) ?? null;
      this.#saved = this.#tried = null;
      this.#try();
    });
    this.actions({ "retry-what-if": () => (this.#session ? this.#try() : this.#load()) });
    this.#load();
  }

  stop() {
    if (this.#timer) clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  async #load() {
    try {
      const sessions = await api.sessions();
      this.#sessions = sessions.sort((a, b) => mainGauge(b).tokens - mainGauge(a).tokens);
      this.#session = this.#sessions[0] ?? null;
      this.#error = null;
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    await this.#try();
  }

  /** Asks anew for the plan of what is saved; after saving. */
  async refresh() {
    this.#saved = null;
    await this.#try();
  }

  async #try() {
    const session = this.#session;
    if (!session) return this.requestUpdate();
    this.#asking?.abort();
    const mine = new AbortController();
    this.#asking = mine;
    try {
      this.#saved ??= await api.plan(session.id, {}, mine.signal);
      const wanted = ownFirst(session, this.#settings);
      this.#tried = wanted
        ? await api.plan(session.id, { settings: wanted, compare: true }, mine.signal)
        : null;
      if (mine.signal.aborted) return;
      this.#error = null;
      this.emit("faults", []);
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#tried = null;
      if (error instanceof ApiError && error.faults.length) this.emit("faults", error.faults);
      else this.#error = error instanceof Error ? error.message : String(error);
    }
    this.#busy = false;
    this.requestUpdate();
  }

  update() {
    const session = this.#session;
    render(
      this,
      html`<section class="panel" aria-labelledby="what-if-title"><header><h2 id="what-if-title">What it would do</h2></header>
        ${this.#error && problem("Could not try the settings", this.#error, "retry-what-if")}
        ${this.#sessions?.length === 0 ? html`<p class="pad muted">There is no session to try settings on yet.</p>` : ""}
        ${
          session &&
          html`<div class="pad what-if-body"><label class="small muted" for="what-if-session">On the session</label>
          <select id="what-if-session">${(this.#sessions ?? []).slice(0, 200).map((s) => html`<option value="${s.id}" ${s.id === session.id ? html`selected` : ""}>${titleOf(s)} (${percent(mainGauge(s).utilization)})</option>`)}</select>
          <p class="small muted">Counts as <b>${typeName(typeUnder(session, this.#settings))}</b>. ${typeReason(session, this.#settings)}</p>
          <div class="plan-bars">${this.#saved && planBar("Now", session, this.#saved.before, session.pruned.regions)}
            ${this.#saved && planBar("Saved", session, this.#saved.after, this.#saved.regions_after)}
            ${this.#tried && planBar("These", session, this.#tried.after, this.#tried.regions_after)}</div>
          <div role="status" class="what-if-words" data-busy="${this.#busy ? "true" : "false"}">${this.#words()}</div></div>`
        }
      </section>`,
    );
  }

  #words() {
    const [saved, tried] = [this.#saved, this.#tried];
    if (!saved) return html`<p class="muted">Planning…</p>`;
    if (!tried && this.#settings && !this.#busy)
      return this.#error
        ? html``
        : html`<p class="muted">A field is wrong. Correct it to see what these settings would do.</p>`;
    if (!tried)
      return html`<p class="muted">With the saved settings a prune ${whatItDoes(saved)}. Change something to see the difference here.</p>`;
    const difference = tried.after.tokens - saved.after.tokens;
    if (tried.changed === 0)
      return html`<p>No message would change fate: a prune still ${whatItDoes(tried)}.</p>`;
    return html`<p><b>${counted(tried.changed ?? 0, "message")}</b> would change fate.</p>
      <p>A prune ${whatItDoes(tried)}; with the saved settings it ${whatItDoes(saved)}. It leaves ${difference === 0 ? "as many tokens" : html`<b>${number(Math.abs(difference))}</b> tokens ${difference > 0 ? "more" : "less"}`}.</p>
      ${tried.over_budget && html`<p class="warned">${icon("warning")} ${tried.over_budget.message}</p>`}`;
  }
}

/** The draft as it would hold for a session: the task type that was chosen for it comes first.
 * @param {Session} session @param {Settings | null} settings */
function ownFirst({ task_type }, settings) {
  return settings && task_type.own ? { ...settings, task_type: task_type.setting } : settings;
}

customElements.define("what-if", WhatIf);
