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
import { api } from "../shared/api.js";
import { copyText } from "../shared/copy.js";
import { CoppiceElement } from "../shared/element.js";
import { sentence } from "../shared/format.js";
import { html, nothing } from "../shared/html.js";
import { shortcutsFor } from "../shared/keys.js";
import { reasonOf } from "../shared/problem.js";
import { prunedSentence } from "../shared/prune-words.js";
import { Reader } from "../shared/reader.js";
import { root } from "../shared/root.js";
import { certaintyOfParts, isAboveTarget, titleOf, unseenOf } from "../shared/session-facts.js";
import { live } from "../shared/socket.js";
import { refreshTimes } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";
import { actOn, choose, deleteSession } from "./acts.js";
import { Choices, KINDS, NO_CHOICES } from "./choices.js";
import { bars, deleteDialog, header, noSession, stale } from "./head.js";
import { closeMenus } from "./menus.js";
import { numbered } from "./numbered.js";
import { NO_TRIAL } from "./plan.js";
import { neighbour, side, TABS } from "./side.js";

/** @typedef {import("./side.js").Tab} Tab */

/** Panels that few visits open: each is loaded when it is first shown.
 * @type {Partial<Record<Tab, () => Promise<unknown>>>} */
const LATER = {
  history: () => import("./history-panel.js"),
  summary: () => import("./summary-panel.js"),
  archive: () => import("./archive-panel.js"),
};

const CALM_MS = 1000;
/** The newest point of the chart comes with the numbers; the causes of its steps may come later. */
const CHART_CALM_MS = 5000;
const RETRY_MS = 3000;
/** A verdict needs a plan, which takes long in a long session: reading it takes at most this share of the
 * time. */
const SHARE = 0.1;

/** The panel that the address names; null for none. @returns {Tab | null} */
function namedPanel() {
  const { panel } = address.read(location.search, { panel: "" });
  return TABS.find(([name]) => name === panel)?.[0] ?? null;
}

/** Writes the open panel into the address; what was tried in a plan goes with it.
 * @param {Tab | ""} panel @param {typeof address.write} keep @param {number} [aim] tokens to cut to */
function keepPanel(panel, keep, aim) {
  const trial = panel === "plan" && aim === undefined ? {} : { ...NO_TRIAL, cut: String(aim ?? "") };
  keep({ panel, ...trial }, { panel: "", ...NO_TRIAL });
}

