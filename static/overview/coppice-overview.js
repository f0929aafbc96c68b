// <coppice-overview></coppice-overview>
//
// All sessions in one table: state, gauge, growth, prunes. Follows the room "overview"; the order changes
// only while pointer and focus are elsewhere. Filter and chip are part of the address.
import "../shared/context-gauge.js";
import "./file-drop.js";
import "./trend-line.js";
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { counted, number } from "../shared/format.js";
import { html, repeat } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { ReadingElement } from "../shared/reading-element.js";
import { root } from "../shared/root.js";
import { live } from "../shared/socket.js";
import { refreshTimes } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";
import { title } from "../shared/words.js";
import { regionLegend, sessionRow } from "./session-row.js";
import { arrange, tally } from "./sessions.js";

const COLUMNS = [
  ["c-state", html`<span class="sr">State</span>`],
  ["c-title", "Session"],
  ["c-gauge", "Context"],
  ["c-full num", "Full"],
  ["c-trend", "Trend"],
  ["c-tokens num", "Tokens / limit"],
  ["c-growth num", "A turn"],
  ["c-left num", "To target"],
  ["c-prunes num", "Prunes"],
  ["c-last num", "Last"],
  ["c-act", html`<span class="sr">Act</span>`],
].map(([name, label]) => html`<th role="columnheader" class=${name}>${label}</th>`);

const BEGINNING = { find: "", show: "all" };

export class CoppiceOverview extends ReadingElement {
  /** Sessions by id; null until they are read. @type {Map<string, Api.Session> | null} */
  #sessions = null;
  #text = address.read(location.search, BEGINNING).find;
  #chip = address.read(location.search, BEGINNING).show;
  /** Ids of sessions whose quiet sub-agents are shown. @type {Set<string>} */
  #unfolded = new Set();
  #startingDemo = false;
  /** The ids of the shown rows in order. @type {string[]} */
  #order = [];

