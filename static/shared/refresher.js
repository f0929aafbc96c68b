// Reads something again whenever it may have changed: one request at a time, so that no older answer replaces
// a newer one, and at most one every `interval` milliseconds. Requests in between become one. With a `share`,
// requests take at most that part of the time, so that slow answers are requested less often.

/** @param {number} ms @returns {Promise<void>} */
const pause = (ms) => new Promise((done) => (ms > 0 ? setTimeout(done, ms) : done()));

/** No pause is longer: a request during which the computer slept took hours, and a clock can be set back. */
const MOST_MS = 60_000;

/** The time between the beginnings of two requests, in milliseconds. @param {number} took the last one
 * @param {number} interval @param {number} share */
export const pauseAfter = (took, interval, share) => Math.min(MOST_MS, Math.max(interval, took / share));

export class Refresher {
  #read;
  #interval;
  #retry;
  #share;
  #took = 0;
  #began = Number.NEGATIVE_INFINITY;
  /** The request that is running. @type {Promise<void>} */
  #now = Promise.resolve();
  /** The request that is waiting to begin. @type {Promise<void> | null} */
  #next = null;
  /** The next retry. @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  #life = new AbortController();

  /** @param {(signal: AbortSignal) => Promise<void>} read must ignore an answer once `signal` is aborted
   * @param {{ interval?: number, retry?: number, share?: number }} [pace] `retry`: milliseconds until a
   * failed request is repeated */
  constructor(read, { interval = 0, retry = 0, share = 1 } = {}) {
    this.#read = read;
    this.#interval = interval;
    this.#retry = retry;
    this.#share = share;
  }

  /** Aborted when the answer is no longer needed. */
  get signal() {
    return this.#life.signal;
  }

  /** Reads soon; resolves with a request that begins after this call. @returns {Promise<void>} */
  ask() {
    this.#next ??= this.#soon(this.signal);
    return this.#next;
  }

  /** Reads at once and cancels earlier requests. */
  restart() {
    this.stop();
    return this.ask();
  }

  /** Cancels all requests. */
  stop() {
    clearTimeout(this.#again);
    this.#life.abort();
    this.#life = new AbortController();
    this.#began = Number.NEGATIVE_INFINITY;
    this.#now = Promise.resolve();
    this.#next = null;
  }

  /** @param {AbortSignal} signal */
  async #soon(signal) {
    await this.#now;
    const between = pauseAfter(this.#took, this.#interval, this.#share);
    await pause(Math.min(between, this.#began + between - Date.now()));
    if (signal.aborted) return;
    this.#next = null;
    clearTimeout(this.#again);
    this.#began = Date.now();
    const reading = this.#once(signal);
    // The next request waits for the end of this one, failed or not.
    this.#now = reading.catch(() => {});
    await reading;
  }

  /** @param {AbortSignal} signal */
  async #once(signal) {
    const began = Date.now();
    try {
      await this.#read(signal);
      this.#took = Date.now() - began;
    } catch (error) {
      if (signal.aborted) return;
      if (this.#retry === 0) throw error;
      this.#again = setTimeout(() => this.ask(), this.#retry);
    }
  }
}
