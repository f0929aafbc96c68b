// Reads something again whenever it may have changed: one reading at a time, so that no older answer lands
// after a newer one, and at most one every `calm` milliseconds. However often it is asked meanwhile, one more
// reading follows.

/** @param {number} ms @returns {Promise<void>} */
const pause = (ms) => new Promise((done) => (ms > 0 ? setTimeout(done, ms) : done()));

export class Reader {
  #read;
  #calm;
  #retry;
  #began = Number.NEGATIVE_INFINITY;
  /** The reading under way. @type {Promise<void>} */
  #now = Promise.resolve();
  /** One that was asked for and has not begun. @type {Promise<void> | null} */
  #next = null;
  /** Tries once more. @type {ReturnType<typeof setTimeout> | undefined} */
  #again;
  #life = new AbortController();

  /** @param {(signal: AbortSignal) => Promise<void>} read takes nothing once `signal` is aborted @param {{
   * calm?: number, retry?: number }} [pace] with `retry`, one that throws is made again after so many
   * milliseconds */
  constructor(read, { calm = 0, retry = 0 } = {}) {
    this.#read = read;
    this.#calm = calm;
    this.#retry = retry;
  }

  /** Aborted when what is being read is not wanted any longer. */
  get signal() {
    return this.#life.signal;
  }

  /** Reads soon; done when a reading that began after this call is. @returns {Promise<void>} */
  ask() {
    this.#next ??= this.#soon(this.signal);
    return this.#next;
  }

  /** Reads something else, at once: what was asked for before is given up. */
  restart() {
    this.stop();
    return this.ask();
  }

  /** Gives up what was asked for. */
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
    await pause(this.#began + this.#calm - Date.now());
    if (signal.aborted) return;
    this.#next = null;
    clearTimeout(this.#again);
    this.#began = Date.now();
    const reading = this.#once(signal);
    // Whoever waits for its end to read again does not care how it ended.
    this.#now = reading.catch(() => {});
    await reading;
  }

  /** @param {AbortSignal} signal */
  async #once(signal) {
    try {
      await this.#read(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (this.#retry === 0) throw error;
      this.#again = setTimeout(() => this.ask(), this.#retry);
    }
  }
}
