// The rows of the message list that are open or selected. The address of the page names both, so that a
// reload or a shared link keeps them.
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { reasonOf } from "../shared/problem.js";
import { toastError } from "../shared/toast.js";
import { messagesByNumber } from "./by-number.js";
import { NO_ROWS } from "./list-query.js";

export class PickedRows {
  /** Open rows with their messages, the error, or null while reading.
   * @type {Map<string, { number: number, full: Api.MessageFull | string | null }>} */
  open = new Map();
  /** Open rows that show all of a long text. @type {Set<string>} */
  whole = new Set();
  /** @type {Map<string, Api.Message>} */
  selected = new Map();
  #list;

  /** @param {import("../shared/element.js").CoppiceElement} list */
  constructor(list) {
    this.#list = list;
  }

  get any() {
    return this.open.size > 0 || this.selected.size > 0;
  }

  clear() {
    this.open.clear();
    this.whole.clear();
    this.selected.clear();
  }

  /** Writes the rows into the address. @param {address.Keep} keep */
  write(keep) {
    /** @param {Map<string, { number: number }>} rows */
    const text = (rows) => address.numbersText([...rows.values()].map((row) => row.number));
    keep({ message: text(this.open), selected: text(this.selected) }, NO_ROWS);
  }

  /** Closes the row with this id, or opens the one of the message. @param {string} id
   * @param {Api.Message | undefined} message @param {address.Keep} keep */
  toggle(id, message, keep) {
    if (this.open.has(id)) {
      this.open.delete(id);
      this.whole.delete(id);
    } else if (message) this.read(message);
    this.write(keep);
    this.#list.requestUpdate();
  }

  /** Opens a row and reads its message, or reads it again while it is shown as it was.
   * @param {{ id: string, number: number }} message */
  async read({ id, number }) {
    const before = this.open.get(id)?.full ?? null;
    this.open.set(id, { number, full: typeof before === "string" ? null : before });
    this.#list.requestUpdate();
    const full = await api.message(this.#list.sessionId, id).catch(reasonOf);
    if (this.open.has(id)) this.open.set(id, { number, full });
    this.#list.requestUpdate();
  }

  /** Keeps the selected messages as they are now, and reads again the open ones that were shortened or
   * restored since. @param {Api.Message[]} rows as they are now */
  renew(rows) {
    for (const row of rows) {
      if (this.selected.has(row.id)) this.selected.set(row.id, row);
      const full = this.open.get(row.id)?.full;
      if (full && typeof full !== "string" && full.shortened !== row.shortened) this.read(row);
    }
  }

  /** Reads again the messages that could not be read. */
  readFailed() {
    for (const [id, { number, full }] of this.open) if (typeof full === "string") this.read({ id, number });
  }

  /** Shows all of a long text. @param {string} id */
  showWhole(id) {
    this.whole.add(id);
    this.#list.requestUpdate();
  }

  /** Closes all open rows. Returns whether any was open. */
  close() {
    const had = this.open.size > 0;
    this.open.clear();
    this.write(address.step);
    this.#list.requestUpdate();
    return had;
  }

  /** The row selected last. @returns {string | undefined} */
  get lastSelected() {
    return [...this.selected.keys()].at(-1);
  }

  /** Selects messages, or deselects them. @param {Api.Message[]} messages @param {boolean} on */
  select(messages, on) {
    for (const message of messages)
      if (on) this.selected.set(message.id, message);
      else this.selected.delete(message.id);
    this.write(address.write);
    this.#list.requestUpdate();
  }

  /** Opens and selects the rows that the address names, and only those.
   * @param {Api.Message[]} known messages */
  async recall(known) {
    const { search } = location;
    const { message, selected } = address.read(search, NO_ROWS);
    const open = new Set(address.numbersIn(message));
    const chosen = new Set(address.numbersIn(selected));
    for (const [id, { number }] of this.open) if (!open.delete(number)) this.open.delete(id);
    for (const [id, { number }] of this.selected) if (!chosen.delete(number)) this.selected.delete(id);
    this.#list.requestUpdate();
    const { life } = this.#list;
    try {
      const rows = await messagesByNumber(
        this.#list.sessionId,
        [...new Set([...open, ...chosen])],
        known,
        life,
      );
      if (search !== location.search) return; // another choice was made meanwhile
      for (const row of rows) {
        if (open.has(row.number)) this.read(row);
        if (chosen.has(row.number)) this.selected.set(row.id, row);
      }
    } catch (error) {
      if (!life.aborted) toastError(error, "Could not open the messages that the address names");
    }
    this.#list.requestUpdate();
  }
}
