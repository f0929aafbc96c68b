// <what-if></what-if>
//
// The effect of unsaved settings on one session, cut to a share of its context that is chosen here: tokens
// after a prune, the messages that change fate, and their number at four depths. Property `settings`: those
// being edited, or null while they equal the saved ones. Emits `faults` with the wrong fields if the server
// refuses them.
import "../shared/context-gauge.js";
import { ApiError, api, root } from "../shared/api.js";
import { counted, number, percent, percentSet, tokens as tokenText } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { planBar, sessionOptions } from "../shared/parts.js";
import { whatItDoes } from "../shared/prune-words.js";
import { ReadingElement } from "../shared/reading-element.js";
import { certaintyOfParts, titleOf } from "../shared/session-facts.js";
import { live } from "../shared/socket.js";
import { typeName, typeReason, typeUnder } from "../shared/task-types.js";
import { aimShare, CUTS, firstCut, tokensAt } from "./plan-cuts.js";

const TYPING_MS = 250;
const SHOWN_SESSIONS = 200;
const NONE = html`<p class="pad muted">
  There is no session to try settings on yet. <a class="link" href="${root}/">Sessions</a> says where they
  come from, and starts a demo session.
</p>`;
const DEPTHS = html`<p class="small muted">Messages that change fate when a prune keeps this much.</p>`;
const SAME_CUT = html`<p class="muted">
  The edited aim has no effect here: both prunes keep as much as you chose above.
  <button class="small quiet" data-act="to-aim">Cut to the aims</button>
</p>`;
const WRONG = html`<p class="muted">A field is wrong. Correct it to see what these settings would do.</p>`;

