// <coppice-overview></coppice-overview>
//
// All sessions in one table: state, gauge, growth, prunes. Follows the room "overview"; a changed session redraws its
// own row, and the order changes only while the pointer and the focus are elsewhere. Filter and chip stand in the address.
import "../shared/context-gauge.js";
import "./file-drop.js";
import "./trend-line.js";
import * as address from "../shared/address.js";
import { api } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { counted, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { shortcutsFor } from "../shared/keys.js";
import { problem } from "../shared/problem.js";
import { patch, render } from "../shared/render.js";
import { live } from "../shared/socket.js";
import { refreshTimes } from "../shared/times.js";
import { toast, toastError } from "../shared/toast.js";
import { sourceName, title } from "../shared/words.js";
import { regionLegend, sessionRow } from "./session-row.js";
import { arrange, tally } from "./sessions.js";

/** @typedef {import("../shared/types.js").Session} Session */

const COLUMNS = [
  ["c-state", html`<span class="sr">State</span>`],
  ["c-title", "Session"],
  ["c-gauge", "Context"],
  ["c-full num", "Full"],
  ["c-trend", "Trend"],
  ["c-tokens num", "Tokens / limit"],
  ["c-growth num", "A turn"],
  ["c-left num", "Turns left"],
  ["c-prunes num", "Prunes"],
  ["c-last num", "Last"],
  ["c-act", html`<span class="sr">Act</span>`],
];

const BEGINNING = { find: "", show: "all" };

export class CoppiceOverview extends CoppiceElement {
  /** @type {Map<string, Session> | null} null while nothing has been read */
  #sessions = null;
  #text = address.read(location.search, BEGINNING).find;
  #chip = address.read(location.search, BEGINNING).show;
  /** @type {string | null} */
  #error = null;
  /** @type {Set<string>} ids whose quiet sub-agents are shown */
  #unfolded = new Set();
  #startingDemo = false;
  /** @type {Set<string>} ids whose row is out of date */
  #dirty = new Set();

  start() {
    live.join("overview");
    this.listen(live, "session:updated", (/** @type {CustomEvent} */ event) => this.#receive(event.detail));
    this.listen(live, "session:deleted", (/** @type {CustomEvent} */ event) => {
      this.#sessions?.delete(event.detail?.session_id ?? event.detail?.id);
      this.requestUpdate();
    });
    this.listen(live, "resync", (/** @type {CustomEvent} */ event) =>
      this.#take(event.detail.snapshot.sessions),
    );
    for (const name of ["settings:changed", "models:changed"]) this.listen(live, name, () => this.#load());
    this.listen(this, "imported", () => this.#load());
    for (const type of ["pointerout", "focusout"])
      this.listen(this, type, (/** @type {PointerEvent | FocusEvent} */ event) =>
        this.#left(event.relatedTarget),
      );
    this.listen(this, "input", (/** @type {Event} */ event) => {
      const field = /** @type {HTMLInputElement} */ (event.target);
      if (field.type !== "search") return; // a file that was picked is no text to filter by
      this.#text = field.value;
      this.#chosen();
    });
    this.actions({
      chip: (target) => this.#choose(target.dataset.chip ?? "all"),
      fold: (target) => this.#fold(target.dataset.id ?? ""),
      demo: () => this.#startDemo(),
      retry: () => this.#load(),
      import: () =>
        /** @type {import("./file-drop.js").FileDrop | null} */ (this.querySelector("file-drop"))?.pick(),
      "clear-filter": () => {
        this.#text = "";
        this.#choose("all");
      },
    });
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => this.#openRow(event));
    shortcutsFor(
      [
        { key: "j", label: "Next row", run: () => this.#step(1) },
        { key: "k", label: "Previous row", run: () => this.#step(-1) },
      ],
      this.life,
    );
    const clock = setInterval(() => refreshTimes(this), 10_000);
    this.life.addEventListener("abort", () => clearInterval(clock));
    this.#load();
  }

  /** The pointer or the focus went elsewhere: the order may be put right. @param {EventTarget | null} to */
  #left(to) {
    if (!(to instanceof Element) || !to.closest("tbody")) this.requestUpdate();
  }

  async #load() {
    try {
      this.#take(await api.sessions());
    } catch (error) {
      this.#error = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  /** @param {Session[] | undefined} sessions all there are */
  #take(sessions) {
    if (!sessions) return;
    const known = this.#sessions;
    this.#sessions = new Map(sessions.map((s) => [s.id, newer(known?.get(s.id), s)]));
    this.#dirty = new Set(this.#sessions.keys());
    this.#error = null;
    this.requestUpdate();
  }

  /** @param {any} payload */
  #receive(payload) {
    const session = payload?.session ?? payload;
    if (!session?.id || !session.pruned) return void this.#load();
    this.#sessions ??= new Map();
    this.#sessions.set(session.id, session);
    this.#dirty.add(session.id);
    this.requestUpdate();
  }

  /** @param {string} chip */
  #choose(chip) {
    this.#chip = chip;
    this.#chosen();
  }

  /** @param {string} id */
  #fold(id) {
    if (!this.#unfolded.delete(id)) this.#unfolded.add(id);
    this.#dirty.add(id);
    this.requestUpdate();
  }

  #chosen() {
    address.write({ find: this.#text, show: this.#chip }, BEGINNING);
    this.requestUpdate();
  }

  async #startDemo() {
    this.#startingDemo = true;
    this.requestUpdate();
    try {
      await api.startDemo();
      toast("The demo session has started. It grows by itself.");
      await this.#load();
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

  /** @param {number} by */
  #step(by) {
    const links = [...this.querySelectorAll("tr.session-row a.title")];
    const here = links.findIndex((link) => link.matches(":focus"));
    const next =
      links[here < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, here + by))];
    if (next instanceof HTMLElement) next.focus();
  }

  update() {
    const sessions = [...(this.#sessions?.values() ?? [])];
    const empty = this.#sessions !== null && sessions.length === 0;
    const rows = arrange(sessions, { text: this.#text, chip: this.#chip, unfolded: this.#unfolded });
    render(
      this,
      html`<div class="page-head" data-key="head"><h1>Sessions</h1>${!empty && this.#counts(sessions)}
          ${!empty && html`<span class="end"><button data-act="import">${icon("plus")}Import…</button></span>`}</div>
        ${this.#error && problem("Could not read the sessions", this.#error, "retry")}
        ${!empty && this.#toolbar(sessions)}
        ${empty ? this.#emptyState() : html`<session-rows data-key="rows"></session-rows>`}
        ${!empty && rows.length === 0 && this.#sessions && html`<p class="nothing" data-key="none">No session fits this filter. <button class="small" data-act="clear-filter">Show all ${number(sessions.length)}</button></p>`}
        ${!empty && html`<div data-key="legend" class="legend-foot">${regionLegend()}</div>`}
        <file-drop data-key="drop"></file-drop>`,
    );
    const holder = this.querySelector("session-rows");
    if (holder instanceof HTMLElement) this.#drawRows(holder, rows);
  }

  /** @param {Session[]} sessions */
  #counts(sessions) {
    if (!this.#sessions) return html``;
    const { all, working, above } = tally(sessions);
    return html`<span class="muted">${counted(all, "session")} · ${number(working)} working · ${above > 0 ? html`<b class="warned">${number(above)} above ${above === 1 ? "its" : "their"} target</b>` : "none above target"}</span>`;
  }

  /** @param {Session[]} sessions */
  #toolbar(sessions) {
    const { busy, above, sources } = tally(sessions);
    /** @type {[string, string, number | null][]} */
    const chips = [
      ["all", "All", null],
      ["active", "Active", busy],
      ["above", "Above target", above],
      ...sources.map((s) => /** @type {[string, string, null]} */ ([s, title(sourceName(s)), null])),
    ];
    return html`<div class="toolbar" data-key="tools"><input type="search" value="${this.#text}" placeholder="Filter sessions" aria-label="Filter sessions" autocomplete="off" spellcheck="false">
      <div class="chips" role="group" aria-label="Show">${chips.map(
        ([name, label, count]) =>
          html`<button class="chip" data-act="chip" data-chip="${name}" aria-pressed="${this.#chip === name ? "true" : "false"}">${label}${count !== null && html`<span class="count">${number(count)}</span>`}</button>`,
      )}</div></div>`;
  }

  /** @param {HTMLElement} holder @param {import("./sessions.js").Row[]} rows */
  #drawRows(holder, rows) {
    if (!holder.firstElementChild)
      render(
        holder,
        html`<div class="panel"><table class="sessions" role="table" aria-label="Sessions"><thead role="rowgroup"><tr role="row">${COLUMNS.map(([name, label]) => html`<th role="columnheader" class="${name}">${label}</th>`)}</tr></thead><tbody role="rowgroup"></tbody></table></div>`,
      );
    holder.hidden = rows.length === 0;
    const body = /** @type {HTMLElement} */ (holder.querySelector("tbody"));
    const shown = [...body.children].map((row) => row.getAttribute("data-id"));
    const wanted = rows.map((row) => row.session.id);
    const same = shown.length === wanted.length && shown.every((id, i) => id === wanted[i]);
    if (!same && this.#mayMove(body, shown, wanted)) {
      render(body, html`${rows.map((row) => sessionRow(row))}`);
    } else {
      const byId = new Map(rows.map((row) => [row.session.id, row]));
      for (const line of body.children) {
        const row = byId.get(line.getAttribute("data-id") ?? "");
        if (row && this.#dirty.has(row.session.id)) patch(line, sessionRow(row));
      }
    }
    this.#dirty.clear();
  }

  /** Nothing moves under the pointer: with it on the table, rows only come and go. @param {HTMLElement} body @param {(string | null)[]} shown @param {string[]} wanted */
  #mayMove(body, shown, wanted) {
    if (!body.matches(":hover") && !body.contains(document.activeElement)) return true;
    return shown.length !== wanted.length;
  }

  #emptyState() {
    return html`<section class="empty" data-key="empty">
      <h2>No sessions yet</h2>
      <p>Coppice follows the transcripts that Claude Code, Codex, Gemini CLI and OpenCode write, in their usual places. It found none there. A session appears here as soon as its first line is written.</p>
      <dl class="ways">
        <dt>Transcripts elsewhere</dt>
        <dd><code>coppice serve --watch DIR</code></dd>
        <dd class="muted">or set <code>CLAUDE_CONFIG_DIR</code> or <code>CODEX_HOME</code> before starting it</dd>
        <dt>A file you have</dt>
        <dd><code>coppice import FILE</code></dd>
        <dd class="muted">or drop it anywhere on this page, or <button class="small" data-act="import">Choose a file…</button></dd>
        <dt>Your own program</dt>
        <dd><code>POST ${location.origin}/api/sessions</code></dd>
        <dd class="muted">then append messages in any wire format and ask for the pruned context</dd>
      </dl>
      <p class="acts"><button class="primary" data-act="demo" ${this.#startingDemo ? html`disabled` : ""}>Start the demo session</button><span class="muted">generated here, grows live, can be deleted</span></p>
    </section>`;
  }
}

/** What an answer says of a session, unless an event has told a later state meanwhile.
 * @param {Session | undefined} known @param {Session} read */
const newer = (known, read) => (known && known.version > read.version ? known : read);

customElements.define("coppice-overview", CoppiceOverview);
