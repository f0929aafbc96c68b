// <saved-totals></saved-totals>
//
// The tokens that prunes, summaries and drops saved in later calls, and their price; empty if nothing was
// pruned. Below it the real outcomes: what agents did again after they had lost context.

import { api } from "../shared/api.js";
import { compact, counted, money, number } from "../shared/format.js";
import { html, nothing } from "../shared/html.js";
import { recall, remember } from "../shared/preferences.js";
import { totalWords } from "../shared/prune-words.js";
import { ReadingElement } from "../shared/reading-element.js";
import { live } from "../shared/socket.js";

/** A busy session changes several times a second. */
const INTERVAL_MS = 5000;
/** The preference with the height of the lines at the last visit: their place is kept while they are read. */
const HEIGHT = "saved-height";

class SavedTotals extends ReadingElement {
  readsOnceJoined = true;
  /** @type {Api.Savings | null} */
  #saved = null;

  constructor() {
    super(INTERVAL_MS);
  }

  start() {
    this.style.minHeight = `${recall(HEIGHT) ?? 0}px`;
    this.hear(live, ["session:updated", "session:deleted"], () => this.refresh());
    super.start();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const saved = await api.savings(signal);
    if (!signal.aborted) this.#saved = saved;
  }

  update() {
    super.update();
    if (!this.#saved) return;
    this.style.minHeight = "";
    remember(HEIGHT, String(this.offsetHeight));
  }

  template() {
    if (!this.#saved) return nothing;
    const { aftermath } = this.#saved;
    const outcomes = aftermath && html`<p class="muted">${totalWords(aftermath)}</p>`;
    return html`${savedWords(this.#saved)}${outcomes}`;
  }
}

/** @param {Api.Savings} saved */
function savedWords({ tokens, calls, sessions, of_sessions, out, amount, at_least, currency }) {
  if (tokens === 0 && out === 0) return nothing;
  if (tokens === 0)
    return html`<p class="muted">
      Prunes freed ${compact(out)} tokens. No call has used a pruned context yet, so nothing is saved so far.
    </p>`;
  const least = at_least ? "at least " : "";
  const paid =
    amount !== null && html`, ${least}<b>${money(amount, currency)}</b> at the list price of cached input`;
  return html`<p class="muted">
    Saved <b>${compact(tokens)} tokens</b> in ${counted(calls, "call")} of ${number(sessions)} of
    ${counted(of_sessions, "session")}${paid}.
  </p>`;
}

customElements.define("saved-totals", SavedTotals);
