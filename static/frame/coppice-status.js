// <coppice-status></coppice-status>
//
// The right end of the top bar: the live connection, the keys of search and help, the theme. Listens to the
// live connection's `state`; changes `data-theme` on <html>, and updates the relative times of the page.
import { ApiError, api, root } from "../shared/api.js";
import { CoppiceElement } from "../shared/element.js";
import { timeOfDay } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn, shortcutsFor } from "../shared/keys.js";
import { recall, remember } from "../shared/preferences.js";
import { live } from "../shared/socket.js";
import { refreshTimes } from "../shared/times.js";
import { toastError } from "../shared/toast.js";

/** The time between two looks at the page's times, and at a server to which the connection is lost. */
const LOOK_MS = 10_000;

const PAGES = [
  ["g o", "Go to the sessions", "/"],
  ["g f", "Go to the search", "/search"],
  ["g m", "Go to the memory", "/memory"],
  ["g s", "Go to the settings", "/settings"],
].map(([key = "", label = "", path = ""]) => /** @type {const} */ ([key, label, path]));
const THEMES = /** @type {const} */ (["system", "light", "dark"]);
const ICONS = { system: "system", light: "sun", dark: "moon" };
const REASONS = {
  connecting: "Connecting to the server",
  live: "Live: changes appear as they happen",
  reconnecting: "The connection is lost. The page catches up when it is back.",
};

/** The time of the page's numbers if they are not current. @param {Date | null} asOf */
function since(asOf) {
  if (!asOf) return null;
  const iso = asOf.toISOString();
  return html`<span class="as-of">, showing
    <time datetime=${iso}>${timeOfDay(iso, Date.now())}</time></span>`;
}

class CoppiceStatus extends CoppiceElement {
  /** True once the reason of a lost connection was reported. */
  #saidWhy = false;

  start() {
    // Not before the page has joined its rooms: it would be called live while its scripts are still to come.
    if (document.readyState === "complete") live.open();
    else this.listen(document, "DOMContentLoaded", () => live.open());
    this.listen(live, "state", () => this.requestUpdate());
    this.every(LOOK_MS, () => {
      refreshTimes(document);
      if (!live.asOf) this.#saidWhy = false;
      if (!live.asOf) return;
      this.requestUpdate();
      if (!this.#saidWhy) this.#askWhy();
    });
    this.actions({
      theme: () => this.#nextTheme(),
      keys: () => document.dispatchEvent(new CustomEvent("coppice:shortcuts")),
    });
    shortcutsFor([{ key: "/", label: "Filter or search", run: () => this.#focusSearch() }], this.life);
    shortcutsFor(
      PAGES.map(([key, label, path]) => ({ key, label, run: () => location.assign(`${root}${path}`) })),
      this.life,
    );
  }

  /** Reports a server that is there but lets the page in no more: its token was revoked, or has ended. */
  async #askWhy() {
    try {
      await api.sessions({ limit: 1 }, this.life);
    } catch (error) {
      if (!(error instanceof ApiError) || ![401, 403].includes(error.status)) return;
      this.#saidWhy = true;
      toastError(error, "Could not connect again");
    }
  }

  #focusSearch() {
    const field = document.querySelector('main input[type="search"]');
    if (field instanceof HTMLInputElement) {
      focusOn(field); // which brings it into view
      field.select();
    } else location.assign(`${root}/search`);
  }

  get #theme() {
    return THEMES.find((theme) => theme === recall("theme")) ?? "system";
  }

  #nextTheme() {
    const next = THEMES[(THEMES.indexOf(this.#theme) + 1) % THEMES.length] ?? "system";
    remember("theme", next === "system" ? null : next);
    if (next === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = next;
    document.dispatchEvent(new CustomEvent("coppice:theme"));
    this.requestUpdate();
  }

  update() {
    document.documentElement.dataset.live = live.state;
    super.update();
  }

  template() {
    const { state } = live;
    const theme = `Theme: ${this.#theme}`;
    return html`<span class="beside live" role="status" data-state=${state} title=${REASONS[state]}
        ><i></i><span>${state}${since(live.asOf)}</span></span>
      <span class="beside wide"><kbd>/</kbd> search</span>
      <button class="bare muted wide" data-act="keys" aria-label="Keyboard shortcuts"
        ><kbd>?</kbd> keys</button>
      <button class="quiet iconic" data-act="theme" aria-label=${theme} title=${theme}
        >${icon(ICONS[this.#theme])}</button>`;
  }
}

customElements.define("coppice-status", CoppiceStatus);
