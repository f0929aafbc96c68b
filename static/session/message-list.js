// <message-list session-id="…" plan-id="…" awaits-plan followed></message-list>
//
// The messages of a session with filters, search and order, each with its fate, and its text and score when
// opened. Draws the rows in view and some around them, and reads those as the reader scrolls. While somebody
// reads, new messages wait behind a pill; otherwise their rows slide in at the top. With `plan-id` the fates
// are of that plan, and a list of everything shows what the plan changes, unless the reader chose everything
// while the plan was awaited (`awaits-plan`). Emits `message-act` {id, act}, `chosen` {kind: "drop" |
// "shorten" | "spare", messages}, and `fates-asked` with each request that needs a plan. `refresh()` reads
// again, at most once a second; `reveal(number)` opens a message; `narrow({tool, role, q})` and
// `range(from, to)` filter. The choices are part of the address.
import * as address from "../shared/address.js";
import { api, root } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { html, keyed, nothing } from "../shared/html.js";
import { focusOn, shortcutsFor } from "../shared/keys.js";
import { problem } from "../shared/problem.js";
import { whenLive } from "../shared/socket.js";
import { toastError } from "../shared/toast.js";
import { listFoot, listHead, pill, selection } from "./list-frame.js";
import { CHANGES, EVERYTHING, isSame, NO_ROWS, queryOf } from "./list-query.js";
import { Listing } from "./listing.js";
import { bracketOf, canDrop, canShorten } from "./message-facts.js";
import { messageDetail, messageRow, rowToCome } from "./message-row.js";
import { PickedRows } from "./picked-rows.js";
import { Viewport } from "./viewport.js";

const IN_PLAN = "Message, and its fate in the plan";
const IN_PRUNE = "Message, and its fate in a prune";

export class MessageList extends CoppiceElement {
  static observedAttributes = ["plan-id", "awaits-plan", "certainty"];

  #viewport = new Viewport(this);
  #picked = new PickedRows(this);
  #listing = new Listing(this, this.#viewport, this.#picked);

