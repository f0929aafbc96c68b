// The panel that is open beside the messages, and the focus as one opens or closes. The address of the page
// names the panel. On a narrow page the panels are a sheet over it, below which nothing is reached.
import * as address from "../shared/address.js";
import { focusOn } from "../shared/keys.js";
import { neighbour, PANELS, TABS } from "./panels.js";
import { NO_TRIAL } from "./plan.js";

/** @typedef {import("./panels.js").Tab} Tab */

/** Matches where the panels are a sheet over the page: the width at which panels.css makes them one. */
const NARROW = matchMedia("(max-width: 67.5em)");
/** The elements that stay usable over an open sheet. */
const ABOVE = "coppice-toasts, coppice-shortcuts, resume-dialog, dialog";

/** The panel that the address names; null for none. @returns {Tab | null} */
function namedPanel() {
  const { panel } = address.read(location.search, { panel: "" });
  return TABS.find((name) => name === panel) ?? null;
}

/** Writes the open panel into the address; what was tried in a plan goes with it.
 * @param {Tab | ""} panel @param {address.Keep} keep @param {number} [aim] tokens to cut to */
function keepPanel(panel, keep, aim) {
  const trial = panel === "plan" && aim === undefined ? {} : { ...NO_TRIAL, cut: String(aim ?? "") };
  keep({ panel, ...trial }, { panel: "", ...NO_TRIAL });
}

/** The rest of the page: the siblings of an element and of its ancestors, except those above a sheet.
 * @param {Element} element @returns {HTMLElement[]} */
function restOfPage(element) {
  /** @type {HTMLElement[]} */
  const found = [];
  for (let at = element; at.parentElement && at !== document.body; at = at.parentElement)
    for (const one of at.parentElement.children)
      if (one !== at && one instanceof HTMLElement && !one.matches(ABOVE)) found.push(one);
  return found;
}

export class SidePanels {
  /** The open panel; null until the first numbers or the reader choose one. @type {Tab | null} */
  tab = null;
  /** True while the sheet of a narrow page is open. */
  sheet = false;
  /** The panel that could not be loaded. @type {Tab | null} */
  unloaded = null;
  #page;
  /** The panel where the address names none. @type {Tab} */
  #first = "heaviest";
  /** True once the page has panels. */
  #shown = false;
  /** The element that had the focus when a panel was opened. @type {Element | null} */
  #opener = null;
  /** The parts of the page that an open sheet covers. @type {HTMLElement[]} */
  #covered = [];

  /** @param {import("../shared/element.js").CoppiceElement} page */
  constructor(page) {
    this.#page = page;
  }

  /** Follows the width of the window. @param {AbortSignal} signal */
  start(signal) {
    NARROW.addEventListener("change", () => this.cover(), { signal });
  }

  get plan() {
    return this.#page.querySelector("plan-panel");
  }

  /** Shows the panel that was asked for while the page was loading, the one that the address names, or on a
   * wide page the one that suits the session. Returns whether a plan was asked for. @param {Tab} suits */
  begin(suits) {
    const asked = this.tab === "plan" || location.hash === "#plan";
    if (asked) keepPanel("plan", address.write);
    // A sheet is closed at first: a plan in it would decide unseen which messages the list shows.
    if (!NARROW.matches) this.#first = suits;
    this.#shown = true;
    const named = namedPanel();
    this.tab ??= named ?? this.#first;
    this.sheet = named !== null;
    this.#page.update();
    if (asked) this.open("plan");
    return asked;
  }

  /** Shows what the address names after a step back or forward. */
  recall() {
    const named = namedPanel();
    this.tab = named ?? this.#first;
    this.sheet = named !== null;
    this.leave();
  }

  /** @param {Tab} tab @param {number} [aim] tokens that a plan cuts to, instead of those it did last */
  open(tab, aim) {
    const within = document.activeElement?.closest(".side");
    if (!within) this.#opener = document.activeElement;
    this.tab = tab;
    this.sheet = true;
    this.unloaded = null;
    if (!this.#shown) return;
    keepPanel(tab, address.step, aim);
    this.#page.update();
    if (tab === "plan") aim === undefined ? this.plan?.plan() : this.plan?.aimAt(aim);
    // A panel opened from another one is at the same place.
    if (tab === "plan" || !within) this.#show();
    else this.#focusTab();
  }

  /** Loads the open panel when it is shown for the first time. */
  async load() {
    const { tab } = this;
    const load = tab && tab !== this.unloaded && PANELS[tab].load;
    if (!load || customElements.get(`${tab}-panel`)) return;
    try {
      await load();
    } catch {
      this.unloaded = tab;
    }
    this.#page.requestUpdate();
  }

  /** Tries again to load the open panel. */
  loadAgain() {
    this.unloaded = null;
    this.#page.requestUpdate();
  }

  /** Keeps Tab and screen readers in an open sheet, and gives the page back when it is closed or the window
   * is widened. */
  cover() {
    const side = this.#page.querySelector(".side");
    const isOver = side !== null && this.sheet && NARROW.matches;
    if (isOver === this.#covered.length > 0) return;
    for (const part of this.#covered) part.inert = false;
    this.#covered = isOver ? restOfPage(side) : [];
    for (const part of this.#covered) part.inert = true;
    document.body.toggleAttribute("data-sheet", isOver);
    side?.setAttribute("role", isOver ? "dialog" : "complementary");
    if (isOver) side.setAttribute("aria-modal", "true");
    else side?.removeAttribute("aria-modal"); // it is allowed for dialogs only
  }

  /** True while this panel can be seen. @param {Tab} tab */
  shows(tab) {
    return this.tab === tab && (this.sheet || !NARROW.matches);
  }

  /** Scrolls the opened panel into view and moves the focus to it. */
  #show() {
    const top = this.#page.querySelector(".side")?.getBoundingClientRect().top ?? 0;
    if (!NARROW.matches && top > innerHeight * 0.4)
      this.#page.querySelector(".columns")?.scrollIntoView({ block: "start" });
    if (this.tab === "plan") this.plan?.focusHeading();
    else this.#focusTab();
  }

  #focusTab() {
    focusOn(this.#page.querySelector(".side [role=tab][aria-selected=true]"), { preventScroll: true });
  }

  /** Moves to the tab beside the one that has the focus, with the arrow keys. @param {KeyboardEvent} event */
  press(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return; // the browser's own keys
    if (!(event.target instanceof Element) || event.target.getAttribute("role") !== "tab") return;
    const next = this.tab && neighbour(this.tab, event.key);
    if (!next) return;
    this.open(next);
    this.#focusTab();
  }

  /** Closes the sheet and returns the focus to its opener. Returns whether it was open. */
  closeSheet() {
    const was = this.sheet && NARROW.matches;
    this.sheet = false;
    if (was) address.step({ panel: "" }, { panel: "" });
    if (was) this.leave();
    else this.#page.update();
    return was;
  }

  /** Closes the plan. */
  closePlan() {
    this.tab = "heaviest";
    keepPanel("heaviest", address.step);
    this.leave();
  }

  /** Shows the history in place of the plan that was applied. */
  finishPlan() {
    this.tab = "history";
    keepPanel(NARROW.matches ? "" : "history", address.write);
    this.sheet = false;
  }

  /** Renders, and returns a focus that was in the panels, or nowhere, to the element that opened them. */
  leave() {
    const held = document.activeElement;
    const within = held === document.body || held?.closest(".side") || NARROW.matches;
    this.#page.update();
    if (within && this.#opener?.isConnected) focusOn(this.#opener, { preventScroll: true });
  }
}
