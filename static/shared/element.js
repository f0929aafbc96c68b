// The base of our elements: `requestUpdate()` asks for one `update()` before the next frame, however often it is
// called; listeners added with `listen` end with the element's time on the page.

export class CoppiceElement extends HTMLElement {
  #asked = false;
  /** @type {Node | null} */
  #place = null;
  /** @type {AbortController | null} */
  #life = null;

  connectedCallback() {
    this.#place = this.parentNode;
    this.#life = new AbortController();
    this.start();
    this.requestUpdate();
  }

  disconnectedCallback() {
    this.#life?.abort();
    this.#life = null;
    this.stop();
  }

  attributeChangedCallback() {
    if (this.isConnected) this.requestUpdate();
  }

  /** Ends when the element leaves the page. @returns {AbortSignal} */
  get life() {
    return this.#life?.signal ?? AbortSignal.abort();
  }

  requestUpdate() {
    if (this.#asked) return;
    this.#asked = true;
    queueMicrotask(() => {
      this.#asked = false;
      if (this.isConnected) this.update();
    });
  }

  /** Sets up; called on each arrival on a page. */
  start() {}

  /** Cleans up; called on each departure. */
  stop() {}

  /** Draws the element from its state. */
  update() {}

  /** @template {Event} [E=Event] @param {EventTarget} target @param {string} type @param {(event: E) => void} handler */
  listen(target, type, handler) {
    target.addEventListener(type, /** @type {EventListener} */ (handler), { signal: this.life });
  }

  /** Calls `handlers[name]` for clicks on descendants with `data-act="name"`.
   * @param {Record<string, (target: HTMLElement, event: MouseEvent) => void>} handlers */
  actions(handlers) {
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => {
      const target = /** @type {Element} */ (event.target).closest("[data-act]");
      if (!(target instanceof HTMLElement) || !this.contains(target)) return;
      handlers[target.dataset.act ?? ""]?.(target, event);
    });
  }

  /** Tells those around the element; what was begun before it left its page is told from where it stood.
   * @param {string} type @param {unknown} [detail] */
  emit(type, detail) {
    return (this.isConnected ? this : (this.#place ?? this)).dispatchEvent(
      new CustomEvent(type, { detail, bubbles: true, composed: true, cancelable: true }),
    );
  }
}
