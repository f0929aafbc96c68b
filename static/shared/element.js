// The base of our elements. `template()` returns what an element shows. `requestUpdate()` renders it once
// before the next frame, even if it is called several times. Listeners added with `listen` end when the
// element leaves the page.
import { nothing, render } from "./html.js";
import { focusOn, followInputs, shortcutsFor } from "./keys.js";
import { unlessViewing } from "./viewing.js";

/** The elements that Tab reaches. */
const FOCUSABLE =
  ':is(button, a[href], input, select, textarea, summary, [tabindex]):not(:disabled, [tabindex="-1"])';

/** The ancestors of an element up to `last`, the nearest first.
 * @param {Element} inner @param {Element} last */
function ancestors(inner, last) {
  const found = [];
  for (let at = inner.parentElement; at && at !== last.parentElement; at = at.parentElement) found.push(at);
  return found;
}

/** The field that was changed last. @type {EventTarget | null} */
let changed = null;

/** @param {Event} event */
function follow({ target }) {
  changed = target;
}

/** Focuses the nearest element to the one that lost the focus. @param {Element[]} around */
function focusNearest(around) {
  for (const place of around) {
    const next = [...place.querySelectorAll(FOCUSABLE)].find((one) => one.checkVisibility());
    if (place.isConnected && next) return focusOn(next, { preventScroll: true });
  }
}

/** True when nothing has the focus, or a hidden element, from which the browser takes it later. */
function isFocusLost() {
  const held = document.activeElement;
  return held === null || held === document.body || held.closest("[hidden]") !== null;
}

/** Returns a function that finds a new place for a focus that is within `root` now and that a render loses.
 * @param {HTMLElement} element @param {HTMLElement | ShadowRoot} root of the element */
function focusKeeper(element, root) {
  const held = document.activeElement;
  if (!held || held === element || !root.contains(held)) return () => {};
  const around = ancestors(held, element);
  return () => {
    if (!isFocusLost()) return;
    // Buttons that hide, as those that save, are used after a field.
    const field =
      held.isConnected && changed instanceof HTMLElement && element.contains(changed) ? changed : null;
    if (field?.checkVisibility()) focusOn(field);
    else focusNearest(around);
  };
}

export class CoppiceElement extends HTMLElement {
  #asked = false;
  /** @type {Node | null} */
  #place = null;
  /** @type {AbortController | null} */
  #life = null;

  connectedCallback() {
    this.#place = this.parentNode;
    this.#life = new AbortController();
    document.addEventListener("input", follow, true); // added only once
    followInputs();
    this.start();
    this.requestUpdate();
  }

  disconnectedCallback() {
    this.#life?.abort();
    this.#life = null;
    this.stop();
  }

  /** @param {string} _name @param {string | null} _before @param {string | null} _now */
  attributeChangedCallback(_name, _before, _now) {
    if (this.isConnected) this.requestUpdate();
  }

  /** Aborted when the element leaves the page. @returns {AbortSignal} */
  get life() {
    return this.#life?.signal ?? AbortSignal.abort();
  }

  /** The id of the session that the attribute `session-id` names. */
  get sessionId() {
    return this.getAttribute("session-id") ?? "";
  }

  /** The certainty of the tokens that the element shows, by the attribute `certainty`. */
  get certainty() {
    return this.getAttribute("certainty") ?? "";
  }

  /** The node that the template is rendered into. @returns {HTMLElement | ShadowRoot} */
  get root() {
    return this;
  }

  requestUpdate() {
    if (this.#asked) return;
    this.#asked = true;
    queueMicrotask(() => {
      if (this.#asked && this.isConnected) this.update();
      this.#asked = false;
    });
  }

  /** Sets up; called whenever the element is added to a page. */
  start() {}

  /** Cleans up; called whenever the element leaves a page. */
  stop() {}

  /** Renders the element now. If the focused element is removed or hidden, a nearby one gets the focus. */
  update() {
    this.#asked = false;
    const keepFocus = focusKeeper(this, this.root);
    render(this.template(), this.root);
    keepFocus();
  }

  /** Returns the template of the current state. @returns {import("./html.js").Html} */
  template() {
    return nothing;
  }

  /** @template {Event} [E=Event] @param {EventTarget} target @param {string} type
   * @param {(event: E) => void} handler */
  listen(target, type, handler) {
    target.addEventListener(type, /** @type {EventListener} */ (handler), { signal: this.life });
  }

  /** Calls back with the text of a search field as it is typed. @param {(text: string) => void} take */
  asTyped(take) {
    this.listen(this, "input", ({ target }) => {
      if (target instanceof HTMLInputElement && target.type === "search") take(target.value);
    });
  }

  /** Listens to an event of the server. @param {EventTarget} live @param {string[]} types
   * @param {(payload: any) => void} handler */
  hear(live, types, handler) {
    for (const type of types)
      this.listen(live, type, (/** @type {CustomEvent} */ { detail }) => handler(detail));
  }

  /** Calls `handlers[name]` for clicks on descendants with `data-act="name"`.
   * @param {Record<string, (target: HTMLElement) => void>} handlers */
  actions(handlers) {
    this.listen(this.root, "click", (/** @type {MouseEvent} */ event) => {
      const target = /** @type {Element} */ (event.target).closest("[data-act]");
      if (target instanceof HTMLElement && this.root.contains(target))
        handlers[target.dataset.act ?? ""]?.(target);
    });
  }

  /** Calls back every `ms` while the element is on the page. @param {number} ms @param {() => void} act */
  every(ms, act) {
    const clock = setInterval(act, ms);
    this.life.addEventListener("abort", () => clearInterval(clock));
  }

  /** Lets the keys j and k move the focus among the elements that match. @param {string} selector
   * @param {string} noun what one of them is, for the list of shortcuts */
  stepKeys(selector, noun) {
    /** @param {number} by */
    const step = (by) => {
      const all = [...this.querySelectorAll(selector)];
      const here = all.findIndex((one) => one.matches(":focus"));
      const last = all.length - 1;
      focusOn(all[here < 0 && by < 0 ? last : Math.min(last, Math.max(0, here + by))]);
    };
    shortcutsFor(
      [
        { key: "j", label: `Next ${noun}`, run: () => step(1) },
        { key: "k", label: `Previous ${noun}`, run: () => step(-1) },
      ],
      this.life,
    );
  }

  /** Lets Enter in a field of a form save it, and Escape close it. @param {() => void} save
   * @param {() => void} close */
  formKeys(save, close) {
    this.listen(this, "keydown", (/** @type {KeyboardEvent} */ { key, target }) => {
      if (target instanceof HTMLInputElement && target.type === "search") return;
      if (key === "Enter" && target instanceof HTMLInputElement) unlessViewing(save);
      if (key === "Escape") close();
    });
  }

  /** Fires an event that bubbles. One fired after the element left the page starts at its former parent.
   * @param {string} type @param {unknown} [detail] */
  emit(type, detail) {
    return (this.isConnected ? this : (this.#place ?? this)).dispatchEvent(
      new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }),
    );
  }
}
