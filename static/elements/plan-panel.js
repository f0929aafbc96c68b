// <plan-panel></plan-panel>
//
// A prune before it happens: bars before and after, what goes grouped by reason, what it costs and saves, a what-if.
// Property `session` (a Session). Emits `plan-changed` {plan} whenever there is another plan, `pruned` {applied} once it
// was applied. `plan()` makes a plan, `apply()` carries out the one that is shown, and only that one.
import { ApiError, api } from "../lib/api.js";
import { CoppiceElement } from "../lib/element.js";
import { counted, money, number, percent, percentSet, sentence } from "../lib/format.js";
import { regionsAfter } from "../lib/gauge.js";
import { html } from "../lib/html.js";
import { icon } from "../lib/icons.js";
import { panelText } from "../lib/message-row.js";
import { doesSomething, groupsOf, planVerb, rowsByCause, SHORTENED, sinceSentence } from "../lib/plan.js";
import { render } from "../lib/render.js";
import { limitsOf } from "../lib/session-row.js";
import { strategyName } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Plan} Plan */
/** @typedef {import("../lib/types.js").Session} Session */
/** @typedef {import("../lib/types.js").Message} Message */

const SHOWN_ROWS = 40;
const TYPING_MS = 250;
const CALM_MS = 700;

export class PlanPanel extends CoppiceElement {
  /** @type {Session | null} */
  #session = null;
  /** @type {Plan | null} */
  #plan = null;
  #plannedMessages = 0;
  /** @type {Map<string, number>} spared messages and their numbers */
  #spared = new Map();
  /** @type {{ max_tokens?: number, strategy?: string }} */
  #wish = {};
  #busy = false;
  /** @type {string | null} */
  #note = null;
  /** @type {string | null} */
  #error = null;
  /** @type {string[]} what can be chosen, from the settings */
  #strategies = [];
  /** @type {Set<string>} */
  #openGroups = new Set();
  /** @type {Set<string>} */
  #allOf = new Set();
  /** @type {ReturnType<typeof setTimeout> | null} */
  #timer = null;
  /** @type {AbortController | null} */
  #asking = null;

  /** @param {Session | null} session */
  set session(session) {
    this.#session = session;
    this.#followChanges();
    this.requestUpdate();
  }

  get current() {
    return this.#plan;
  }

  start() {
    this.actions({
      "apply-plan": () => this.apply(),
      "plan-again": () => this.plan(),
      group: (target) => this.#flip(this.#openGroups, target.dataset.cause ?? ""),
      "all-of": (target) => this.#flip(this.#allOf, target.dataset.cause ?? ""),
      spare: (target) => this.#spare(target.dataset.id ?? "", Number(target.dataset.number)),
      "spare-not": (target) => {
        this.#spared.delete(target.dataset.id ?? "");
        this.plan();
      },
      "wish-reset": () => {
        this.#wish = {};
        this.plan();
      },
    });
    this.listen(this, "input", (/** @type {Event} */ event) =>
      this.#wishes(/** @type {HTMLInputElement} */ (event.target)),
    );
    this.listen(this, "pointerleave", () => this.#followChanges());
    this.#readStrategies();
  }

  stop() {
    if (this.#timer) clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  async #readStrategies() {
    try {
      this.#strategies = (await api.settings()).limits.strategy?.choices ?? [];
    } catch {
      // The plan's own strategy can still be shown.
    }
    this.requestUpdate();
  }

  /** @param {Set<string>} set @param {string} key */
  #flip(set, key) {
    if (!set.delete(key)) set.add(key);
    this.requestUpdate();
  }

  /** @param {string} id @param {number} messageNumber */
  #spare(id, messageNumber) {
    this.#spared.set(id, messageNumber);
    this.plan();
  }

