// <coppice-overview follows='{"AGENT": "VARIABLE", …}'></coppice-overview>
//
// `follows` names the agents whose transcripts the server follows, and the variables that move their folders.
//
// All sessions in one table: state, gauge, growth, prunes. They are read by pages, latest activity first, and
// followed in the room "overview". Filter, chip, order, grouping and folds are part of the address.
import "./file-drop.js";
import "./saved-totals.js";
import "./sessions-table.js";
import * as address from "../shared/address.js";
import { api, root } from "../shared/api.js";
import { counted, number, timeOfDay } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { optionElements } from "../shared/parts.js";
import { READING } from "../shared/problem.js";
import { ReadingElement } from "../shared/reading-element.js";
import { live } from "../shared/socket.js";
import { title } from "../shared/words.js";
import { badge, canNotify, isNotifying, notifyOfCrossing, toggleNotifying } from "./alerts.js";
import { arrange, grouped, isWorthGrouping, nextSort, owners, sortChoices, tally } from "./rows.js";
import { regionLegend } from "./session-row.js";
import { distinctNames } from "./titles.js";

/** `open` names the sessions and projects whose quiet sub-agents are shown, `closed` the projects whose
 * sessions are not. */
const DEFAULTS = {
  find: "",
  show: "all",
  project: "",
  user: "",
  host: "",
  sort: "",
  by: "",
  open: "",
  closed: "",
};
/** The sessions of the first page, which is drawn at once, and of the others. */
const [FIRST, REST] = [100, 500];

class CoppiceOverview extends ReadingElement {
  readsOnceJoined = true;
  /** Sessions by id; null until the first page is read. @type {Map<string, Api.Session> | null} */
  #sessions = null;
  /** The number of all sessions, while pages are still to be read. @type {number | null} */
  #awaited = null;
  /** While pages are read: known sessions that no page has had yet. Those left at the end are gone; an event
   * takes out one that became active, which moves to a page already read. @type {Set<string>} */
  #unread = new Set();
  /** Sessions deleted while pages are read. @type {Set<string>} */
  #deleted = new Set();
  #choice = address.read(location.search, DEFAULTS);
  #startingDemo = false;
  /** The names of the sessions, until a title changes. @type {ReturnType<typeof distinctNames> | null} */
  #names = null;