  start() {
    live.join("overview");
    this.hear(live, ["session:updated"], (session) => this.#receive(session));
    this.hear(live, ["session:deleted"], ({ session_id }) => {
      this.#sessions?.delete(session_id);
      this.requestUpdate();
    });
    this.hear(live, ["resync"], ({ snapshot }) => this.#take(snapshot.sessions));
    this.hear(live, ["settings:changed", "models:changed"], () => this.refresh());
    this.listen(this, "imported", () => this.refresh());
    for (const type of ["pointerout", "focusout"])
      this.listen(this, type, (/** @type {PointerEvent | FocusEvent} */ { relatedTarget: to }) => {
        if (!(to instanceof Element && to.closest("tbody"))) this.requestUpdate();
      });
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.type === "search") this.#choose({ text: field.value });
    });
    this.actions({
      chip: (target) => this.#choose({ chip: target.dataset.chip }),
      fold: (target) => this.#fold(target.dataset.id ?? ""),
      demo: () => this.#startDemo(),
      import: () => this.querySelector("file-drop")?.pick(),
      "clear-filter": () => this.#choose({ text: "", chip: "all" }),
    });
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => this.#openRow(event));
    this.stepKeys("tr.session-row a.title", "row");
    this.every(10_000, () => refreshTimes(this));
    super.start();
  }

  async read() {
    this.#take(await api.sessions());
  }

  /** @param {Api.Session[]} sessions all there are */
  #take(sessions) {
    const known = this.#sessions;
    this.#sessions = new Map(sessions.map((s) => [s.id, newer(known?.get(s.id), s)]));
    this.error = null;
    this.requestUpdate();
  }

  /** @param {Api.Session} session */
  #receive(session) {
    this.#sessions ??= new Map();
    this.#sessions.set(session.id, session);
    this.requestUpdate();
  }

  /** @param {{ text?: string, chip?: string }} choice */
  #choose({ text = this.#text, chip = this.#chip }) {
    this.#text = text;
    this.#chip = chip;
    address.write({ find: text, show: chip }, BEGINNING);
    this.requestUpdate();
  }

  /** @param {string} id */
  #fold(id) {
    if (!this.#unfolded.delete(id)) this.#unfolded.add(id);
    this.requestUpdate();
  }

  async #startDemo() {
    this.#startingDemo = true;
    this.requestUpdate();
    try {
      await api.startDemo();
      toast("The demo session has started. It grows by itself.");
      await this.refresh();
    } catch (error) {
      toastError(error, "Could not start the demo session");
    }
    this.#startingDemo = false;
    this.requestUpdate();
  }

  /** A click anywhere in a row opens its session. @param {MouseEvent} event */
  #openRow(event) {
    const target = /** @type {Element} */ (event.target);
    if (target.closest("a, button") || getSelection()?.toString()) return;
    target.closest("tr.session-row")?.querySelector("a")?.click();
  }

  view() {
    const empty = this.#sessions?.size === 0;
    return html`${empty ? this.#emptyState() : this.#page()}<file-drop></file-drop>`;
  }

  #page() {
    const sessions = [...(this.#sessions?.values() ?? [])];
    const rows = arrange(sessions, { text: this.#text, chip: this.#chip, unfolded: this.#unfolded });
    return html`<div class="page-head">
        <h1>Sessions</h1>
        ${this.#sessions && counts(sessions)}
        <span class="end"><button data-act="import">${icon("plus")}Import…</button></span>
      </div>
      ${this.problem("Could not read the sessions")} ${this.#toolbar(sessions)}
      ${rows.length > 0 ? this.#table(rows) : this.#sessions && noneFits(sessions.length)}
      <div class="legend-foot">${regionLegend()}</div>`;
  }

  /** @param {Api.Session[]} sessions */
  #toolbar(sessions) {
    const { busy, above, sources } = tally(sessions);
    /** @param {string} name @param {string} label @param {number} [count] */
    const chip = (name, label, count) =>
      html`<button class="chip" data-act="chip" data-chip=${name} aria-pressed=${this.#chip === name}
        >${label}${count !== undefined && html`<span class="count">${number(count)}</span>`}</button>`;
    return html`<div class="toolbar">
      <input type="search" .value=${this.#text} placeholder="Filter sessions" aria-label="Filter sessions"
        autocomplete="off" spellcheck="false">
      <div class="chips" role="group" aria-label="Show">
        ${chip("all", "All")}${chip("active", "Active", busy)}${chip("above", "Above target", above)}
        ${sources.map(([source, label]) => chip(source, title(label)))}
      </div>
    </div>`;
  }

  /** @param {import("./sessions.js").Row[]} rows */
  #table(rows) {
    return html`<div class="panel sessions-panel"><table class="sessions" role="table" aria-label="Sessions">
      <thead role="rowgroup">
        <tr role="row">${COLUMNS}</tr>
      </thead>
      <tbody role="rowgroup">${repeat(this.#inOrder(rows), ({ session }) => session.id, sessionRow)}</tbody>
    </table></div>`;
  }

  /** Nothing moves under the pointer: while it, or the focus, is in the table, rows only come and go.
   * @param {import("./sessions.js").Row[]} rows */
  #inOrder(rows) {
    const body = this.querySelector("tbody");
    const held = body?.matches(":hover") || body?.contains(document.activeElement);
    const byId = new Map(rows.map((row) => [row.session.id, row]));
    const before = this.#order.flatMap((id) => byId.get(id) ?? []);
    const same = before.length === rows.length && this.#order.length === rows.length;
    const shown = held && same ? before : rows;
    this.#order = shown.map(({ session }) => session.id);
    return shown;
  }

  #emptyState() {
    return html`<div class="page-head"><h1>Sessions</h1></div>
      ${this.problem("Could not read the sessions")}
      <section class="empty">
      <h2>No sessions yet</h2>
      <p>
        Coppice follows the transcripts that coding agents write, in their usual places. It found none there.
        A session appears here as soon as its first line is written.
      </p>
      <dl class="ways">
        <dt>Transcripts elsewhere</dt>
        <dd><code>coppice serve --watch DIR</code></dd>
        <dd class="muted">
          or set <code>CLAUDE_CONFIG_DIR</code> or <code>CODEX_HOME</code> before starting it
        </dd>
        <dt>A file you have</dt>
        <dd><code>coppice import FILE</code></dd>
        <dd class="muted">
          or drop it anywhere on this page, or
          <button class="small" data-act="import">Choose a file…</button>
        </dd>
        <dt>Your own program</dt>
        <dd><code>POST ${location.origin}${root}/api/sessions</code></dd>
        <dd class="muted">then append messages in any wire format and ask for the pruned context</dd>
      </dl>
      <p class="acts">
        <button class="primary" data-act="demo" ?disabled=${this.#startingDemo}
          >Start the demo session</button>
        <span class="muted">generated here, grows live, can be deleted</span>
      </p>
    </section>`;
  }
}

/** @param {Api.Session[]} sessions */
function counts(sessions) {
  const { all, working, above } = tally(sessions);
  const own = above === 1 ? "its target" : "their targets";
  return html`<span class="muted">${counted(all, "session")} · ${number(working)} working · ${
    above > 0 ? html`<b class="warned">${number(above)} above ${own}</b>` : "none above target"
  }</span>`;
}

/** @param {number} all sessions there are */
const noneFits = (all) =>
  html`<p class="nothing">
    No session fits this filter.
    <button class="small" data-act="clear-filter">Show all ${number(all)}</button>
  </p>`;

/** What an answer says of a session, unless an event has told a later state meanwhile.
 * @param {Api.Session | undefined} known @param {Api.Session} read */
const newer = (known, read) => (known && known.version > read.version ? known : read);

customElements.define("coppice-overview", CoppiceOverview);
