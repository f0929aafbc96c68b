// <plan-panel></plan-panel>
//
// A prune before it happens: bars before and after, what goes by reason, costs and savings, a what-if.
// Properties: `session`, and `choices`, which the page keeps so that they outlive the panel. Emits
// `plan-changed` {plan} for each new plan and `pruned` {applied} when one was applied. `plan()` makes a plan,
// `apply()` applies the one shown, `recall()` takes what is tried from the address, where it is kept.
// When the session changes, a new plan replaces it, at most every INTERVAL_MS.
import { focusOn } from "../shared/keys.js";
import "../shared/context-gauge.js";
import * as address from "../shared/address.js";
import { ApiError, api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { html, nothing, withCode } from "../shared/html.js";
import { problem, reasonOf } from "../shared/problem.js";
import { pauseAfter } from "../shared/refresher.js";
import { whenLive } from "../shared/socket.js";
import { toast, toastError } from "../shared/toast.js";
import { Choices, NO_CHOICES } from "./choices.js";
import {
  doesSomething,
  foldsOf,
  NO_TRIAL,
  optionsOf,
  planRequest,
  planVerb,
  sinceSentence,
  takesOnlyChosen,
  trialOf,
} from "./plan.js";
import { chosen, planBody, planTitle } from "./plan-body.js";
import { enter, toSave, withoutOwn } from "./tuning.js";

const TYPING_MS = 250;
const INTERVAL_MS = 700;
/** Planning again takes at most this share of the time. */
const SHARE = 0.2;
const PLANNING = html`<p class="muted pad">Planning…</p>`;
const STALE = "The session or its settings had changed, so nothing was pruned. This is a new plan.";

export class PlanPanel extends CoppiceElement {
  /** @type {Api.Session | null} */
  #session = null;
  /** @type {Api.Plan | null} */
  #plan = null;
  /** The request that the plan answers. */
  #request = "";
  /** The session of the plan shown. @type {Api.Session | null} */
  #planned = null;
  /** Milliseconds until a plan that became stale is made again. */
  #pause = INTERVAL_MS;
  #choices = new Choices();
  /** @type {import("./plan.js").PlanOptions} */
  #options = {};
  #busy = false;
  /** True when settings or limits changed after the plan was made. */
  #outdated = false;
  /** True while a stale plan stays because the reader is using it. */
  #held = false;
  /** @type {string | null} */
  #note = null;
  /** The reason why no plan was made; empty without a failure. */
  #planFailure = "";
  /** The same for the plan shown, which could not be applied. */
  #applyFailure = "";
  #folds = foldsOf(NO_TRIAL);
  /** The wait for the end of typing. @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;
  /** The wait until a stale plan is made again. @type {ReturnType<typeof setTimeout> | undefined} */
  #replanning;
  /** The request for a plan. @type {AbortController | null} */
  #planning = null;

  /** @param {Api.Session | null} session */
  set session(session) {
    this.#session = session;
    if (!this.#stale) this.#planned = session;
    this.#followChanges();
    this.requestUpdate();
  }

  /** @param {Choices} choices */
  set choices(choices) {
    this.#choices = choices;
  }

  /** True when the session, the settings or the limits changed after the plan was made. */
  get #stale() {
    const { version = 0 } = this.#session ?? {};
    return this.#plan !== null && (this.#outdated || version > this.#plan.version);
  }

  /** Makes the plan that is shown again, because settings or limits have changed. */
  outdate() {
    this.#outdated = true;
    this.#followChanges();
  }

  /** Makes a plan that cuts to so many tokens, whatever was chosen before. @param {number} tokens */
  aimAt(tokens) {
    this.#options = { max_tokens: tokens };
    this.#writeAddress(address.write);
    this.plan();
  }

  /** Moves the focus to the panel's heading. */
  focusHeading() {
    this.update();
    focusOn(this.querySelector("h2"), { preventScroll: true });
  }

  start() {
    this.#readAddress();
    this.#followChanges();
    this.#listenToButtons();
    this.#listenToFields();
    // A plan that failed is made again when the connection is back.
    whenLive(() => (this.#planFailure || this.#applyFailure) && this.plan(this.#note), this.life);
    for (const name of ["pointerleave", "focusout"]) this.listen(this, name, () => this.#followChanges());
  }

  #listenToButtons() {
    this.actions({
      "apply-plan": () => this.apply(),
      relieve: () => this.#relieve(),
      "plan-again": () => this.plan(),
      group: (target) => this.#flip(this.#folds.open, target.dataset.cause ?? ""),
      "all-of": (target) => this.#flip(this.#folds.all, target.dataset.cause ?? ""),
      spare: ({ dataset }) =>
        this.#choose(() => this.#choices.spare({ id: dataset.id ?? "", number: Number(dataset.number) })),
      forget: ({ dataset }) => this.#choose(() => this.#choices.forget(dataset.id ?? "")),
      "forget-all": ({ dataset: { kind } }) => this.#choose(() => this.#choices.forgetAll(kind)),
      "also-prune": () => this.#setOptions({ ...this.#options, max_tokens: this.#session?.aim_tokens }),
      "options-reset": () => this.#setOptions({}),
      "save-session": () => this.#save("Saved for this session.", () => this.#patch(toSave(this.#options))),
      "save-all": () => this.#save("Saved for all sessions.", () => this.#saveForAll()),
      "follow-all": () =>
        this.#save("This session uses the settings of all sessions.", () =>
          this.#patch(this.#plan ? withoutOwn(this.#plan) : {}),
        ),
    });
  }

  #listenToFields() {
    this.listen(this, "input", (/** @type {Event} */ event) =>
      this.#readField(/** @type {HTMLInputElement} */ (event.target)),
    );
    const toggled = (/** @type {Event} */ { target }) => {
      if (!(target instanceof HTMLDetailsElement) || target.open === this.#folds.weighing) return;
      this.#folds.weighing = target.open;
      this.#writeAddress(address.step);
    };
    this.addEventListener("toggle", toggled, { capture: true, signal: this.life }); // it does not bubble
  }

  stop() {
    clearTimeout(this.#typing);
    clearTimeout(this.#replanning);
    this.#replanning = undefined;
    this.#planning?.abort();
  }

  /** @param {Set<string>} set @param {string} key */
  #flip(set, key) {
    if (!set.delete(key)) set.add(key);
    this.#writeAddress(address.step);
    this.requestUpdate();
  }

  /** @param {import("./plan.js").PlanOptions} options */
  #setOptions(options) {
    this.#options = options;
    this.#writeAddress(address.step);
    this.plan();
  }

  /** Writes what is tried and the open folds into the address. @param {address.Keep} keep */
  #writeAddress(keep) {
    keep(trialOf(this.#options, this.#folds), NO_TRIAL);
  }

  /** Takes what is tried and the open folds from the address. */
  #readAddress() {
    const trial = address.read(location.search, NO_TRIAL);
    this.#options = optionsOf(trial);
    this.#folds = foldsOf(trial);
  }

  /** Shows what the address tries, with a new plan where the plan shown tries something else. */
  recall() {
    const before = JSON.stringify(this.#options);
    this.#readAddress();
    if (JSON.stringify(this.#options) !== before) this.plan();
    else this.requestUpdate();
  }

  /** @param {() => void} change of the choices */
  #choose(change) {
    change();
    address.step(this.#choices.written(), NO_CHOICES);
    this.plan();
  }

  /** @param {HTMLInputElement} field */
  #readField(field) {
    const limit = this.#session?.limit ?? 0;
    if (field.name === "aim") {
      const share = Number(field.value);
      if (!(share > 0) || share > 100) return;
      this.#options.max_tokens = Math.round((limit * share) / 100);
    } else if (field.name === "strategy") {
      this.#options.strategy = field.value;
      this.#writeAddress(address.step);
    } else if (!this.#plan || !enter(this.#options, this.#plan, field)) return;
    this.requestUpdate();
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => {
      this.#writeAddress(address.write);
      this.plan();
    }, TYPING_MS);
  }

  /** Saves what is tried, and plans again with it; the aim of the plan stays. @param {string} done
   * @param {() => Promise<unknown>} saving */
  async #save(done, saving) {
    try {
      await saving();
      toast(done);
      this.#setOptions({ max_tokens: this.#options.max_tokens });
    } catch (error) {
      toastError(error, "Could not save");
    }
  }

  /** @param {Record<string, unknown>} settings of this session */
  async #patch(settings) {
    if (this.#session) await api.patchSession(this.#session.id, { settings });
  }

  /** Saves for all sessions; this one follows them from then on. */
  async #saveForAll() {
    await api.saveSettings(toSave(this.#options));
    const own = this.#plan ? withoutOwn(this.#plan) : {};
    if (Object.keys(own).length > 0) await this.#patch(own);
  }

  /** Plans again when the session has changed, unless the reader is in the groups or at a field. Further
   * changes do not restart the wait, or a busy session would never get its plan. */
  #followChanges() {
    if (!this.#stale || this.#busy || this.#replanning) return;
    const reading = this.#folds.open.size > 0 && this.matches(":hover");
    this.#held = reading || this.querySelector(":is(input, select):focus") !== null;
    if (this.#held) return this.requestUpdate();
    this.#replanning = setTimeout(() => {
      this.#replanning = undefined;
      if (this.#stale) this.plan(this.#note);
    }, this.#pause);
  }

  /** True while the fields ask for another plan than the one shown, which then cannot be applied. */
  get #isAhead() {
    const session = this.#session;
    if (!session || this.#stale) return false; // a stale plan says so itself
    return JSON.stringify(planRequest(this.#options, this.#choices, session)) !== this.#request;
  }

  /** Makes a plan for the session as it is now. @param {string | null} [note] */
  async plan(note = null) {
    const session = this.#session;
    if (!session) return;
    clearTimeout(this.#typing);
    this.#planning?.abort();
    const mine = new AbortController();
    this.#planning = mine;
    const began = performance.now();
    this.#note = note;
    this.#applyFailure = "";
    this.#held = this.#outdated = false;
    this.requestUpdate();
    try {
      const request = planRequest(this.#options, this.#choices, session);
      const plan = await api.plan(session.id, request, mine.signal);
      if (mine.signal.aborted) return;
      this.#plan = plan;
      this.#request = JSON.stringify(request);
      this.#pause = pauseAfter(performance.now() - began, INTERVAL_MS, SHARE);
      this.#planned = this.#stale ? session : this.#session;
      this.#planFailure = "";
      this.emit("plan-changed", { plan });
      this.#followChanges();
    } catch (error) {
      if (mine.signal.aborted) return;
      this.#planFailure = reasonOf(error);
    }
    this.requestUpdate();
  }

  /** Takes the emergency path, offered where protected messages exceed what is usable. */
  async #relieve() {
    if (!this.#plan || this.#busy) return;
    this.#busy = true;
    try {
      const applied = await api.relieve(this.#plan.session_id);
      this.#plan = null;
      this.emit("pruned", { applied });
    } catch (error) {
      this.#applyFailure = reasonOf(error);
    }
    this.#busy = false;
    this.requestUpdate();
  }

  /** Applies the plan shown. While it is stale or the fields ask for another, nothing is applied: a click
   * does what was on the screen. */
  async apply() {
    const plan = this.#plan;
    if (!plan || this.#busy) return;
    if (this.#stale) return this.plan(STALE);
    if (this.#isAhead || !doesSomething(plan)) return;
    this.#busy = true;
    this.requestUpdate();
    const { ids } = this.#choices;
    try {
      const applied = await api.prune(plan.session_id, { plan_id: plan.plan_id });
      this.#note = null;
      for (const id of ids) this.#choices.forget(id);
      this.#options = {};
      this.#plan = null;
      this.#busy = false;
      this.emit("pruned", { applied });
    } catch (error) {
      this.#busy = false;
      if (error instanceof ApiError && error.status === 409) await this.plan(STALE);
      else this.#applyFailure = reasonOf(error);
    }
    this.requestUpdate();
  }

  template() {
    const [plan, session] = [this.#plan, this.#session];
    if (!session) return nothing;
    const state = { choices: this.#choices, options: this.#options, ...this.#folds };
    const alone = takesOnlyChosen(this.#choices, this.#options);
    return html`<div class="panel-body">
        <h2 class="plan-title" tabindex="-1">${planTitle(plan, session, alone)}</h2>
        ${this.#planFailure && problem("No plan", this.#planFailure, "plan-again")} ${this.#remark(session)}
        ${plan && planBody({ plan, ...state, session: this.#planned ?? session })}
        ${!plan && (this.#planFailure ? chosen({ session, ...state }) : PLANNING)}
      </div>
      ${plan && this.#foot(plan)}`;
  }

  /** @param {Api.Session} session */
  #remark({ messages }) {
    if (this.#note) return html`<p class="row note-box" role="status">${this.#note}</p>`;
    if (!this.#held) return "";
    return html`<p class="row note-box" role="status">
      ${sinceSentence(this.#planned?.messages ?? 0, messages, this.#outdated)}
      <button class="small" data-act="plan-again">Plan again</button>
    </p>`;
  }

  /** @param {Api.Plan} plan */
  #foot(plan) {
    const able = doesSomething(plan);
    const writing = this.#busy ? plan.summary : null;
    const planning = this.#isAhead && !this.#planFailure && "Planning…";
    const beside = writing?.by_model ? "The model may take a while." : "Can be undone.";
    return html`<footer class="row panel-foot">
      <button class="primary" data-act="apply-plan" ?disabled=${!able}
        aria-disabled=${this.#busy || this.#isAhead}
        >${writing ? "Writing the summary…" : planning || planVerb(plan)} <kbd>⏎</kbd></button>
      ${
        this.#applyFailure
          ? html`<p class="small fault" role="alert">Could not prune: ${withCode(this.#applyFailure)}</p>`
          : html`<span class="small muted nowrap">${able && beside}</span>`
      }
    </footer>`;
  }
}

customElements.define("plan-panel", PlanPanel);
