// <coppice-session session-id="…"></coppice-session>
//
// One session: what fills its context and what to do about it. Header with the verdict, bars, chart,
// messages, and beside them the panels Plan, Heaviest, History, Summary, Archive. Follows the room
// "session:<id>". "#plan" opens the plan.
import "../shared/context-gauge.js";
import "./heavy-panel.js";
import "./message-list.js";
import "./plan-panel.js";
import "./token-chart.js";
import * as address from "../shared/address.js";
import { ApiError, api } from "../shared/api.js";
import { copyText } from "../shared/copy.js";
import { CoppiceElement } from "../shared/element.js";
import { sentence } from "../shared/format.js";
import { html, nothing } from "../shared/html.js";
import { focusOn, shortcutsFor } from "../shared/keys.js";
import { errorOf, isMissing, NOT_LOADED, reasonOf } from "../shared/problem.js";
import { prunedSentence } from "../shared/prune-words.js";
import { Refresher } from "../shared/refresher.js";
import { certaintyOfParts, isAboveTarget, titleOf, unseenOf } from "../shared/session-facts.js";
import { live, whenLive } from "../shared/socket.js";
import { toast, toastError } from "../shared/toast.js";
import { unlessViewing } from "../shared/viewing.js";
import { actOn, deleteSession, saveField, undo } from "./acts.js";
import { bars } from "./bars.js";
import { recallChoices } from "./by-number.js";
import { Choices, NO_CHOICES } from "./choices.js";
import { deletedSession, header, noSession, stale } from "./head.js";
import { closeMenus } from "./menus.js";
import { PANELS, side, TABS } from "./panels.js";
import { SidePanels } from "./side-panels.js";

/** @typedef {import("./panels.js").Tab} Tab */

const INTERVAL_MS = 1000;
/** The room of the events of all sessions. */
const ALL_SESSIONS = "overview";
/** The newest point of the chart comes with the numbers; the causes of its steps may come later. */
const CHART_INTERVAL_MS = 5000;
const RETRY_MS = 3000;
/** The chart has a point for so many pixels of the window: more would not be visible. */
const POINT_PX = 4;
/** Reading the chart takes at most this share of the time: it takes long in a long session. */
const SHARE = 0.1;

/** The values on which plans of a session depend, besides its messages and the common settings.
 * @param {Api.Session} session */
const basisOf = ({ model, limit, target_tokens, aim_tokens, strategy, task_type }) =>
  JSON.stringify([model, limit, target_tokens, aim_tokens, strategy.name, task_type.name]);

