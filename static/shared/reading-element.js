// The base of elements that show what they read from the server: one reading at a time, again on `refresh()`; a reading
// that fails says so, with a button that tries again.
import { CoppiceElement } from "./element.js";
import { problem, reasonOf } from "./problem.js";
import { Reader } from "./reader.js";

export class ReadingElement extends CoppiceElement {
  /** @type {Error | null} */
  error = null;

  /** @param {number} [calm] at most one reading in so many milliseconds */
  constructor(calm = 0) {
    super();
    this.reader = new Reader((signal) => this.#attempt(signal), { calm });
  }

  start() {
    this.actions({ [`retry-${this.localName}`]: () => this.refresh() });
    this.refresh();
  }

  stop() {
    this.reader.stop();
  }

  /** Reads again soon; done when it has. */
  refresh() {
    return this.reader.ask();
  }

  /** Reads what is shown. @param {AbortSignal} _signal aborted when the answer is not wanted any more */
  async read(_signal) {}

  /** @param {AbortSignal} signal */
  async #attempt(signal) {
    try {
      await this.read(signal);
      if (!signal.aborted) this.error = null;
    } catch (error) {
      if (signal.aborted) return;
      this.error = error instanceof Error ? error : new Error(reasonOf(error));
    }
    this.requestUpdate();
  }

  /** The box that says what could not be read; nothing where the last reading went well. @param {string} what
   * "Could not …" */
  problem(what) {
    return this.error && problem(what, this.error.message, `retry-${this.localName}`);
  }
}