export class WhatIf extends ReadingElement {
  /** The session in use; before the choice is opened, the others are read too.
   * @type {Api.Session[] | null} */
  #sessions = null;
  #listed = false;
  /** @type {Api.Session | null} */
  #session = null;
  /** @type {Api.Settings | null} */
  #settings = null;
  /** The plan with the saved settings; in brief while nothing is compared with it.
   * @type {Api.Plan | null} */
  #saved = null;
  #savedInBrief = false;
  /** @type {Api.Plan | null} */
  #tried = null;
  /** The share of the context that the reader lets the plans keep, in percent. @type {number | null} */
  #picked = null;
  /** True where the edited settings have another aim than the saved ones. */
  #aims = false;
  /** The number of changed fates by depth, as far as they are known. @type {Map<number, number>} */
  #depths = new Map();
  #busy = false;
  /** The function that draws the differences between two plans, once there are two.
   * @type {typeof import("./plan-differences.js").differences | null} */
  #differences = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {Api.Settings | null} settings */
  set settings(settings) {
    if (settings === null && this.#settings === null) return;
    this.#settings = settings;
    this.#busy = settings !== null;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.refresher.restart(), TYPING_MS);
    this.requestUpdate();
  }

  start() {
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLSelectElement | HTMLInputElement} */ (event.target);
      if (field instanceof HTMLSelectElement)
        this.#choose(this.#sessions?.find((s) => s.id === field.value) ?? null);
      this.#saved = this.#tried = null;
      this.refresher.restart();
    });
    this.hear(live, ["session:updated"], () => this.#sessions?.length === 0 && this.#begin());
    this.hear(
      live,
      ["session:deleted"],
      ({ session_id }) => session_id === this.#session?.id && this.#begin(),
    );
    for (const type of ["pointerover", "focusin"])
      this.listen(this, type, ({ target }) => {
        if (target instanceof HTMLSelectElement) this.#readSessions();
      });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const { target } = event;
      if (!(target instanceof HTMLInputElement) || target.type !== "range") return;
      event.stopPropagation();
      this.#picked = Number(target.value);
      this.requestUpdate();
    });
    this.actions({
      "to-aim": () => {
        this.#picked = this.#saved = this.#tried = null;
        return this.refresher.restart();
      },
    });
    super.start();
  }

  /** Takes the first session there is. */
  #begin() {
    this.#sessions = this.#session = this.#saved = this.#tried = null;
    this.#listed = false;
    this.refresher.restart();
  }

  async #readSessions() {
    if (this.#listed || !this.#sessions) return;
    this.#listed = true;
    try {
      const { sessions } = await api.sessions({ limit: SHOWN_SESSIONS, sort: "tokens" }, this.life);
      const others = sessions.filter(({ id }) => id !== this.#session?.id);
      this.#sessions = this.#session ? [this.#session, ...others] : others;
    } catch {
      this.#listed = false; // opening the choice again retries
    }
    this.requestUpdate();
  }

  stop() {
    clearTimeout(this.#timer);
    super.stop();
  }

  /** Requests the plan of the saved settings again. */
  refresh() {
    this.#saved = null;
    return this.refresher.restart();
  }

  /** @param {Api.Session | null} session */
  #choose(session) {
    this.#session = session;
    this.#picked = null;
  }

  /** The share of the context that the plans keep, in percent; null for their aims. */
  get #cut() {
    return this.#picked ?? (this.#session && !this.#aims ? firstCut(this.#session) : null);
  }

  /** @param {AbortSignal} signal @returns {Promise<void>} */
  async read(signal) {
    if (!this.#sessions) {
      // The other sessions are read when the choice is about to open.
      this.#sessions = (await api.sessions({ limit: 1, sort: "tokens" }, signal)).sessions;
      this.#choose(this.#sessions[0] ?? null);
    }
    const session = this.#session;
    if (!session) return;
    try {
      const cut = this.#cut;
      const max_tokens = cut === null ? null : tokensAt(session, cut);
      const wanted = ownFirst(session, this.#settings);
      if (!this.#saved || (wanted && this.#savedInBrief)) {
        this.#saved = await api.plan(session.id, { max_tokens, brief: !wanted }, signal);
        this.#savedInBrief = !wanted;
      }
      const body = { settings: { ...wanted }, compare: true };
      this.#tried = wanted ? await api.plan(session.id, { ...body, max_tokens }, signal) : null;
      if (wanted) ({ differences: this.#differences } = await import("./plan-differences.js"));
      if (signal.aborted) return;
      this.#aims = this.#tried !== null && this.#tried.aim_tokens !== this.#saved.aim_tokens;
      if (this.#cut !== cut) {
        this.#saved = this.#tried = null;
        return await this.read(signal);
      }
      this.emit("faults", []);
      this.#busy = false;
      this.requestUpdate();
      if (wanted) await this.#readDepths(session, body, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#tried = null;
      if (!(error instanceof ApiError) || !error.faults.length) throw error;
      this.emit("faults", error.faults);
    } finally {
      if (!signal.aborted) this.#busy = false;
    }
  }

  /** @param {Api.Session} session @param {Api.PlanBody} body @param {AbortSignal} signal */
  async #readDepths(session, body, signal) {
    this.#depths.clear();
    for (const cut of CUTS) {
      const max_tokens = tokensAt(session, cut);
      const plan = await api.plan(session.id, { ...body, max_tokens, brief: true }, signal);
      if (signal.aborted) return;
      this.#depths.set(cut, plan.changed ?? 0);
      this.requestUpdate();
    }
  }

  /** The certainty of the tokens of messages. */
  get #certainty() {
    return this.#session ? certaintyOfParts(this.#session.pruned) : "";
  }

  template() {
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
    const aim_tokens = tried?.aim_tokens ?? session.aim_tokens;
    const cut = this.#cut ?? aimShare({ ...session, aim_tokens });
    /** @param {Api.Session} s */
    const nameOf = (s) => `${titleOf(s)} (${percent(s.pruned.utilization)})`;
    return html`<div class="pad stack what-if-body">
      <label class="small muted" for="what-if-session">On the session</label>
      <select id="what-if-session">${sessionOptions(this.#sessions ?? [], session.id, nameOf)}</select>
      <p class="small muted">
        Task type: <b>${typeName(typeUnder(session, this.#settings))}</b>.
        ${typeReason(session, this.#settings)}
      </p>
      <label class="small muted" for="what-if-cut">Keep <b>${percentSet(cut)}</b> of its context,
        ${this.#cut === null ? "the aim" : counted(tokensAt(session, cut), "token")}</label>
      <input id="what-if-cut" type="range" min="5" max="95" step="5" .value=${String(cut)}>
      <div class="plan-bars">
        ${saved && planBar("Now", session, { ...session.pruned, ...saved.before })}
        ${saved && planBar("Saved", session, { ...saved.after, regions: saved.regions_after })}
        ${tried && planBar("Edited", session, { ...tried.after, regions: tried.regions_after })}
      </div>
      <div role="status" class="stack tight what-if-words" data-busy=${this.#busy}>${this.#words()}</div>
      ${tried && this.#aims && this.#picked !== null && SAME_CUT}
      ${tried && this.#depthWords()} ${saved && tried && this.#differences?.(saved, tried, this.#certainty)}
    </div>`;
  }

  /** The number of changed fates at each depth. */
  #depthWords() {
    /** @param {number} cut */
    const count = (cut) => {
      const known = this.#depths.get(cut);
      return known === undefined ? "…" : number(known);
    };
    return html`<dl class="depths" aria-label="Messages that would change fate, by depth of the cut">
      ${CUTS.map((cut) => html`<div><dt>${percentSet(cut)}</dt><dd>${count(cut)}</dd></div>`)}
    </dl>
    ${DEPTHS}`;
  }

  #words() {
    const [saved, tried] = [this.#saved, this.#tried];
    if (!saved) return !this.error && html`<p class="muted">Planning…</p>`;
    if (!tried && this.#settings && !this.#busy) return !this.error && WRONG;
    if (!tried)
      return html`<p class="muted">
        With the saved settings a prune ${whatItDoes(saved)}. Change something to see the difference here.
      </p>`;
    if (tried.changed === 0)
      return html`<p>No message would change fate: a prune still ${whatItDoes(tried)}.</p>`;
    const more = tried.after.tokens - saved.after.tokens;
    const by = tokenText(Math.abs(more), this.#certainty);
    const tokens = html`<b>${by}</b> tokens ${more > 0 ? "more" : "less"}`;
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