  /** @param {HTMLInputElement} field */
  #wishes(field) {
    const limit = this.#session?.limit ?? 0;
    if (field.name === "aim") {
      const share = Number(field.value);
      if (!(share > 0) || share > 100) return;
      this.#wish.max_tokens = Math.round((limit * share) / 100);
    } else if (field.name === "strategy") this.#wish.strategy = field.value;
    else return;
    this.requestUpdate();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.plan(), TYPING_MS);
  }

  /** Plans again when the session has changed, but moves no row under the reader's pointer and no slider in the hand. */
  #followChanges() {
    if (!this.#plan || !this.#session || this.#busy || this.#session.version === this.#plan.version) return;
    const reading = this.#openGroups.size > 0 && this.matches(":hover");
    if (reading || this.querySelector(":is(input, select):focus")) return this.requestUpdate();
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.plan(this.#note), CALM_MS);
  }

  /** Makes a plan for the session as it is now. @param {string | null} [note] */
  async plan(note = null) {
    const session = this.#session;
    if (!session) return;
    if (this.#timer) clearTimeout(this.#timer);
    this.#asking?.abort();
    const mine = new AbortController();
    this.#asking = mine;
    this.#note = note;
    this.requestUpdate();
    try {
      const spare = [...this.#spared.keys()];
      const plan = await api.plan(
        session.id,
        { ...this.#wish, ...(spare.length ? { spare } : {}) },
        mine.signal,
      );
      if (mine.signal.aborted) return;
      this.#plan = plan;
      this.#plannedMessages = session.messages;
      this.#error = null;
      this.emit("plan-changed", { plan });
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  async apply() {
    const plan = this.#plan;
    if (!plan || this.#busy || !doesSomething(plan)) return;
    this.#busy = true;
    this.requestUpdate();
    try {
      const applied = await api.prune(plan.session_id, { plan_id: plan.plan_id });
      this.#note = null;
      this.#spared.clear();
      this.#wish = {};
      this.#plan = null;
      this.#busy = false;
      this.emit("pruned", { applied, plan });
    } catch (error) {
      this.#busy = false;
      if (error instanceof ApiError && error.status === 409)
        await this.plan(
          "The session had changed since the plan was made, so nothing was pruned. This is a new plan for it as it is now.",
        );
      else this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  update() {
    const [plan, session] = [this.#plan, this.#session];
    if (!session) return;
    const stale = plan !== null && session.version !== plan.version && !this.#busy;
    render(
      this,
      html`<div class="panel-body" data-key="body">
        ${this.#error && html`<div class="problem" data-key="error" role="alert">${icon("error")}<span>No plan: ${this.#error}</span><button class="small" data-act="plan-again">Try again</button></div>`}
        ${this.#note && html`<p class="note-box" data-key="note" role="status">${this.#note}</p>`}
        ${stale && !this.#note && html`<p class="note-box" data-key="stale" role="status">${sinceSentence(this.#plannedMessages, session.messages)} <button class="small" data-act="plan-again">Plan again</button></p>`}
        ${plan ? this.#body(plan, session) : !this.#error && html`<p class="muted pad" data-key="busy">Planning…</p>`}
      </div>
      ${
        plan &&
        html`<footer class="panel-foot" data-key="foot"><button class="primary" data-act="apply-plan" ${this.#busy || !doesSomething(plan) ? html`disabled` : ""}>${planVerb(plan)} <kbd>⏎</kbd></button>
        <span class="small muted nowrap">${doesSomething(plan) ? "Can be undone." : ""}</span></footer>`
      }`,
    );
  }

  /** @param {Plan} plan @param {Session} session */
  #body(plan, session) {
    return html`<div class="plan-bars" data-key="bars">${this.#bar("Now", session, plan.before.tokens, plan.before.utilization, session.pruned.regions)}
        ${this.#bar("After", session, plan.after.tokens, plan.after.utilization, regionsAfter(session.pruned, plan.removed, plan.after.tokens) ?? [{ name: "rest", tokens: plan.after.tokens }])}</div>
      ${plan.over_budget && html`<p class="note-box" data-kind="warning" data-key="over" role="status">${icon("warning")}<span>${sentence(plan.over_budget.message) || html`What is protected takes ${number(plan.over_budget.protected_tokens)} tokens, more than the ${number(plan.over_budget.max_tokens)} aimed at.`}</span></p>`}
      ${plan.nothing_to_do && html`<p class="note-box" data-key="nothing" role="status">${sentence(plan.nothing_to_do)}</p>`}
      ${this.#sparedList()}
      ${this.#groups(plan)}
      ${this.#cache(plan)}
      ${this.#whatIf(plan, session)}`;
  }

  /** @param {string} label @param {Session} session @param {number} tokens @param {number} utilization @param {{ name: string, tokens: number }[]} regions */
  #bar(label, session, tokens, utilization, regions) {
    const gauge = { tokens, utilization, certainty: session.pruned.certainty, messages: 0, regions };
    return html`<span class="muted">${label}</span><context-gauge label="${label}" data="${JSON.stringify({ gauge, limits: limitsOf(session) })}"></context-gauge><span class="num">${number(tokens)}</span><b class="num">${percent(utilization)}</b>`;
  }

  /** @param {Plan} plan */
  #groups(plan) {
    const groups = groupsOf(plan);
    if (groups.length === 0) return html``;
    const rows = rowsByCause(plan);
    return html`<div class="groups" data-key="groups">${groups.map((group) => {
      const open = this.#openGroups.has(group.cause);
      const list = rows.get(group.cause) ?? [];
      const shortened = group.cause === SHORTENED;
      return html`<section data-key="${group.cause}"><button class="bare group" data-act="group" data-cause="${group.cause}" aria-expanded="${open ? "true" : "false"}">${icon(open ? "down" : "right")}<span>${shortened && icon("torn")} ${sentence(group.label).slice(0, -1)}<small class="muted">${counted(group.messages, shortened ? "output" : "message")}</small></span><span class="num">−${number(group.tokens)}</span></button>
        ${
          open &&
          html`<ul class="group-rows" data-fate="${shortened ? "shortened" : "goes"}">${(this.#allOf.has(group.cause) ? list : list.slice(0, SHOWN_ROWS)).map((m) => this.#row(m))}
          ${list.length > SHOWN_ROWS && html`<li><button class="small" data-act="all-of" data-cause="${group.cause}">${this.#allOf.has(group.cause) ? "Show fewer" : `Show all ${number(list.length)}`}</button></li>`}
          ${list.length < group.messages && html`<li class="muted small">the first ${number(list.length)} of ${number(group.messages)}; the list shows all of them under ${shortened ? "Shortened" : "Goes"}</li>`}</ul>`
        }</section>`;
    })}<p class="total"><span>Freed</span><b class="num">−${number(plan.freed)}</b></p></div>`;
  }

  /** @param {Message} message */
  #row(message) {
    return html`<li data-key="${message.id}"><span class="num muted">${number(message.number)}</span>${panelText(message)}<span class="num">${number(message.tokens)}</span><button class="small" data-act="spare" data-id="${message.id}" data-number="${message.number}" aria-label="Spare message ${message.number}">Spare</button></li>`;
  }

  #sparedList() {
    if (this.#spared.size === 0) return html``;
    return html`<div class="spared" data-key="spared"><span class="muted">Spared by you</span><ul class="chips">${[
      ...this.#spared,
    ].map(
      ([id, n]) =>
        html`<li data-key="${id}"><button class="chip" data-act="spare-not" data-id="${id}" aria-label="No longer spare message ${n}">#${number(n)}${icon("close")}</button></li>`,
    )}</ul></div>`;
  }

  /** @param {Plan} plan */
  #cache({ cache, removed_count, shortened_count }) {
    if (!cache || removed_count + shortened_count === 0) return html``;
    /** @param {number} tokens @param {number | null} cost */
    const both = (tokens, cost) =>
      html`${number(tokens)}${cost !== null && html`<span class="muted"> · ${money(cost, cache.currency)}</span>`}`;
    const back = cache.break_even_calls;
    return html`<dl class="kv" data-key="cache"><dt>Saved on every next call</dt><dd>${both(cache.saved_per_call, cache.saved_cost)}</dd><dt>Cache rewritten once</dt><dd>${both(cache.rewritten_once, cache.rewrite_cost)}</dd>
      ${back !== null && html`<dt>Pays back after</dt><dd>${counted(Math.max(1, Math.ceil(back)), "call")}</dd>`}
      ${cache.saved_cost !== null && html`<dt class="small wide-dt">Tokens, and money at list price.</dt>`}</dl>`;
  }

  /** @param {Plan} plan @param {Session} session */
  #whatIf(plan, session) {
    const aim = Math.round(((this.#wish.max_tokens ?? plan.max_tokens) / session.limit) * 1000) / 10;
    const strategy = this.#wish.strategy ?? plan.strategy;
    const names = this.#strategies.includes(strategy) ? this.#strategies : [...this.#strategies, strategy];
    const changed = this.#wish.max_tokens !== undefined || this.#wish.strategy !== undefined;
    return html`<fieldset class="what-if" data-key="whatif"><legend>What if</legend>
      <label for="plan-aim">Cut to</label><input id="plan-aim" type="range" name="aim" min="5" max="100" step="1" value="${Math.round(aim)}" aria-valuetext="${percentSet(aim)}"><output class="num">${percentSet(aim)}</output>
      <label for="plan-strategy">Choose</label><select id="plan-strategy" name="strategy">${names.map((name) => html`<option value="${name}" ${name === strategy ? html`selected` : ""}>${strategyName(name)}</option>`)}</select>${changed && html`<button class="small" data-act="wish-reset">Reset</button>`}
    </fieldset>`;
  }
}

customElements.define("plan-panel", PlanPanel);
