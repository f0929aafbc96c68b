// The base of elements that show what they read from the server, one request at a time, again on `refresh()`.
// A failure is shown with a button that tries again. When the connection is back, a failed request is
// repeated, and every request is if the events since its loss are not known.
// The page gets no event for a change between a read and the join of its room. Elements with
// `readsOnceJoined` therefore wait for the join.
import { CoppiceElement } from "./element.js";
import { html } from "./html.js";
import { errorOf, problem, READING, tokenForm } from "./problem.js";
import { Refresher } from "./refresher.js";
import { live, whenLive } from "./socket.js";
import { toast, toastError } from "./toast.js";

const TYPING_MS = 200;
/** The longest wait for the page to join its room; what was read before is read again then. */
const JOIN_MS = 500;
/** An element near the window counts as seen, so that it is there when somebody scrolls to it.
 * @type {IntersectionObserverInit} */
const NEAR = { rootMargin: "50%" };

export class ReadingElement extends CoppiceElement {
  /** @type {Error | null} */
  error = null;
  /** True to wait with the first read until the page has joined its room, for JOIN_MS at most. */
  readsOnceJoined = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;
  /** The first read before the page has joined its room. @type {ReturnType<typeof setTimeout> | undefined} */
  #early;
  /** True while the element is in view. */
  #isInView = false;
  /** True when a read was put off because the element could not be seen. */
  #isDue = false;
  #readsInView;

  /** @param {number} [interval] least milliseconds between two requests
   * @param {{ inView?: boolean }} [where] `inView`: reads only while the element can be seen */
  constructor(interval = 0, { inView = false } = {}) {
    super();
    this.refresher = new Refresher((signal) => this.#attempt(signal), { interval });
    this.#readsInView = inView;
  }

  start() {
    this.actions({ [`retry-${this.localName}`]: () => this.refresh() });
    whenLive(() => this.#joined(), this.life);
    this.hear(live, ["resync"], ({ known }) => known && this.refresh());
    if (this.#readsInView) this.#watch();
    if (this.readsOnceJoined && live.state === "connecting")
      this.#early = setTimeout(() => this.refresh(), JOIN_MS);
    else this.refresh();
  }

  /** Reads what was not read before, or may have changed since. */
  #joined() {
    if (this.#early === undefined) return this.readFailed();
    clearTimeout(this.#early);
    this.#early = undefined;
    this.refresh();
  }

  /** Reads what was missed once the element can be seen again. */
  #watch() {
    const readMissed = () => this.#isDue && this.refresh();
    const view = new IntersectionObserver((entries) => {
      this.#isInView = entries.at(-1)?.isIntersecting ?? false;
      readMissed();
    }, NEAR);
    view.observe(this);
    this.life.addEventListener("abort", () => view.disconnect());
    this.listen(document, "visibilitychange", readMissed);
  }

  /** Reads again what could not be read. */
  readFailed() {
    if (this.error) this.refresh();
  }

  stop() {
    clearTimeout(this.#typing);
    clearTimeout(this.#early);
    this.refresher.stop();
  }

  /** Reads again while the reader types in a search field. @param {(text: string) => void} take */
  readAsTyped(take) {
    this.asTyped((text) => {
      take(text);
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.refresher.restart(), TYPING_MS);
    });
  }

  /** Reads again soon; resolves when that is done, at once where it waits until the element can be seen. */
  async refresh() {
    this.#isDue = this.#readsInView && (document.hidden || !this.#isInView);
    if (!this.#isDue) await this.refresher.ask();
  }

  /** Reads what is shown. @param {AbortSignal} _signal aborted when the answer is no longer needed */
  async read(_signal) {}

  /** @param {AbortSignal} signal */
  async #attempt(signal) {
    try {
      await this.read(signal);
      if (!signal.aborted) this.error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.fail(error);
    }
    this.requestUpdate();
  }

  /** Shows the error of a request. @param {unknown} error */
  fail(error) {
    this.error = errorOf(error);
    this.requestUpdate();
  }

  /** Acts, shows the words that this returns in a toast, and reads again; a failure is shown in a toast too.
   * @param {string} failure "Could not …" @param {() => Promise<unknown>} act */
  async act(failure, act) {
    try {
      const said = await act();
      if (typeof said === "string") toast(said);
      await this.refresh();
    } catch (error) {
      toastError(error, failure);
    }
  }

  /** The error of the last request, if it failed; without one, that what is shown is still being read, unless
   * it is there. @param {string} what "Could not …" @param {unknown} [isRead] */
  problem(what, isRead = true) {
    const { error, localName } = this;
    if (!error) return !isRead && READING;
    return html`${problem(what, error.message, `retry-${localName}`)}${tokenForm(error)}`;
  }
}
