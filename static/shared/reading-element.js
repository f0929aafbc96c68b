// The base of elements that show what they read from the server, one request at a time, again on `refresh()`.
// A failure is shown with a button that tries again.
import { CoppiceElement } from "./element.js";
import { problem, reasonOf } from "./problem.js";
import { Reader } from "./reader.js";

const TYPING_MS = 200;

export class ReadingElement extends CoppiceElement {
  /** @type {Error | null} */
  error = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #typing;

  /** @param {number} [calm] least milliseconds between two requests */
  constructor(calm = 0) {
    super();
    this.reader = new Reader((signal) => this.#attempt(signal), { calm });
  }

  start() {
    this.actions({ [`retry-${this.localName}`]: () => this.refresh() });
    this.refresh();
  }

  stop() {
    clearTimeout(this.#typing);
    this.reader.stop();
  }

  /** Reads again while the reader types in a search field. @param {(text: string) => void} take */
  readAsTyped(take) {
    this.listen(this, "input", ({ target }) => {
      if (!(target instanceof HTMLInputElement) || target.type !== "search") return;
      take(target.value);
      clearTimeout(this.#typing);
      this.#typing = setTimeout(() => this.reader.restart(), TYPING_MS);
    });
  }

  /** Reads again soon; resolves when that is done. */
  refresh() {
    return this.reader.ask();
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
    this.error = error instanceof Error ? error : new Error(reasonOf(error));
    this.requestUpdate();
  }

  /** The error of the last request, if it failed. @param {string} what "Could not …" */
  problem(what) {
    return this.error && problem(what, this.error.message, `retry-${this.localName}`);
  }
}
