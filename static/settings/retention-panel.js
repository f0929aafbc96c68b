// <retention-panel></retention-panel>
//
// The limits on the age and size of sessions. While a limit is typed, the sessions that it would delete are
// shown; nothing is stored or deleted before a button is pressed. Follows `settings:changed`.
import { ApiError, api } from "../shared/api.js";
import { ask } from "../shared/ask.js";
import { counted, decimal, number, sentence } from "../shared/format.js";
import { html, keyed } from "../shared/html.js";
import { reasonOf } from "../shared/problem.js";
import { ReadingElement } from "../shared/reading-element.js";
import { pageOf } from "../shared/session-facts.js";
import { live } from "../shared/socket.js";
import { agoTime } from "../shared/times.js";

/** @typedef {keyof Api.RetentionLimits} Limit */
/** @type {[name: Limit, label: string, unit: string][]} */
const FIELDS = [
  ["days", "Not used for", "days"],
  ["size_mib", "All sessions together", "MiB"],
  ["user_size_mib", "The sessions of each user", "MiB"],
];
const REASONS = {
  age: "not used for too long",
  size: "all sessions together are too large",
  user_size: "its user's sessions are too large",
};
/** Sessions are shown up to this number. */
const SHOWN = 10;

class RetentionPanel extends ReadingElement {
  readsOnceJoined = true;
  /** The stored limits with what they delete. @type {Api.Retention | null} */
  #stored = null;
  /** The limits in the form, where they differ, with what they would delete. @type {Api.Retention | null} */
  #typed = null;
  /** The reason why the limits in the form cannot be used. */
  #fault = "";
  /** The fields with that reason. @type {string[]} */
  #wrong = [];

  start() {
    this.actions({
      "set-limits": () =>
        this.act("Could not set the limits", async () => (await api.saveRetention(this.#form())).text),
      "apply-limits": () => this.#apply(),
    });
    this.listen(this, "input", () => this.#preview());
    this.hear(live, ["settings:changed"], () => this.refresh());
    super.start();
  }

  async read() {
    this.#stored = await api.retention();
    this.update();
    await this.#preview(); // a limit that is being typed stays
  }

  /** The limits in the form. @returns {Api.RetentionLimits} */
  #form() {
    /** @param {Limit} name */
    const value = (name) => {
      const field = /** @type {HTMLInputElement} */ (this.querySelector(`[name=${name}]`));
      return field.value.trim() === "" ? null : Number(field.value);
    };
    return { days: value("days"), size_mib: value("size_mib"), user_size_mib: value("user_size_mib") };
  }

  async #preview() {
    const limits = this.#form();
    const same = FIELDS.every(([name]) => limits[name] === this.#stored?.limits[name]);
    /** @type {[Api.Retention | null, unknown]} */
    const [found, error] = same
      ? [null, null]
      : await api.previewRetention(limits).then(
          (found) => [found, null],
          (error) => [null, error],
        );
    if (JSON.stringify(limits) !== JSON.stringify(this.#form())) return; // typed on meanwhile
    this.#typed = found;
    this.#fault = error ? faultOf(error) : "";
    this.#wrong = error instanceof ApiError ? error.faults.map(({ field }) => field) : [];
    this.requestUpdate();
  }

  async #apply() {
    const count = this.#stored?.sessions ?? 0;
    const title = `Delete ${counted(count, "session")} now?`;
    const text = html`<p>
      ${count === 1 ? "Its log and all its" : "Their logs and all their"} operations are deleted from Coppice.
      This cannot be undone.
    </p>`;
    const no = count === 1 ? "Keep it" : "Keep them";
    if (!(await ask({ title, text, yes: "Delete", no }))) return;
    await this.act("Could not delete them", async () => (await api.applyRetention({ sessions: count })).text);
  }

  template() {
    const shown = this.#typed ?? this.#stored;
    return html`<section class="panel group-box" id="retention" aria-labelledby="retention-title">
      <header>
        <h2 id="retention-title">Delete old sessions</h2>
        <span class="muted small">off while no limit is set</span>
      </header>
      ${this.problem("Could not read the limits")}
      <div class="retention-fields">${FIELDS.map(
        ([name, label, unit]) => html`<label class="stack tight">${label}
          <span class="beside"><input type="number" name=${name} min="1" step="1" inputmode="numeric"
            placeholder="no limit" aria-invalid=${this.#wrong.includes(name)}
            .value=${`${this.#stored?.limits[name] ?? ""}`}>${unit}</span></label>`,
      )}</div>
      <p class="pad ${this.#fault ? "fault" : (shown?.sessions ?? 0) > 0 ? "warned" : ""}" role="status"
        >${this.#fault ? sentence(this.#fault) : withDays(shown?.text ?? "")}</p>
      ${!this.#fault && shown && shown.named.length > 0 && going(shown)}
      <p class="pad muted small">
        Limits are applied every night at 3:00. Sessions used within the last day stay, and so do those that
        you keep (on the session's page, under More).
      </p>
      <p class="pad">
        <button class="small primary" data-act="set-limits" ?disabled=${this.#typed === null}
          >Set these limits</button>
        ${
          this.#typed === null &&
          !this.#fault &&
          (this.#stored?.sessions ?? 0) > 0 &&
          html`<button class="small danger" data-act="apply-limits">Delete them now…</button>`
        }
      </p>
    </section>`;
  }
}

/** The reason why limits cannot be used, with the label of each wrong field. @param {unknown} error */
const faultOf = (error) =>
  error instanceof ApiError && error.faults.length > 0
    ? error.faults
        .map(({ field, message }) => `${FIELDS.find(([name]) => name === field)?.[1] ?? field}: ${message}`)
        .join("; ")
    : reasonOf(error);

const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** A text of the server with its days as people write them. @param {string} text */
const withDays = (text) => text.replace(/\d{4}-\d\d-\d\d/g, (iso) => day.format(new Date(iso)));

/** @param {number} bytes */
const size = (bytes) => (bytes < 0.1 * 2 ** 20 ? "under 0.1 MiB" : `${decimal(bytes / 2 ** 20)} MiB`);

/** The first of the sessions that go. @param {Api.Retention} retention */
function going({ named, sessions }) {
  /** @param {Api.SessionToDelete} one */
  const line = (one) => html`<li>
    <a class="link" href=${pageOf(one.id)}>${one.title}</a>
    <span class="muted small">${one.user && `${one.user} · `}${agoTime(one.last_activity)} ·
      ${one.sessions > 1 && `with ${counted(one.sessions - 1, "sub-agent")} · `}${size(one.bytes)} ·
      ${REASONS[one.reason]}</span>
  </li>`;
  const more = sessions - named.slice(0, SHOWN).reduce((sum, one) => sum + one.sessions, 0);
  return html`<ul class="pad stack tight retention-list">${keyed(named.slice(0, SHOWN), "id", line)}
    ${more > 0 && html`<li class="muted small">and ${number(more)} more</li>`}</ul>`;
}

customElements.define("retention-panel", RetentionPanel);