  /** The address at which a program appends messages; "" for a session that an agent writes. */
  get #address() {
    const path = `${root}/api/sessions/${encodeURIComponent(this.sessionId)}/messages`;
    return this.hasAttribute("followed") ? "" : `${location.origin}${path}`;
  }

  start() {
    const [listing, picked, viewport] = [this.#listing, this.#picked, this.#viewport];
    this.actions({
      filter: ({ dataset: { name } }) =>
        listing.change(name === "all" && isSame(listing.query, CHANGES) ? EVERYTHING : { fate: name }),
      open: (target) => this.#toggle(target.dataset.id ?? ""),
      whole: (target) => picked.showWhole(target.dataset.id ?? ""),
      message: (target) => this.#act(target.dataset.id ?? "", target.dataset.do ?? ""),
      "show-new": () => this.#showNew(),
      "retry-messages": () => listing.restart(),
      "retry-message": ({ dataset }) => {
        const message = listing.rows.withId(dataset.id ?? "");
        if (message) picked.read(message);
      },
      "no-filter": () => listing.change({ ...EVERYTHING, sort: listing.query.sort }),
      "no-range": () => listing.change({ from: "", to: "" }),
      "choose-selected": ({ dataset }) => this.#choose(dataset.kind ?? ""),
      "select-none": () => {
        const row = `.m-open[data-id="${CSS.escape(picked.lastSelected ?? "")}"]`;
        focusOn(this.querySelector(row), { preventScroll: true }); // the button is going
        picked.select([...picked.selected.values()], false);
      },
    });
    this.#listenToFields();
    this.#listenToPlace();
    this.#defineKeys();
    this.listen(this, "click", (/** @type {MouseEvent} */ event) => this.#clicked(event));
    whenLive(() => {
      if (listing.error !== null) listing.refresh();
      picked.readFailed();
    }, this.life);
    viewport.start();
    this.refresh();
  }

  /** Follows scrolling, the size of the window, and the pointer and focus as they leave the list. */
  #listenToPlace() {
    const [listing, viewport] = [this.#listing, this.#viewport];
    // Waiting rows come in when pointer and focus leave the list.
    for (const type of ["pointerout", "focusout"])
      this.listen(this, type, (/** @type {PointerEvent | FocusEvent} */ event) => {
        if (listing.waiting > 0 && viewport.isLeft(event)) this.refresh();
      });
    this.listen(window, "scroll", () => listing.drawInView());
    this.listen(window, "resize", () => {
      viewport.readRowHeight();
      this.update();
      listing.fill();
    });
  }

  #defineKeys() {
    /** @param {string} key @param {string} label @param {() => void} act */
    const shortcut = (key, label, act) => ({
      key,
      label,
      run: () => this.closest("[inert]") || act(), // below a sheet nothing takes the focus
    });
    shortcutsFor(
      [
        shortcut("j", "Next row", () => this.#step(1)),
        shortcut("k", "Previous row", () => this.#step(-1)),
        shortcut("[", "Earlier message of the user", () => this.#stepUser(-1)),
        shortcut("]", "Later message of the user", () => this.#stepUser(1)),
        shortcut("s", "Select the row", () => this.#selectHere()),
        // With Tab the actions come after the last row.
        shortcut("a", "Act on the selected rows", () => focusOn(this.querySelector(".selection button"))),
        shortcut("x", "Pin or unpin the message", () => this.#pinHere()),
      ],
      this.life,
    );
  }

  #listenToFields() {
    this.listen(this, "change", (/** @type {Event} */ event) => {
      const { name, value } = /** @type {HTMLSelectElement} */ (event.target);
      if (["role", "tool", "sort"].includes(name)) this.#listing.change({ [name]: value });
    });
    this.asTyped((q) => this.#listing.change({ q }, address.write));
  }

  stop() {
    document.body?.removeAttribute("data-selected-rows"); // there is none where a document is replaced
    this.#viewport.stop();
    this.#listing.stop();
  }

  /** @param {string} name @param {string | null} before @param {string | null} now */
  attributeChangedCallback(name, before, now) {
    if (!this.isConnected) return;
    if (name === "certainty") this.requestUpdate();
    else if (name === "awaits-plan") this.#listing.forgetAll();
    else this.#listing.follow(before, now);
  }

  /** Shows the messages with these numbers. @param {number} from @param {number} to */
  range(from, to) {
    this.#listing.change({ ...EVERYTHING, from: String(from), to: String(to) });
  }

  /** Shows the messages of a tool or a role, or those with some words.
   * @param {{ tool?: string, role?: string, q?: string }} what */
  narrow(what) {
    this.#listing.change({ ...EVERYTHING, ...what });
    this.querySelector(".list-head")?.scrollIntoView({ block: "nearest" });
  }

  /** Reads again soon: rows change in place, new ones come in or wait. */
  refresh() {
    this.#listing.refresh();
  }

  /** Shows appended rows. @param {Api.Message[]} messages */
  arrived(messages) {
    this.#listing.arrived(messages);
  }

  async #showNew() {
    this.#listing.empty();
    this.#picked.write(address.write);
    await this.#listing.restart();
    this.querySelector(".list-head")?.scrollIntoView({ block: "nearest" });
    this.#step(1);
  }

  /** A click anywhere in a row opens it; one on its box selects it, with the key for capitals all rows from
   * the one selected last. @param {MouseEvent} event */
  #clicked(event) {
    const target = /** @type {Element} */ (event.target);
    const id = target.closest(".msg")?.getAttribute("data-id");
    if (!id) return;
    if (target instanceof HTMLInputElement) return this.#selectTo(id, target.checked, event.shiftKey);
    if (!target.closest("button, a, label") && !getSelection()?.toString()) this.#toggle(id);
  }

  /** @param {string} id @param {boolean} on @param {boolean} range */
  #selectTo(id, on, range) {
    const { rows } = this.#listing;
    const here = rows.indexOf(id);
    const before = range ? this.#picked.lastSelected : undefined;
    const there = before === undefined ? here : rows.indexOf(before);
    this.#picked.select(rows.between(here, there), on);
  }

  /** The message of the row that has the focus. */
  get #focused() {
    return this.#listing.rows.at(this.#viewport.here);
  }

  #selectHere() {
    const message = this.#focused;
    if (message) this.#selectTo(message.id, !this.#picked.selected.has(message.id), false);
  }

  #pinHere() {
    const message = this.#focused;
    if (message?.in_context) this.#act(message.id, message.pinned ? "unpin" : "pin");
  }

  /** Chooses the selected messages for the next prune, and selects none. @param {string} kind */
  #choose(kind) {
    const able = { drop: canDrop, shorten: canShorten }[kind] ?? (() => true);
    const { selected } = this.#picked;
    const messages = [...selected.values()].filter(able).map(({ id, number }) => ({ id, number }));
    selected.clear();
    this.requestUpdate();
    if (messages.length > 0) this.emit("chosen", { kind, messages });
    this.#picked.write(address.write);
  }

  /** Moves the focus by so many rows. @param {number} by */
  #step(by) {
    const { total } = this.#listing;
    if (total > 0) this.#goTo(this.#viewport.neighbour(by, total));
  }

  /** Brings a row into view and gives it the focus once it is there. @param {number} index
   * @param {boolean} [centre] */
  #goTo(index, centre = false) {
    this.#viewport.goTo(index, centre);
    this.#listing.fill();
  }

  /** Goes to the nearest message of the user before or after the row that has the focus.
   * @param {number} by */
  async #stepUser(by) {
    const from = this.#focused?.number ?? (by < 0 ? this.#listing.newest + 1 : 0);
    const query = by < 0 ? { last: from - 1, sort: "newest" } : { first: from + 1, sort: "oldest" };
    if (by < 0 && from <= 1) return;
    const one = { ...query, role: "user", limit: 1, at_once: true };
    try {
      const { messages } = await api.messages(this.sessionId, one);
      if (messages[0]) await this.#find(messages[0].number);
    } catch (error) {
      toastError(error, "Could not find the next message of the user");
    }
  }

  /** Brings a message into view, and gives it the focus; a list that lacks it shows everything again.
   * @param {number} messageNumber @param {address.Keep} [keep]
   * @returns {Promise<Api.Message | undefined>} */
  async #find(messageNumber, keep = address.step) {
    const listing = this.#listing;
    let index = listing.rows.find((m) => m.number === messageNumber);
    if (index < 0 && (!listing.isWhole || messageNumber > listing.newest)) {
      listing.change(EVERYTHING, keep);
      await listing.refresh();
    }
    if (index < 0) index = listing.newest - messageNumber;
    if (index < 0 || index >= listing.total) return undefined;
    this.#goTo(index, true);
    if (!listing.rows.at(index)) {
      await listing.fill();
      this.#goTo(index, true);
    }
    return listing.rows.at(index);
  }

  /** @param {string} id @param {address.Keep} [keep] */
  #toggle(id, keep = address.step) {
    this.#picked.toggle(id, this.#listing.rows.withId(id), keep);
  }

  /** Opens the row of a message. @param {number} messageNumber */
  async reveal(messageNumber) {
    await this.#listing.refresh();
    const { query } = this.#listing;
    const found = await this.#find(messageNumber);
    // If the list was widened for it, that was the step.
    const keep = query === this.#listing.query ? address.step : address.write;
    if (found && !this.#picked.open.has(found.id)) this.#toggle(found.id, keep);
  }

  /** Shows what the address says, where it differs from what is shown. */
  async recall() {
    const query = queryOf(location.search);
    if (!isSame(query, this.#listing.query)) {
      this.#listing.query = query;
      this.#listing.startOver();
    }
    await this.#picked.recall(this.#listing.rows.all);
  }

  /** Shows the rows that the address names when the page is opened, the first open one in view. */
  async recallFirst() {
    const { message, selected } = address.read(location.search, NO_ROWS);
    if (!message && !selected) return;
    await this.#listing.refresh();
    const [first] = address.numbersIn(message);
    const found = first === undefined ? undefined : await this.#find(first, address.write);
    await this.#picked.recall(this.#listing.rows.all);
    if (found && !this.#picked.open.has(found.id)) this.#toggle(found.id, address.write);
  }

  /** Closes all open rows, and moves a focus that was in the detail of one to its row. Returns whether any
   * was open. */
  closeRows() {
    if (document.activeElement?.closest(".msg-detail")) this.#goTo(this.#viewport.here);
    return this.#picked.close();
  }

  /** Leaves the actions on the selected rows for the row selected last. Returns whether the focus was in
   * them. */
  leaveSelection() {
    if (!document.activeElement?.closest(".selection")) return false;
    const index = this.#listing.rows.indexOf(this.#picked.lastSelected ?? "");
    if (index < 0) this.#step(1);
    else this.#goTo(index);
    return true;
  }

  /** Emits the action of a row's button; one that can be previewed is chosen for a plan. @param {string} id
   * @param {string} act */
  #act(id, act) {
    const message = this.#listing.rows.withId(id);
    if (act !== "shorten") this.emit("message-act", { id, act });
    else if (message) this.emit("chosen", { kind: act, messages: [{ id, number: message.number }] });
  }

  update() {
    const { rows, total } = this.#listing;
    this.#viewport.layOut(
      [...this.#picked.open.keys()].map((id) => [id, rows.indexOf(id)]),
      total,
    );
    super.update();
    // For the place of notices: a style with :has() would check the page with each new row.
    document.body.toggleAttribute("data-selected-rows", this.#picked.selected.size > 0);
    this.#viewport.drawn();
  }

  template() {
    const { query, page, total, error, waiting } = this.#listing;
    const { selected } = this.#picked;
    const isPlanned = this.hasAttribute("plan-id");
    const { from, to } = this.#viewport.span;
    return html`<section class="panel messages" aria-label="Messages" data-selecting=${selected.size > 0}
      data-drawn=${from > 0 || to < total ? "part" : "all"}>
      ${listHead(query, page?.counts, page?.tools ?? [])} ${pill(waiting)}
      ${
        error !== null &&
        html`<div class="list-problem" data-over=${total > 0}
        >${problem("Could not read the messages", error, "retry-messages")}</div>`
      }
      <div role="table" aria-label="Messages" aria-rowcount=${page ? total + 1 : -1}>
        <div role="rowgroup" class="msg-head"><div class="msg-heads" role="row">
          <span role="columnheader" class="num">#</span>
          <span role="columnheader">Role</span>
          <span role="columnheader">${isPlanned ? IN_PLAN : IN_PRUNE}</span>
          <span role="columnheader" class="m-score num">Score</span>
          <span role="columnheader" class="num">Tokens</span>
        </div></div>
        <div role="rowgroup" class="rows" ?inert=${this.#listing.previous !== null}
          .style="height:${this.#viewport.top(total)}px"
          ><div role="presentation" class="drawn" .style="transform:translateY(${this.#origin}px)"
          >${this.#lines()}</div></div>
      </div>
      ${selection([...selected.values()], this.certainty)}
      <div class="list-foot"
        >${(page || error === null) && listFoot(page !== null, total, query, this.#address)}</div>
    </section>`;
  }

  /** The place from which rows are placed, in pixels from the top of the list: the end at which no rows come.
   * Rows that come move all others by moving this one place. */
  get #origin() {
    return this.#listing.query.sort === "oldest" ? 0 : this.#viewport.top(this.#listing.total);
  }

  /** The drawn rows, each with its detail where it is open, and the one that has the focus wherever it is. */
  #lines() {
    const { span, here } = this.#viewport;
    const { total } = this.#listing;
    const { from, to } = span;
    const drawn = Array.from({ length: Math.max(0, Math.min(to, total) - from) }, (_, i) => from + i);
    if (here >= 0 && here < from) drawn.unshift(here);
    if (here >= to && here < total) drawn.push(here);
    const lines = drawn.map((index) => ({ index, key: this.#listing.shown(index)?.id ?? index }));
    return keyed(lines, "key", ({ index }) => this.#line(index));
  }

  /** @param {number} index */
  #line(index) {
    const listing = this.#listing;
    const { entering, mostTokens } = listing;
    const { open, whole, selected } = this.#picked;
    const message = listing.shown(index);
    const place = `top:${this.#viewport.top(index) - this.#origin}px`;
    if (!message)
      return html`<div class="item" role="presentation" data-index=${index} .style=${place}
        >${rowToCome()}</div>`;
    const { id } = message;
    const isOpen = open.has(id);
    const row = messageRow(message, {
      open: isOpen,
      index,
      bracket: bracketOf(listing.shown(index - 1), message, listing.shown(index + 1)),
      selected: selected.has(id),
      entering: entering.has(id),
      most: mostTokens,
      certainty: this.certainty,
    });
    const detail =
      isOpen &&
      messageDetail(message, open.get(id)?.full ?? null, whole.has(id), this.getAttribute("strategy") ?? "");
    return html`<div class="item" role="presentation" data-index=${index} .style=${place}
      >${row}${detail || nothing}</div>`;
  }
}

customElements.define("message-list", MessageList);
