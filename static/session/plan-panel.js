// <plan-panel></plan-panel>
//
// A prune before it happens: bars before and after, what goes grouped by reason, what it costs and saves, a what-if.
// Properties: `session` (a Session), `choices` (what the reader chose; kept by the page, so that it outlives the panel).
// Emits `plan-changed` {plan} whenever there is another plan, `pruned` {applied} once it was applied. `plan()` makes a
// plan, `apply()` carries out the one that is shown, and only that one. Once the session has outgrown its plan it makes
// another, at most every CALM_MS, and until then shows the old one.
import "../shared/context-gauge.js";
import { ApiError, api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { html } from "../shared/html.js";
import { problem } from "../shared/problem.js";
import { render } from "../shared/render.js";
import { Choices } from "./choices.js";
import { doesSomething, planRequest, planVerb, sinceSentence } from "./plan.js";
import { chosen, planBody, planTitle } from "./plan-view.js";

/** @typedef {import("../shared/types.js").Plan} Plan */
/** @typedef {import("../shared/types.js").Session} Session */

const TYPING_MS = 250;
const CALM_MS = 700;
const OUTGROWN =
  "The session or its settings had changed since the plan was made, so nothing was pruned. This is a new plan for it as it is now.";

export class PlanPanel extends CoppiceElement {
  /** @type {Session | null} */
  #session = null;
  /** @type {Plan | null} */
  #plan = null;
  #plannedMessages = 0;
  #choices = new Choices();
  /** @type {import("./plan.js").Wish} */
  #wish = {};
  #busy = false;
  /** Whether settings or limits have changed since the plan was made. */
  #outdated = false;
  /** Whether the plan is outgrown and stays while the reader is at it. */
  #held = false;
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
  /** @type {ReturnType<typeof setTimeout> | null} */
  #follow = null;
  /** @type {AbortController | null} */
  #asking = null;

  /** @param {Session | null} session */
  set session(session) {
    this.#session = session;
    this.#followChanges();
    this.requestUpdate();
  }

  /** @param {Choices} choices */
  set choices(choices) {
    this.#choices = choices;
  }

  /** Whether the session has changed since the plan was made, or what plans go by. */
  get #outgrown() {
    const { version = 0 } = this.#session ?? {};
    return this.#plan !== null && (this.#outdated || version > this.#plan.version);
  }

  /** Says that settings or limits are others now: the plan that is shown is made again. */
  outdate() {
    this.#outdated = true;
    this.#followChanges();
  }

  /** Moves the focus to the panel's heading. */
  focusHeading() {
    this.update();
    this.querySelector("h2")?.focus({ preventScroll: true });
  }

  start() {
    this.#followChanges();
    this.actions({
      "apply-plan": () => this.apply(),
      relieve: () => this.#relieve(),
      "plan-again": () => this.plan(),
      group: (target) => this.#flip(this.#openGroups, target.dataset.cause ?? ""),
      "all-of": (target) => this.#flip(this.#allOf, target.dataset.cause ?? ""),
      spare: ({ dataset }) =>
        this.#choose(() => this.#choices.spare({ id: dataset.id ?? "", number: Number(dataset.number) })),
      forget: ({ dataset }) => this.#choose(() => this.#choices.forget(dataset.id ?? "")),
      "forget-all": ({ dataset }) =>
        this.#choose(() =>
          this.#choices.forgetAll(/** @type {import("./choices.js").Kind} */ (dataset.kind)),
        ),
      "also-prune": () =>
        this.#choose(() => {
          this.#wish.max_tokens = this.#session?.aim_tokens;
        }),
      "wish-reset": () =>
        this.#choose(() => {
          this.#wish = {};
        }),
    });
    this.listen(this, "input", (/** @type {Event} */ event) =>
      this.#wishes(/** @type {HTMLInputElement} */ (event.target)),
    );
    for (const name of ["pointerleave", "focusout"]) this.listen(this, name, () => this.#followChanges());
    this.#readStrategies();
  }

  stop() {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#follow) clearTimeout(this.#follow);
    this.#follow = null;
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

  /** @param {() => void} change of what is wanted */
  #choose(change) {
    change();
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

  /**
   * Plans again when the session has changed, but moves no row under the reader's pointer and no slider in the hand.
   * Further changes do not put it off, or a busy session would never be planned for.
   */
  #followChanges() {
    if (!this.#outgrown || this.#busy || this.#follow) return;
    const reading = this.#openGroups.size > 0 && this.matches(":hover");
    this.#held = reading || this.querySelector(":is(input, select):focus") !== null;
    if (this.#held) return this.requestUpdate();
    this.#follow = setTimeout(() => {
      this.#follow = null;
      if (this.#outgrown) this.plan(this.#note);
    }, CALM_MS);
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
    this.#held = this.#outdated = false;
    this.requestUpdate();
    try {
      const request = planRequest(this.#wish, this.#choices, session);
      const plan = await api.plan(session.id, request, mine.signal);
      if (mine.signal.aborted) return;
      this.#plan = plan;
      this.#plannedMessages = session.messages;
      this.#error = null;
      this.emit("plan-changed", { plan });
      this.#followChanges();
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** The emergency path, offered where what is protected takes more than what is usable. */
  async #relieve() {
    if (!this.#plan || this.#busy) return;
    this.#busy = true;
    try {
      const applied = await api.relieve(this.#plan.session_id);
      this.#plan = null;
      this.emit("pruned", { applied });
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.#busy = false;
    this.requestUpdate();
  }

  async apply() {
    const plan = this.#plan;
    if (!plan || this.#busy || !doesSomething(plan)) return;
    if (this.#outgrown) return this.plan(OUTGROWN);
    this.#busy = true;
    this.requestUpdate();
    const { ids } = this.#choices;
    try {
      const applied = await api.prune(plan.session_id, { plan_id: plan.plan_id });
      this.#note = null;
      for (const id of ids) this.#choices.forget(id);
      this.#wish = {};
      this.#plan = null;
      this.#busy = false;
      this.emit("pruned", { applied });
    } catch (error) {
      this.#busy = false;
      if (error instanceof ApiError && error.status === 409) await this.plan(OUTGROWN);
      else this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  update() {
    const [plan, session] = [this.#plan, this.#session];
    if (!session) return;
    const alone = this.#choices.takes && this.#wish.max_tokens === undefined;
    render(
      this,
      html`<div class="panel-body" data-key="body">
        <h2 class="plan-title" data-key="title" tabindex="-1">${planTitle(plan, session, alone)}</h2>
        ${this.#error && problem("No plan", this.#error, "plan-again")}
        ${this.#note && html`<p class="note-box" data-key="note" role="status">${this.#note}</p>`}
        ${this.#held && !this.#note && html`<p class="note-box" data-key="stale" role="status">${sinceSentence(this.#plannedMessages, session.messages, this.#outdated)} <button class="small" data-act="plan-again">Plan again</button></p>`}
        ${plan ? planBody({ plan, session, choices: this.#choices, wish: this.#wish, open: this.#openGroups, all: this.#allOf, strategies: this.#strategies }) : this.#error ? chosen({ session, choices: this.#choices, wish: this.#wish }) : html`<p class="muted pad" data-key="busy">Planning…</p>`}
      </div>
      ${
        plan &&
        html`<footer class="panel-foot" data-key="foot"><button class="primary" data-act="apply-plan" ${this.#busy || !doesSomething(plan) ? html`disabled` : ""}>${this.#busy && plan.summary ? "Writing the summary…" : planVerb(plan)} <kbd>⏎</kbd></button>
        <span class="small muted nowrap">${!doesSomething(plan) ? "" : this.#busy && plan.summary?.by_model ? "The model may take a while." : "Can be undone."}</span></footer>`
      }`,
    );
  }
}

customElements.define("plan-panel", PlanPanel);
