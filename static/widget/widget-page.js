// <widget-page></widget-page>
//
// Shows the widget for a session of the reader's choice, and what another site needs to embed it.
import * as address from "../shared/address.js";
import { api, root } from "../shared/api.js";
import { copyText } from "../shared/copy.js";
import { html } from "../shared/html.js";
import { sessionOptions } from "../shared/parts.js";
import { ReadingElement } from "../shared/reading-element.js";
import { titleOf } from "../shared/session-facts.js";
import "./context-manager-widget.js";

const SHOWN_SESSIONS = 200;
const ALLOWING = "coppice serve --allow-origin https://wiki.example";
const server = globalThis.location.origin + root;
const script = `${server}/static/context-manager-widget.js`;
const POLICY = `default-src 'none'; script-src ${script}; connect-src ${server}/api/`;

const DEFAULTS = { session: "" };

/** @param {string} session */
const embedding = (session) => `<script src="${script}" defer></script>
<context-manager-widget server="${server}" session="${session}" token="…"></context-manager-widget>`;

class WidgetPage extends ReadingElement {
  /** @type {Api.Session[] | null} */
  #sessions = null;
  #chosen = this.#inAddress;

  get #inAddress() {
    return address.read(location.search, DEFAULTS).session;
  }

  start() {
    super.start();
    this.actions({ copy: copyText });
    this.listen(this, "change", ({ target }) => {
      if (!(target instanceof HTMLSelectElement)) return;
      this.#chosen = target.value;
      address.step({ session: this.#chosen }, DEFAULTS);
      this.requestUpdate();
    });
    this.listen(window, "popstate", () => {
      this.#chosen = this.#inAddress || (this.#sessions?.[0]?.id ?? "");
      this.requestUpdate();
    });
  }

  /** @param {AbortSignal} signal */
  async read(signal) {
    const { sessions } = await api.sessions({ limit: SHOWN_SESSIONS }, signal);
    this.#sessions = sessions;
    this.#chosen ||= sessions[0]?.id ?? "";
  }

  template() {
    return html`<div class="page-head">
        <h1>Widget</h1>
        <span class="muted">one session's context, on a page of another site</span>
      </div>
      ${this.problem("Could not read the sessions", this.#sessions)}
      ${this.#sessions && this.#ofSessions(this.#sessions)}`;
  }

  /** @param {Api.Session[]} sessions */
  #ofSessions(sessions) {
    if (sessions.length === 0) return NONE;
    return html`<div class="row toolbar">
        <select aria-label="Session">${sessionOptions(sessions, this.#chosen, titleOf)}</select>
      </div>
      <context-manager-widget session=${this.#chosen}></context-manager-widget>
      <h2>On another site</h2>
      <ol>
        ${task(ALLOW, ALLOWING)} ${task(EMBED, embedding(this.#chosen))} ${task(RESTRICT, POLICY)}
      </ol>`;
  }
}

const ALLOW = "Let pages of that site read this server and prune. No other site may.";
const EMBED = html`Copy the script and the element into the page.
  A token is needed if this server asks for one. Everybody who can open the page can read it:
  a viewer's token shows the context but cannot prune.`;
const RESTRICT = "A page with a strict Content-Security-Policy needs no more than this.";
const NONE = html`<p class="nothing">
  There is no session yet to show in the widget. <a class="link" href="${root}/">Sessions</a> says where they
  come from, and starts a demo session.
</p>`;

/** @param {import("../shared/html.js").Html} what @param {string} text */
const task = (what, text) => html`<li>
  <p>${what}</p>
  <pre>${text}</pre>
  <button class="small" data-act="copy" data-text=${text}>Copy</button>
</li>`;

customElements.define("widget-page", WidgetPage);
