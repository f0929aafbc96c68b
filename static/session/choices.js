// The messages that the reader chose for the next prune, to drop, to shorten or to spare. Pure. The last
// choice for a message counts.
import { numbersText } from "../shared/address.js";

/** @typedef {"drop" | "shorten" | "spare"} Kind */
/** @typedef {{ id: string, number: number }} Chosen */

/** @type {[Kind, string][]} */
export const KINDS = [
  ["drop", "Dropped by you"],
  ["shorten", "Shortened by you"],
  ["spare", "Spared by you"],
];

/** The parameters of the choices in the page's address, where there are none. */
export const NO_CHOICES = { drop: "", shorten: "", spare: "" };

export class Choices {
  /** @type {Map<string, { kind: Kind, number: number }>} */
  #chosen = new Map();

  /** @param {Kind} kind @param {Chosen[]} messages */
  put(kind, messages) {
    for (const { id, number } of messages) this.#chosen.set(id, { kind, number });
  }

  /** Spares a message, or takes back the choice to drop or shorten it. @param {Chosen} message */
  spare(message) {
    if (!this.#chosen.delete(message.id)) this.put("spare", [message]);
  }

  /** @param {string} id */
  forget(id) {
    this.#chosen.delete(id);
  }

  /** @param {string | undefined} kind */
  forgetAll(kind) {
    for (const { id } of this.of(kind)) this.#chosen.delete(id);
  }

  /** The ids of all chosen messages. */
  get ids() {
    return [...this.#chosen.keys()];
  }

  /** The messages of one kind, by number. @param {string | undefined} kind @returns {Chosen[]} */
  of(kind) {
    return [...this.#chosen]
      .filter(([, chosen]) => chosen.kind === kind)
      .map(([id, { number }]) => ({ id, number }))
      .sort((a, b) => a.number - b.number);
  }

  /** The choices as parameters of the page's address. @returns {typeof NO_CHOICES} */
  written() {
    const texts = KINDS.map(([kind]) => [kind, numbersText(this.of(kind).map((chosen) => chosen.number))]);
    return Object.fromEntries(texts);
  }

  /** True when a message is chosen to be dropped or shortened. */
  get takes() {
    return this.of("drop").length + this.of("shorten").length > 0;
  }

  /** The choices as fields of a request. @returns {Pick<Api.PlanBody, Kind>} */
  request() {
    return Object.fromEntries(
      KINDS.map(([kind]) => [kind, this.of(kind).map(({ id }) => id)]).filter(([, ids]) => ids?.length),
    );
  }
}