export class CoppiceSession extends CoppiceElement {
  /** @type {Api.Session | null} */
  #session = null;
  /** @type {Api.Cost | null} */
  #cost = null;
  /** @type {Api.Parent | null} */
  #parent = null;
  /** @type {import("./head.js").Copies} */
  #copies = {};
  /** @type {Api.Plan | null} */
  #plan = null;
  #choices = new Choices();
  /** The panel where the address names none. @type {Tab} */
  #first = "heaviest";
  /** The open panel; null until the first numbers or the reader choose one. @type {Tab | null} */
  #tab = null;
  /** True while the panels' sheet is open on a narrow page. */
  #sheet = false;
  /** The element that had the focus when a panel was opened. @type {Element | null} */
  #opener = null;
  /** @type {Error | null} */
  #error = null;
  /** True after an operation whose numbers have not arrived yet. */
  #operated = false;
  #stats = new Reader((signal) => this.#readStats(signal));
  #timeline = new Reader((signal) => this.#readTimeline(signal), {
    calm: CHART_CALM_MS,
    retry: RETRY_MS,
    share: SHARE,
  });
  #judge = new Reader((signal) => this.#readVerdict(signal), {
    calm: CALM_MS,
    retry: RETRY_MS,
    share: SHARE,
  });
  #panel = new Reader(async () => this.#refreshOpenPanel(), { calm: CALM_MS });

  get #id() {
    return this.getAttribute("session-id") ?? "";
  }

  start() {
    live.join(`session:${this.#id}`);
    this.#hearServer();
    this.#listenToPanels();
    this.actions({
      "see-plan": ({ dataset }) => this.#openTab("plan", Number(dataset.aim) || undefined),
      "open-export": () => this.#openExport(),
      tab: (target) => this.#openTab(/** @type {Tab} */ (target.dataset.tab)),
      "close-sheet": () => this.#closeSheet(),
      "show-message": (target) => {
        this.#closeSheet();
        this.#list?.reveal(Number(target.dataset.number));
      },
      "ask-delete": () => this.#dialog?.showModal(),
      "close-delete": () => this.#dialog?.close(),
      delete: () => deleteSession(this.#id),
      copy: copyText,
      resume: () => this.#askToResume(),
      "retry-session": () => this.#stats.ask(),
    });
    this.listen(this, "change", async (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      await this.#after(choose(this.#id, field));
      if (["own_strategy", "task_type"].includes(field.name)) this.#planPanel?.plan();
    });
    this.listen(this, "keydown", (/** @type {KeyboardEvent} */ event) => this.#tabKeys(event));
    this.listen(window, "popstate", () => this.#recall());
    this.listen(document, "click", (/** @type {MouseEvent} */ event) => closeMenus(this, event.target));
    shortcutsFor(
      [
        { key: "p", label: "Plan a prune", run: () => this.#openTab("plan") },
        { key: "Enter", label: "Apply the plan, when it is open", run: () => this.#applyByKey() },
        { key: "u", label: "Undo the last change of the context", run: () => this.#undoLast() },
        { key: "e", label: "Show what is heaviest", run: () => this.#openTab("heaviest") },
        { key: "Escape", label: "Close what is open", run: () => this.#escape() },
      ],
      this.life,
    );
    this.every(10_000, () => refreshTimes(this));
    this.#stats.ask();
  }

  stop() {
    for (const reader of [this.#stats, this.#timeline, this.#judge, this.#panel]) reader.stop();
  }

  #hearServer() {
    /** Hears events of this session only. @param {string[]} types @param {(payload: any) => void} act */
    const own = (types, act) =>
      this.hear(live, types, (payload) => payload.session_id === this.#id && act(payload));
    own(["context:stats"], (stats) => this.#receive(stats));
    own(["context:pruned", "context:restored", "context:summarized"], () => {
      this.#operated = true;
    });
    own(["messages:appended"], ({ messages }) => this.#list?.arrived(messages));
    own(["session:deleted"], () => location.assign(`${root}/`));
    this.hear(live, ["resync"], (resync) => this.#resync(resync));
    this.hear(live, ["settings:changed", "models:changed"], () => {
      this.#stats.ask();
      this.#planPanel?.outdate();
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
    on("message-act", ({ id, act }) => this.#after(actOn(this.#id, id, act, (n) => this.#undo(n))));
    on("resumed", () => this.#stats.ask());
    on("chart-message", ({ number }) => this.#list?.reveal(number));
    on("chart-range", ({ from, to }) => this.#list?.range(from, to));
    on("narrow", (what) => this.#list?.narrow(what));
    on("chosen", ({ kind, messages }) => {
      this.#choices.put(kind, messages);
      address.step({ panel: "plan", ...this.#choices.written() }, { panel: "", ...NO_CHOICES });
      this.#openTab("plan");
    });
  }

  get #dialog() {
    return this.querySelector("dialog");
  }

  get #list() {
    return this.querySelector("message-list");
  }

  get #chart() {
    return this.querySelector("token-chart");
  }

  get #planPanel() {
    return this.querySelector("plan-panel");
  }

  /** Takes a session unless a newer state is known. Returns whether it did. @param {Api.Session} session
   * @param {Api.Stats} [stats] all that was read with it */
  #accept(session, stats) {
    if (this.#session && session.version < this.#session.version) return false;
    const first = this.#session === null;
    this.#session = session;
    if (stats) {
      const { cost, parent, copy_of, copies } = stats;
      this.#cost = cost;
      this.#parent = parent;
      this.#copies = { copy_of, copies };
    }
    if (first) this.#firstLook(session);
    return true;
  }

  /** @param {AbortSignal} signal */
  async #readStats(signal) {
    try {
      const stats = await api.stats(this.#id, signal);
      this.#error = null;
      this.requestUpdate();
      this.#accept(stats.session, stats);
      this.#changed(true);
    } catch (error) {
      if (signal.aborted) return;
      this.#error = error instanceof Error ? error : new Error(reasonOf(error));
      this.requestUpdate();
    }
  }

  /** Reads what to do, with the price of the plan that would do it. @param {AbortSignal} signal */
  async #readVerdict(signal) {
    const verdict = await api.verdict(this.#id, signal);
    if (signal.aborted || !this.#session) return;
    if (verdict.version < this.#session.version) return void this.#judge.ask();
    this.#session = { ...this.#session, verdict };
    this.requestUpdate();
  }

  /** Opens the panel in the address, or the one that suits the session, when the session is first known.
   * Later the reader chooses. @param {Api.Session} session */
  #firstLook(session) {
    const asked = this.#tab === "plan" || location.hash === "#plan";
    if (asked) keepPanel("plan", address.write);
    if (isAboveTarget(session)) this.#first = "plan";
    const named = namedPanel();
    this.#tab ??= named ?? this.#first;
    this.#sheet = named !== null;
    this.update();
    if (asked) this.#openTab("plan");
    this.#recallChoices().then((others) => {
      if (this.#tab === "plan" && (others || !asked)) this.#planPanel?.plan();
    });
    this.#list?.recallFirst();
  }

  /** Takes the messages that the address names as chosen for the next prune. Returns whether these are others
   * than before. */
  async #recallChoices() {
    const { search } = location;
    const named = address.read(search, NO_CHOICES);
    if (JSON.stringify(named) === JSON.stringify(this.#choices.written())) return false;
    const of = Object.fromEntries(KINDS.map(([kind]) => [kind, address.numbersIn(named[kind])]));
    const known = KINDS.flatMap(([kind]) => this.#choices.of(kind));
    try {
      const messages = await numbered(this.#id, Object.values(of).flat(), known, this.life);
      if (search !== location.search) return false;
      for (const [kind] of KINDS) {
        this.#choices.forgetAll(kind);
        this.#choices.put(
          kind,
          messages.filter(({ number }) => of[kind]?.includes(number)),
        );
      }
      return true;
    } catch (error) {
      if (!this.life.aborted) toastError(error, "Could not read the messages that were chosen");
      return false;
    }
  }

  /** Shows what the address says after a step back or forward. */
  #recall() {
    if (!this.#session) return;
    this.#list?.recall();
    const named = namedPanel();
    const before = this.#tab;
    this.#tab = named ?? this.#first;
    this.#sheet = named !== null;
    if (before === "plan" && this.#tab !== "plan") this.#plan = null;
    this.#updateAndLeave();
    if (before === "plan") this.#planPanel?.recall();
    this.#recallChoices().then((others) => {
      if (this.#tab === "plan" && (others || before !== "plan")) this.#planPanel?.plan();
    });
  }

  /** @param {{ snapshot: any, known: boolean }} detail */
  #resync({ snapshot, known }) {
    if (this.#error) this.#stats.ask();
    else {
      this.#receive(snapshot.stats);
      if (known) this.#changed(true);
    }
  }

  /** @param {Api.Stats} stats */
  #receive(stats) {
    const { session } = stats;
    const before = this.#session;
    if (!this.#accept(session, stats)) return;
    const operated = this.#operated;
    this.#operated = false;
    this.#chart?.push(session);
    if (before && before.version !== session.version)
      this.#changed(operated || before.messages === session.messages);
    else if (before && before.task_type.name !== session.task_type.name) this.#changed(true);
    this.requestUpdate();
  }

  /** Reads the rows again, and if `deep` the timeline and the open panel. @param {boolean} deep */
  #changed(deep) {
    this.#list?.refresh();
    this.#judge.ask();
    if (!deep) {
      this.#timeline.ask();
      return void this.#panel.ask();
    }
    this.#timeline.restart();
    this.#refreshOpenPanel();
  }

  #refreshOpenPanel() {
    const panel = /** @type {any} */ (this.querySelector(".side-body > *"));
    panel?.refresh?.(); // a plan follows changes by itself
  }

  /** Reads the chart's line; on a failure the old line stays and the reader tries again.
   * @param {AbortSignal} signal */
  async #readTimeline(signal) {
    try {
      const timeline = await api.timeline(this.#id, signal);
      if (this.#chart && !signal.aborted) this.#chart.value = timeline;
    } catch (error) {
      if (this.#chart && !signal.aborted) this.#chart.failure = reasonOf(error);
      throw error;
    }
  }

  /** Opens the menu of formats, once the click that asked for it has closed the others. */
  #openExport() {
    const menu = /** @type {HTMLDetailsElement | null} */ (this.querySelector(".menu.export"));
    setTimeout(() => menu?.setAttribute("open", ""));
    menu?.querySelector("summary")?.focus();
  }

  /** @param {Tab} tab @param {number} [aim] tokens that a plan cuts to, instead of those it did last */
  #openTab(tab, aim) {
    const within = document.activeElement?.closest(".side");
    if (!within) this.#opener = document.activeElement;
    this.#tab = tab;
    this.#sheet = true;
    if (!this.#session) return;
    keepPanel(tab, address.step, aim);
    this.update();
    if (tab === "plan") aim === undefined ? this.#planPanel?.plan() : this.#planPanel?.aimAt(aim);
    // A panel opened from another one stands where that did.
    if (tab === "plan" || !within) this.#showSide();
  }

  /** True where the panels are a sheet over the page, as on narrow screens. */
  get #isSheet() {
    const side = this.querySelector(".side");
    return side !== null && getComputedStyle(side).position === "fixed";
  }

  /** Scrolls the opened panel into view and moves the focus to it. */
  #showSide() {
    if (!this.#isSheet && (this.querySelector(".side")?.getBoundingClientRect().top ?? 0) > innerHeight * 0.4)
      this.querySelector(".columns")?.scrollIntoView({ block: "start" });
    if (this.#tab === "plan") this.#planPanel?.focusHeading();
    else this.#focusTab();
  }

  #focusTab() {
    const tab = this.querySelector(".side [role=tab][aria-selected=true]");
    if (tab instanceof HTMLElement) tab.focus({ preventScroll: true });
  }

  /** Closes the sheet and returns the focus to its opener. Returns whether it was open. */
  #closeSheet() {
    const was = this.#sheet && this.#isSheet;
    this.#sheet = false;
    if (was) address.step({ panel: "" }, { panel: "" });
    if (was) this.#updateAndLeave();
    else this.update();
    return was;
  }

  /** Renders, and returns a focus that was in the panels, or nowhere, to the element that opened them. */
  #updateAndLeave() {
    const held = document.activeElement;
    const within = held === document.body || held?.closest(".side") || this.#isSheet;
    this.update();
    if (within && this.#opener instanceof HTMLElement && this.#opener.isConnected)
      this.#opener.focus({ preventScroll: true });
  }

  /** @param {KeyboardEvent} event */
  #tabKeys(event) {
    if (!(event.target instanceof Element) || event.target.getAttribute("role") !== "tab") return;
    const next = this.#tab && neighbour(this.#tab, event.key);
    if (!next) return;
    this.#openTab(next);
    this.#focusTab();
  }

  #applyByKey() {
    if (this.#tab === "plan") this.#planPanel?.apply();
  }

  async #askToResume() {
    try {
      await import("./resume-dialog.js");
      if (this.#session) this.querySelector("resume-dialog")?.ask(this.#session);
    } catch (error) {
      toastError(error, "Could not load the dialog");
    }
  }

  #escape() {
    if (closeMenus(this, null)) return;
    if (this.#closeSheet()) return;
    if (this.#list?.closeRows()) return;
    if (this.#tab === "plan") {
      this.#tab = "heaviest";
      this.#plan = null;
      keepPanel("heaviest", address.step);
      this.#updateAndLeave();
    }
  }

  /** @param {Api.Applied} applied */
  #pruned(applied) {
    this.#done(applied.session);
    this.#plan = null;
    if (this.#tab === "plan") {
      this.#tab = "history";
      keepPanel(this.#isSheet ? "" : "history", address.write);
      address.write(this.#choices.written(), NO_CHOICES);
      this.#sheet = false;
    }
    const { kind, proxy, why_not_resumed } = applied.session;
    const resumable = kind === "followed" && !proxy && why_not_resumed === null;
    toast(prunedSentence(applied.operation), {
      act: { label: "Undo", run: () => this.#undo(applied.operation.n) },
      ...(resumable ? { also: { label: "Resume from this…", run: () => this.#askToResume() } } : {}),
    });
    this.#updateAndLeave();
  }

  async #undoLast() {
    try {
      const operations = await api.operations(this.#id);
      const last = Math.max(...operations.filter((one) => one.undoable).map((one) => one.n));
      if (last > 0) await this.#undo(last);
      else toast("Nothing to undo.");
    } catch (error) {
      toastError(error, "Could not undo");
    }
  }

  /** @param {number} n */
  async #undo(n) {
    try {
      this.#undone(await api.undo(this.#id, n));
    } catch (error) {
      toastError(error, "Could not undo");
    }
  }

  /** @param {Api.Undone} undone */
  #undone(undone) {
    this.#done(undone.session);
    toast(sentence(undone.message));
    this.requestUpdate();
  }

  /** Takes the session as an act left it. @param {Promise<Api.Session | null>} doing */
  async #after(doing) {
    const session = await doing;
    if (session && this.#accept(session)) this.#changed(true);
    this.requestUpdate();
  }

  /** Takes the session as an operation left it; known events are not read again.
   * @param {Api.Session} session */
  #done(session) {
    const known = this.#session?.version === session.version;
    if (this.#accept(session) && !known) this.#changed(true);
    else this.#judge.ask();
  }

  update() {
    const session = this.#session;
    if (session) document.title = `${titleOf(session)} · Coppice`;
    super.update();
    if (session) this.#feedPanels(session);
    if (this.#tab && !customElements.get(`${this.#tab}-panel`))
      LATER[this.#tab]?.().then(
        () => this.requestUpdate(),
        (error) => toastError(error, "Could not load the panel"),
      );
  }

  view() {
    const session = this.#session;
    if (!session) return noSession(this.#error);
    const plan = this.#tab === "plan" && this.#plan ? this.#plan.plan_id : nothing;
    const head = header(session, this.#parent, this.#copies);
    return html`${this.#error && stale(this.#error)} ${head}
      <div class="figures">
        ${bars(session, this.#cost)}
        <section class="panel chart-panel" aria-label="Tokens over time">
          <token-chart ?followed=${session.kind === "followed"} unseen=${unseenOf(session)}></token-chart>
        </section>
      </div>
      <nav class="side-openers" aria-label="Panels">
        ${TABS.map(([name, label]) => html`<button data-act="tab" data-tab=${name}>${label}</button>`)}
      </nav>
      <div class="columns">
        <message-list session-id=${this.#id} plan-id=${plan}
          certainty=${certaintyOfParts(session.pruned)}></message-list>
        ${side(session, this.#tab ?? "heaviest", this.#sheet)}
      </div>
      ${deleteDialog(session)}<resume-dialog></resume-dialog>`;
  }

  /** @param {Api.Session} session */
  #feedPanels(session) {
    const panel = this.#planPanel;
    if (panel) {
      panel.choices = this.#choices;
      panel.session = session;
    }
    const history = this.querySelector("history-panel");
    if (history && customElements.get("history-panel")) history.session = session;
  }
}

customElements.define("coppice-session", CoppiceSession);