  start() {
    live.join("overview");
    this.hear(live, ["session:updated"], (session) => {
      this.#deleted.delete(session.id);
      this.#take([session]);
    });
    this.hear(live, ["session:deleted"], ({ session_id }) => {
      this.#deleted.add(session_id);
      this.#sessions?.delete(session_id);
      this.requestUpdate();
    });
    this.hear(live, ["resync"], ({ snapshot }) => this.#take(snapshot.sessions));
    this.hear(live, ["settings:changed", "models:changed"], () => this.refresh());
    this.listen(this, "imported", () => this.refresh());
    this.listen(window, "popstate", () => {
      this.#choice = address.read(location.search, DEFAULTS);
      this.requestUpdate();
    });
    this.asTyped((find) => this.#choose({ find }, address.write));
    this.listen(this, "change", ({ target }) => {
      if (target instanceof HTMLSelectElement) this.#choose({ [target.name]: target.value });
    });
    this.actions({
      chip: (target) => this.#choose({ show: target.dataset.chip ?? "all" }),
      sort: (target) => this.#choose({ sort: nextSort(target.dataset.column ?? "", this.#choice.sort) }),
      group: (target) => this.#choose({ by: target.dataset.by ?? "" }),
      fold: (target) => this.#toggle("open", target.dataset.id),
      orphans: (target) => this.#toggle("open", target.dataset.key),
      project: (target) => this.#toggle("closed", target.dataset.key),
      notify: () => toggleNotifying().then(() => this.requestUpdate()),
      demo: () => this.#startDemo(),
      import: () => this.querySelector("file-drop")?.pick(),
      "clear-filter": () => this.#choose({ find: "", show: "all", project: "", user: "", host: "" }),
    });
    super.start();
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    this.#unread = new Set(this.#sessions?.keys());
    this.#deleted.clear();
    /** @type {string | null} */
    let after = null;
    do {
      const page = await api.sessions({ limit: after === null ? FIRST : REST, after }, signal);
      if (signal.aborted) return;
      after = page.next;
      this.#awaited = after === null ? null : page.total;
      this.error = null;
      this.#take(page.sessions.filter(({ id }) => !this.#deleted.has(id)));
    } while (after !== null);
    for (const id of this.#unread) this.#sessions?.delete(id);
  }

  /** @param {Api.Session[]} sessions some that there are */
  #take(sessions) {
    this.#sessions ??= new Map();
    for (const session of sessions) {
      this.#unread.delete(session.id);
      const known = this.#sessions.get(session.id);
      notifyOfCrossing(known, session);
      const mark = this.#names?.get(session.id)?.mark;
      const isOld = mark && mark !== timeOfDay(session.last_activity, Date.now());
      if (known?.title !== session.title || isOld) this.#names = null;
      // An event may have brought a later state meanwhile.
      if (!known || known.version <= session.version) this.#sessions.set(session.id, session);
    }
    this.requestUpdate();
  }

  /** @param {Partial<typeof DEFAULTS>} choice @param {address.Keep} [keep] */
  #choose(choice, keep = address.step) {
    this.#choice = { ...this.#choice, ...choice };
    keep(this.#choice, DEFAULTS);
    this.requestUpdate();
  }

  /** @param {"open" | "closed"} fold @param {string} [key] */
  #toggle(fold, key = "") {
    const keys = address.namesIn(this.#choice[fold]);
    if (!keys.delete(key)) keys.add(key);
    this.#choose({ [fold]: address.namesText(keys) });
  }

  async #startDemo() {
    if (this.#startingDemo) return;
    this.#startingDemo = true;
    this.requestUpdate();
    await this.act("Could not start the demo session", async () => {
      await api.startDemo();
      return "The demo session has started. It grows by itself.";
    });
    this.#startingDemo = false;
    this.requestUpdate();
  }

  template() {
    const empty = this.#sessions?.size === 0 && this.#awaited === null;
    badge(tally([...(this.#sessions?.values() ?? [])]).above);
    return html`${empty ? this.#emptyState() : this.#page()}<file-drop></file-drop>`;
  }

  #page() {
    const sessions = [...(this.#sessions?.values() ?? [])];
    const { find, show, project, user, host, sort } = this.#choice;
    const by = this.#by(sessions);
    const [unfolded, closed] = [this.#choice.open, this.#choice.closed].map(address.namesIn);
    const filter = { text: find, chip: show, project, user, host, sort, unfolded, closed };
    const rows = arrange(sessions, filter);
    this.#names ??= distinctNames(sessions, Date.now());
    const value = { entries: by ? grouped(rows, { ...filter, by }) : rows, sort, names: this.#names };
    const belonging = owners(sessions, this.#choice);
    const several = belonging.users.length + belonging.hosts.length > 0;
    return html`<div class="page-head">
        <h1>Sessions</h1>
        <span class="muted">${this.#sessions && counts(sessions)}</span>
        ${
          this.#awaited !== null &&
          !this.error &&
          html`<span class="muted" role="status"
          >reading ${number(sessions.length)} of ${number(this.#awaited)}…</span>`
        }
        <span class="end">${canNotify() && notifyButton()}
          <button data-act="import">${icon("plus")}Import…</button></span>
      </div>
      <saved-totals></saved-totals>
      ${this.problem("Could not read the sessions")} ${this.#toolbar(sessions, by, belonging)}
      ${regionLegend()}
      ${
        rows.length > 0
          ? html`<sessions-table ?data-team=${several} .value=${value}></sessions-table>`
          : this.#sessions
            ? noneFits(sessions.length)
            : !this.error && READING
      }`;
  }

  /** The field by which sessions are grouped; null for one list, which a chosen order has unless a grouping
   * is chosen, too. @param {Api.Session[]} sessions */
  #by(sessions) {
    const { by, sort } = this.#choice;
    if (by === "project" || by === "user" || by === "host") return by;
    return by === "" && sort === "" && isWorthGrouping(sessions) ? "project" : null;
  }

  /** @param {Api.Session[]} sessions @param {import("./rows.js").Group | null} by
   * @param {ReturnType<typeof owners>} belonging */
  #toolbar(sessions, by, { users, hosts, projects }) {
    const { active, above, sources } = tally(sessions);
    const { find, show, sort } = this.#choice;
    /** @param {import("./rows.js").Group} name */
    const group = (name) =>
      html`<button class="chip" data-act="group" data-by=${by === name ? "none" : name}
        aria-pressed=${by === name}>By ${name}</button>`;
    /** @param {"project" | "user" | "host"} of @param {[value: string, label: string][]} names */
    const list = (of, names) =>
      names.length > 0 &&
      html`<select name=${of} aria-label=${title(of)}>${optionElements(
        [["", `All ${of}s`], ...names],
        this.#choice[of],
      )}</select>`;
    const belonging = [list("project", projects), list("user", users), list("host", hosts)];
    /** @param {string} name @param {string} label @param {number} [count] */
    const chip = (name, label, count) =>
      html`<button class="chip" data-act="chip" data-chip=${name} aria-pressed=${show === name}
        >${label}${count !== undefined && html`<span class="count">${number(count)}</span>`}</button>`;
    return html`<div class="row toolbar">
      <input type="search" .value=${find} placeholder="Filter sessions" aria-label="Filter sessions"
        autocomplete="off" spellcheck="false">
      <div class="row chips" role="group" aria-label="Show">
        ${chip("all", "All")}${chip("active", "Active", active)}${chip("above", "Above target", above)}
        ${sources.map(([source, label]) => chip(source, title(label)))}
      </div>
      <div class="row chips belonging" ?data-bare=${!belonging.some(Boolean)}>${belonging}
        <select class="order" name="sort" aria-label="Sort"
          >${optionElements(sortChoices(sort), sort)}</select>
      </div>
      <div class="row chips" role="group" aria-label="Group">
        ${group("project")}${users.length > 0 && group("user")}${hosts.length > 0 && group("host")}
      </div>
    </div>`;
  }

  #emptyState() {
    /** @type {Record<string, string> | null} */
    const agents = JSON.parse(this.getAttribute("follows") ?? "null");
    return html`<div class="page-head"><h1>Sessions</h1></div>
      ${this.problem("Could not read the sessions")}
      <section class="empty">
      <h2>No sessions yet</h2>
      ${agents ? following(Object.keys(agents)) : NOT_FOLLOWING}
      <dl class="ways">
        ${agents ? otherFolders(Object.values(agents)) : OTHER_MACHINES}
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
      <p class="row acts">
        <button class="primary" data-act="demo" aria-disabled=${this.#startingDemo}
          >Start the demo session</button>
        <span class="muted">generated here, grows live, can be deleted</span>
      </p>
    </section>`;
  }
}

/** @param {string[]} agents */
const following = (agents) => html`<p>
  Coppice follows the transcripts of ${new Intl.ListFormat("en").format(agents)} where these agents keep them,
  and found none there. A session appears here as soon as its first line is written.
</p>`;
const NOT_FOLLOWING = html`<p>
  This server follows no transcripts on its own machine (<code>--no-watch</code>).
</p>`;
/** @param {string[]} variables */
const otherFolders = (variables) => html`<dt>Transcripts elsewhere</dt>
  <dd><code>coppice serve --watch DIR</code></dd>
  <dd class="muted">
    or set the agent's own variable before starting it:
    ${variables.map((name, n) => html`${n > 0 && ", "}<code>${name}</code>`)}
  </dd>`;
const OTHER_MACHINES = html`<dt>Agents on other machines</dt>
  <dd><code>coppice follow --to ${location.origin}${root}</code></dd>
  <dd class="muted">there, with a token for senders</dd>`;

/** @param {Api.Session[]} sessions */
function counts(sessions) {
  const { all, active, above } = tally(sessions);
  const own = above === 1 ? "its target" : "their targets";
  return html`${counted(all, "session")} · ${number(active)} active · ${
    above > 0 ? html`<b class="warned">${number(above)} above ${own}</b>` : "none above target"
  }`;
}

const notifyButton = () =>
  html`<button class="quiet" data-act="notify" aria-pressed=${isNotifying()}
    title="Show a notification when a session goes above its target while this page is open"
    >${icon("bell")}${isNotifying() ? "Notifying" : "Notify me"}</button> `;

/** @param {number} all sessions there are */
const noneFits = (all) =>
  html`<p class="nothing">
    No session matches this filter.
    <button class="small" data-act="clear-filter">Show all ${number(all)}</button>
  </p>`;

customElements.define("coppice-overview", CoppiceOverview);