class CoppiceSession extends CoppiceElement {
  /** @type {Api.Session | null} */
  #session = null;
  /** The session as it was when it was deleted. @type {Api.Session | null} */
  #deleted = null;
  /** @type {Api.Cost | null} */
  #cost = null;
  /** @type {Api.Parent | null} */
  #parent = null;
  /** @type {import("./head.js").Copies} */
  #copies = {};
  /** @type {Api.Plan | null} */
  #plan = null;
  #choices = new Choices();
  #panels = new SidePanels(this);
  /** @type {Error | null} */
  #error = null;
  /** The acts on messages whose answers are awaited. @type {Set<string>} */
  #pendingActs = new Set();
  /** Closes the question whether to delete the session. */
  #deleteQuestion = new AbortController();
  /** True after an operation until its numbers arrive. */
  #awaitsNumbers = false;
  #stats = new Refresher((signal) => this.#readStats(signal));
  #timeline = new Refresher((signal) => this.#readTimeline(signal), {
    interval: CHART_INTERVAL_MS,
    retry: RETRY_MS,
    share: SHARE,
  });
  #verdict = new Refresher((signal) => this.#readVerdict(signal), { retry: RETRY_MS });
  /** True when the session has changed since its verdict was asked for. */
  #verdictDue = true;
  #openPanel = new Refresher(async () => this.#refreshOpenPanel(), { interval: INTERVAL_MS });

  get #room() {
    return `session:${this.sessionId}`;
  }

  start() {
    this.#panels.start(this.life);
    live.join(this.#room);
    this.#hearServer();
    this.#listenToPanels();
    this.#listenToReader();
    this.#defineKeys();
    this.#stats.ask();
  }

  #listenToReader() {
    const panels = this.#panels;
    this.actions({
      "see-plan": ({ dataset }) => panels.open("plan", Number(dataset.aim) || undefined),
      "open-export": () => this.#openExport(),
      tab: (target) => panels.open(/** @type {Tab} */ (target.dataset.tab)),
      "close-sheet": () => panels.closeSheet(),
      "show-message": (target) => {
        panels.closeSheet();
        this.#list?.reveal(Number(target.dataset.number));
      },
      delete: () => this.#delete(),
      copy: copyText,
      resume: () => this.#askToResume(),
      "retry-session": () => this.#stats.ask(),
      "retry-chart": () => this.#timeline.restart(),
      "retry-panel": () => panels.loadAgain(),
    });
    this.listen(this, "change", async (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      await this.#takeAnswer(saveField(this.sessionId, field));
      if (["own_strategy", "task_type"].includes(field.name)) panels.plan?.plan();
    });
    this.listen(this, "keydown", (/** @type {KeyboardEvent} */ event) => panels.press(event));
    this.listen(window, "popstate", () => this.#recall());
    this.listen(document, "click", (/** @type {MouseEvent} */ event) => closeMenus(this, event.target));
    // The shade around an open sheet belongs to the sheet.
    this.listen(this, "click", ({ target }) => target === this.querySelector(".side") && panels.closeSheet());
  }

  #defineKeys() {
    shortcutsFor(
      [
        { key: "p", label: "Plan a prune", run: () => this.#panels.open("plan") },
        {
          key: "Enter",
          label: "Apply the plan, when it is open",
          run: () => this.#panels.shows("plan") && unlessViewing(() => this.#panels.plan?.apply()),
        },
        {
          key: "u",
          label: "Undo the last change of the context",
          run: () => unlessViewing(() => this.#undo()),
        },
        { key: "e", label: "Show what is heaviest", run: () => this.#panels.open("heaviest") },
        { key: "Escape", label: "Close what is open", run: () => this.#escape() },
      ],
      this.life,
    );
  }

  stop() {
    for (const one of [this.#stats, this.#timeline, this.#verdict, this.#openPanel]) one.stop();
  }

  /** Shows that the session does not exist, or was deleted. The room of all sessions reports when one with
   * its id appears. @param {Error} error */
  #showMissing(error) {
    this.stop();
    this.#error = error;
    this.#deleted ??= this.#session;
    this.#session = this.#plan = null;
    this.#deleteQuestion.abort();
    live.join(ALL_SESSIONS);
    this.requestUpdate();
  }

  #hearServer() {
    /** Hears events of this session only. @param {string[]} types @param {(payload: any) => void} act */
    const own = (types, act) =>
      this.hear(live, types, (payload) => payload.session_id === this.sessionId && act(payload));
    own(["context:stats"], (stats) => this.#receive(stats));
    own(["context:pruned", "context:restored", "context:summarized"], () => {
      this.#awaitsNumbers = true;
    });
    own(["messages:appended"], ({ messages }) => this.#list?.arrived(messages));
    own(["session:deleted"], () => this.#showMissing(new ApiError(404, "the session was deleted")));
    this.hear(
      live,
      ["session:updated"],
      ({ id }) => id === this.sessionId && this.#error && this.#stats.ask(),
    );
    this.hear(live, ["resync"], (resync) => this.#resync(resync));
    this.hear(live, ["refused"], () => this.#stats.ask());
    whenLive(() => {
      if (this.#error) this.#stats.ask();
      if (this.#panels.unloaded) this.#panels.loadAgain();
    }, this.life);
    this.hear(live, ["settings:changed", "models:changed"], () => {
      this.#stats.ask();
      this.#panels.plan?.outdate();
    });
  }

  #listenToPanels() {
    /** @param {string} type @param {(detail: any) => void} act */
    const on = (type, act) => this.listen(this, type, (/** @type {CustomEvent} */ { detail }) => act(detail));
    on("plan-changed", ({ plan }) => {
      this.#plan = plan;
      this.requestUpdate();
    });
    on("pruned", ({ applied }) => this.#pruned(applied));
    on("undone", ({ undone }) => this.#undone(undone));
    on("message-act", ({ id, act }) => this.#actOn(id, act));
    on("resumed", () => this.#stats.ask());
    on("fates-asked", () => this.#readVerdictIfDue());
    on("chart-message", ({ number }) => this.#list?.reveal(number));
    on("chart-range", ({ from, to }) => this.#list?.range(from, to));
    on("narrow", (what) => this.#list?.narrow(what));
    on("chosen", ({ kind, messages }) => {
      this.#choices.put(kind, messages);
      address.step({ panel: "plan", ...this.#choices.written() }, { panel: "", ...NO_CHOICES });
      this.#panels.open("plan");
    });
  }

  get #list() {
    return this.querySelector("message-list");
  }

  get #chart() {
    return this.querySelector("token-chart");
  }

  /** Takes a session unless a newer state is known, or it was deleted and this is a late answer. Returns
   * whether it did. @param {Api.Session} session
   * @param {Api.Stats} [stats] all that was read with it */
  #accept(session, stats) {
    const before = this.#session;
    const isOld = before !== null && session.version < before.version;
    const isLate = before === null && this.#deleted !== null && !stats;
    if (isOld || isLate) return false;
    this.#session = session;
    this.#deleted = null;
    if (stats) {
      const { cost, parent, copy_of, copies } = stats;
      this.#cost = cost;
      this.#parent = parent;
      this.#copies = { copy_of, copies };
    }
    if (before === null) this.#firstLook(session);
    else if (basisOf(before) !== basisOf(session)) this.#panels.plan?.outdate();
    return true;
  }

  /** @param {AbortSignal} signal */
  async #readStats(signal) {
    try {
      const stats = await api.stats(this.sessionId, signal);
      this.#error = null;
      this.requestUpdate();
      this.#accept(stats.session, stats);
      this.#readAll();
      live.leave(ALL_SESSIONS);
      live.join(this.#room);
    } catch (error) {
      if (signal.aborted) return;
      if (isMissing(error)) return this.#showMissing(errorOf(error));
      this.#error = errorOf(error);
      this.requestUpdate();
      if (this.#session) this.#timeline.ask(); // the session came over the live connection
    }
  }

  /** Reads what to do, with the price of the plan that would do it. @param {AbortSignal} signal */
  async #readVerdict(signal) {
    const verdict = await api.verdict(this.sessionId, signal);
    if (signal.aborted || !this.#session) return;
    if (verdict.version < this.#session.version) return; // the list reads the newer version, too
    this.#session = { ...this.#session, verdict };
    this.requestUpdate();
  }

  /** Opens a panel, and what the address names in the list and the plan, when the session is first known.
   * Later the reader chooses. @param {Api.Session} session */
  #firstLook(session) {
    const planned = this.#panels.begin(isAboveTarget(session) ? "plan" : "heaviest");
    this.#recallChoices(planned);
    this.#list?.recallFirst();
  }

  /** Takes the choices from the address, and makes an open plan again for them.
   * @param {boolean} planned true if it was just requested with the choices as they were */
  async #recallChoices(planned) {
    const others = await recallChoices(this.#choices, this.sessionId, this.life);
    if (this.#panels.tab === "plan" && (others || !planned)) this.#panels.plan?.plan();
  }

  /** Shows what the address says after a step back or forward. */
  #recall() {
    if (!this.#session) return;
    this.#list?.recall();
    const planned = this.#panels.tab === "plan";
    this.#panels.recall();
    if (planned && this.#panels.tab !== "plan") this.#plan = null;
    if (planned) this.#panels.plan?.recall();
    this.#recallChoices(planned);
  }

  /** @param {{ room: string, snapshot: any, known: boolean }} detail */
  #resync({ room, snapshot, known }) {
    if (this.#error) this.#stats.ask();
    else if (room === this.#room) {
      this.#receive(snapshot.stats);
      if (!known) return;
      this.#readAll();
      this.#panels.plan?.outdate();
    }
  }

  /** @param {Api.Stats} stats */
  #receive(stats) {
    const { session } = stats;
    const before = this.#session;
    if (!this.#accept(session, stats)) return;
    const operated = this.#awaitsNumbers;
    this.#awaitsNumbers = false;
    this.#chart?.push(session);
    const isNewer = before !== null && before.version !== session.version;
    if (isNewer && !operated && before.messages !== session.messages) this.#readNew();
    else if (isNewer || (before ? basisOf(before) !== basisOf(session) : this.#error)) this.#readAll();
    this.requestUpdate();
  }

  /** Reads again everything that is shown of the messages. */
  #readAll() {
    this.#readRows();
    this.#timeline.restart();
    this.#refreshOpenPanel();
  }

  /** The same after messages were appended: the chart and the open panel wait for their interval. */
  #readNew() {
    this.#readRows();
    this.#timeline.ask();
    this.#openPanel.ask();
  }

  #readRows() {
    this.#verdictDue = true;
    this.#list?.refresh();
  }

  /** Asks for the verdict with the list's fates: both need the same plan, which the server makes once for
   * requests of one version, but again for each version that an append makes. */
  #readVerdictIfDue() {
    if (this.#verdictDue) this.#verdict.ask();
    this.#verdictDue = false;
  }

  #refreshOpenPanel() {
    const panel = /** @type {any} */ (this.querySelector(".side-body > *"));
    panel?.refresh?.(); // a plan follows changes by itself
  }

  /** Reads the chart's line; on a failure the old line stays and the request is repeated.
   * @param {AbortSignal} signal */
  async #readTimeline(signal) {
    try {
      const points = Math.max(60, Math.round(innerWidth / POINT_PX));
      const timeline = await api.timeline(this.sessionId, points, signal);
      if (this.#chart && !signal.aborted) this.#chart.value = timeline;
    } catch (error) {
      if (this.#chart && !signal.aborted) this.#chart.failure = reasonOf(error);
      throw error;
    }
  }

  /** Opens the export menu after the click that asked for it, which closes all menus. */
  #openExport() {
    const menu = /** @type {HTMLDetailsElement | null} */ (this.querySelector(".menu.export"));
    setTimeout(() => menu?.setAttribute("open", ""));
    focusOn(menu?.querySelector("summary"));
  }

  async #delete() {
    const dialog = await import("./delete-dialog.js").catch(() => null);
    if (!dialog) toastError(NOT_LOADED, "Could not load the dialog");
    else if (this.#session) {
      this.#deleteQuestion = new AbortController();
      if (await dialog.askToDelete(this.#session, this.#deleteQuestion.signal))
        await deleteSession(this.sessionId);
    }
  }

  async #askToResume() {
    try {
      await import("./resume-dialog.js");
      if (this.#session) this.querySelector("resume-dialog")?.ask(this.#session);
    } catch {
      toastError(NOT_LOADED, "Could not load the dialog");
    }
  }

  #escape() {
    if (closeMenus(this, null)) return;
    if (this.#panels.closeSheet()) return;
    if (this.#list?.leaveSelection()) return;
    if (this.#list?.closeRows()) return;
    if (this.#panels.tab !== "plan") return;
    this.#plan = null;
    this.#panels.closePlan();
  }

  /** @param {Api.Applied} applied */
  #pruned(applied) {
    this.#takeOperated(applied.session);
    this.#plan = null;
    if (this.#panels.tab === "plan") {
      this.#panels.finishPlan();
      address.write(this.#choices.written(), NO_CHOICES);
    }
    const { kind, proxy, why_not_resumed } = applied.session;
    const resumable = kind === "followed" && !proxy && why_not_resumed === null;
    toast(prunedSentence(applied.operation, certaintyOfParts(applied.session.pruned)), {
      act: { label: "Undo", run: () => this.#undo(applied.operation.n) },
      ...(resumable ? { also: { label: "Resume…", run: () => this.#askToResume() } } : {}),
    });
    this.#panels.leave();
  }

  /** @param {number} [n] the last operation by default */
  async #undo(n) {
    const undone = await undo(this.sessionId, n);
    if (undone) this.#undone(undone);
  }

  /** @param {Api.Undone} undone */
  #undone(undone) {
    this.#takeOperated(undone.session);
    toast(sentence(undone.message));
    this.requestUpdate();
  }

  /** Acts on a message, once for several clicks while the answer is awaited. @param {string} id
   * @param {import("../shared/api.js").Act | "learn"} act */
  async #actOn(id, act) {
    const pending = `${act} ${id}`;
    if (this.#pendingActs.has(pending)) return;
    this.#pendingActs.add(pending);
    await this.#takeAnswer(actOn(this.sessionId, id, act, (n) => this.#undo(n)));
    this.#pendingActs.delete(pending);
  }

  /** Takes the session as an act left it. @param {Promise<Api.Session | null>} answer */
  async #takeAnswer(answer) {
    const session = await answer;
    if (session && this.#accept(session)) this.#readAll();
    this.requestUpdate();
  }

  /** Takes the session as an operation left it; known events are not read again.
   * @param {Api.Session} session */
  #takeOperated(session) {
    const known = this.#session?.version === session.version;
    if (this.#accept(session) && !known) this.#readAll();
    else this.#verdict.ask();
  }

  update() {
    const session = this.#session;
    if (session) document.title = `${titleOf(session)} · Coppice`;
    super.update();
    if (session) this.#feedPanels(session);
    this.#panels.cover();
    this.#panels.load();
  }

  template() {
    const session = this.#session;
    if (!session) return this.#deleted ? deletedSession(this.#deleted) : noSession(this.#error);
    const { tab } = this.#panels;
    const plan = tab === "plan" && this.#plan ? this.#plan.plan_id : nothing;
    const head = header(session, this.#parent, this.#copies);
    return html`${this.#error && stale(this.#error)} ${head}
      <div class="figures">
        ${bars(session, this.#cost)}
        <section class="panel chart-panel" aria-label="Chart of the tokens">
          <token-chart unseen=${unseenOf(session)}
            certainty=${certaintyOfParts(session.pruned)}></token-chart>
        </section>
      </div>
      <nav class="side-openers" aria-label="Panels">
        ${TABS.map((name) => html`<button data-act="tab" data-tab=${name}>${PANELS[name].label}</button>`)}
      </nav>
      <div class="columns">
        <message-list session-id=${this.sessionId} plan-id=${plan}
          ?awaits-plan=${tab === "plan" && !this.#plan} ?followed=${session.kind === "followed"}
          certainty=${certaintyOfParts(session.pruned)} strategy=${session.strategy.name}></message-list>
        ${side(session, this.#panels)}
      </div>
      <resume-dialog></resume-dialog>`;
  }

  /** @param {Api.Session} session */
  #feedPanels(session) {
    const panel = this.#panels.plan;
    if (panel) {
      panel.choices = this.#choices;
      panel.session = session;
    }
    const history = this.querySelector("history-panel");
    if (history && customElements.get("history-panel")) history.session = session;
  }
}

customElements.define("coppice-session", CoppiceSession);
