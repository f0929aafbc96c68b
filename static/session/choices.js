// The messages that the reader chose for the next prune: to drop, to shorten, to spare. Pure.
// A message is chosen for one of them at most: the last choice counts.

/** @typedef {"drop" | "shorten" | "spare"} Kind */
/** @typedef {{ id: string, number: number }} Chosen */

/** @type {[Kind, string][]} */
export const KINDS = [
  ["drop", "Dropped by you"],
  ["shorten", "Shortened by you"],
  ["spare", "Spared by you"],
];

export class Choices {
  /** @type {Map<string, { kind: Kind, number: number }>} */
  #chosen = new Map();

  /** @param {Kind} kind @param {Chosen[]} messages */
  put(kind, messages) {
    for (const { id, number } of messages) this.#chosen.set(id, { kind, number });
  }

  /** Spares a message; one that was chosen to be dropped or shortened is no longer chosen. @param {Chosen} message */
  spare(message) {
    if (!this.#chosen.delete(message.id)) this.put("spare", [message]);
  }

  /** @param {string} id */
  forget(id) {
    this.#chosen.delete(id);
  }

  /** @param {Kind} kind */
  forgetAll(kind) {
    for (const { id } of this.of(kind)) this.#chosen.delete(id);
  }

  /** All that are chosen. */
  get ids() {
    return [...this.#chosen.keys()];
  }

  /** The messages of one kind, by number. @param {Kind} kind @returns {Chosen[]} */
  of(kind) {
    return [...this.#chosen]
      .filter(([, chosen]) => chosen.kind === kind)
      .map(([id, { number }]) => ({ id, number }))
      .sort((a, b) => a.number - b.number);
  }

  /** Whether any message was chosen to be dropped or shortened. */
  get takes() {
    return this.of("drop").length + this.of("shorten").length > 0;
  }

  /** The choices as fields of a request. @returns {{ drop?: string[], shorten?: string[], spare?: string[] }} */
  request() {
    return Object.fromEntries(
      KINDS.map(([kind]) => [kind, this.of(kind).map(({ id }) => id)]).filter(([, ids]) => ids?.length),
    );
  }
}
