// The menus of a session, each a <details class="menu">: Export has a line for each format with its use, More
// the choices for this session. closeMenus() closes open ones.

import { root } from "../shared/api.js";
import { number, percentSet } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { focusOn } from "../shared/keys.js";
import { optionElements, switchField } from "../shared/parts.js";
import { NOT_LOADED } from "../shared/problem.js";
import { toastError } from "../shared/toast.js";
import { choiceOptions, choicesOf, strategyName } from "../shared/words.js";

/** @type {[string, string, string][]} format, name, use */
const FORMATS = [
  ["openai", "OpenAI messages", "The pruned view for Chat Completions, to send from your own program."],
  ["anthropic", "Anthropic messages", "The same for the Messages API, with the system prompt beside it."],
  ["gemini", "Gemini contents", "The same for Gemini."],
  [
    "jsonl",
    "Coppice JSONL",
    "Everything: the full log, what was pruned, each operation. Can be imported again.",
  ],
];

const loadCards = () =>
  import("./card-links.js").catch(() => toastError(NOT_LOADED, "Could not load the cards"));

/** @param {Api.Session} session */
export function exportMenu(session) {
  const agent = session.why_not_resumed === null && session.source_label;
  const id = encodeURIComponent(session.id);
  /** @param {string} format @param {string} name @param {string} use */
  const item = (format, name, use) =>
    html`<a href=${`${root}/api/sessions/${id}/export?format=${format}`} download
      ><span><b>${name}</b><small class="muted">${use}</small></span></a>`;
  const own =
    agent &&
    item(
      session.source,
      `${agent} transcript`,
      `The pruned view as a new transcript that ${agent} resumes from. Its own file is not changed.`,
    );
  return html`<details class="menu export" @toggle=${loadCards}>
    <summary class="button">Export ${icon("down")}</summary>
    <div class="menu-list">
      ${own} ${agent && html`<hr>`}
      ${FORMATS.map(([format, name, use]) => item(format, name, use))}
      <hr><a href=${`${root}/widget?session=${id}`}
        ><span><b>Widget</b><small class="muted"
          >The gauge and the prune button for a page of another site.</small></span></a>
      <card-links session-id=${session.id}></card-links>
    </div>
  </details>`;
}

/** The choices for this session, and its deletion. @param {Api.Session} session */
export function moreMenu(session) {
  const { automatic, kind, proxy, target_percent, aim_percent, strategy } = session;
  const byDefault = `As in the settings: ${strategyName(strategy.setting)}`;
  return html`<details class="menu more">
    <summary class="button iconic" aria-label="More" title="More">${icon("more")}</summary>
    <div class="menu-list">
      ${switchField("automatic", automatic, "Automatic pruning")}
      <p class="note sub">
        Above ${percentSet(target_percent)}, prune to ${percentSet(aim_percent)} as soon as a message arrives.
        Each prune can be undone. ${kind === "followed" && !proxy && REACHED}
      </p>
      ${kind === "followed" && integrationNote(session)}
      ${proxy && proxySwitch(proxy)}
      <div class="field">
        <label for="own-strategy">Strategy</label>
        <select id="own-strategy" name="own_strategy" data-saved=${strategy.own ?? ""}>
          ${optionElements([["", byDefault], ...choiceOptions("strategy")], strategy.own ?? "")}
        </select>
      </div>
      <div class="field">
        <label for="own-window">Window</label>
        ${windowChoice(session, "own-window")}
      </div>
      ${(session.limit >= WIDE || session.cap_tokens !== null) && capChoice(session)}
      ${switchField("kept", session.kept, "Never delete automatically")}
      <p class="note sub">Limits on age and size (in the settings, none by default) never delete it.</p>
      <hr>
      <button class="danger" data-act="delete">Delete this session…</button>
    </div>
  </details>`;
}

const REACHED = "The agent sends less once it is resumed from a pruned copy, or through the proxy.";

/** The note on what the agent's own hooks or extension add. @param {Api.Session} session */
function integrationNote({ source }) {
  const one = choicesOf("integration").find(({ name }) => name === source);
  return one && html`<p class="note sub"><code>${one.label}</code>: ${one.meaning}.</p>`;
}

/** @param {Api.Proxied} proxy */
function proxySwitch({ prunes, subscription }) {
  const why = "Its key is a subscription's: the proxy forwards its calls and never changes them.";
  const does =
    "The proxy leaves out of each call what you prune here. Takes effect with the next prune or call.";
  return html`${switchField("proxy_prunes", prunes, "Send pruned", { isDisabled: subscription && !prunes })}
    <p class="note sub">${subscription ? why : does}</p>`;
}

const WINDOWS = [128_000, 200_000, 256_000, 400_000, 1_000_000, 2_000_000];

/** Options for sizes in tokens, each once, in their order. @param {number[]} sizes */
const sizeOptions = (sizes) =>
  [...new Set(sizes)]
    .sort((a, b) => a - b)
    .map((size) => /** @type {const} */ ([String(size), `${number(size)} tokens`]));

/** The choice of the session's window, by which its gauge divides; empty for the detected one.
 * @param {Api.Session} session @param {string} id */
export function windowChoice({ limit, window_kind, over_limit }, id) {
  const own = window_kind === "own";
  const choices = sizeOptions([...WINDOWS, limit, ...(over_limit ? [over_limit.offered] : [])]);
  const found = own ? "As detected" : `As detected: ${number(limit)} tokens`;
  return html`<select id=${id} name="own_window" data-saved=${own ? limit : ""}>
    ${optionElements([["", found], ...choices], own ? String(limit) : "")}
  </select>`;
}

/** From this limit on a cap on the target is offered: 80 % of it is rarely reached. */
const WIDE = 1_000_000;
const CAPS = [200_000, 300_000, 400_000, 500_000];

/** The choice of a ceiling on the target; empty for none. @param {Api.Session} session */
function capChoice({ limit, cap_tokens: cap }) {
  const choices = sizeOptions([...CAPS, ...(cap === null ? [] : [cap])]);
  const chosen = cap === null ? "" : String(cap);
  return html`<div class="field">
      <label for="own-cap">Cap</label>
      <select id="own-cap" name="own_cap" data-saved=${chosen}>
        ${optionElements([["", "None"], ...choices], chosen)}
      </select>
    </div>
    <p class="note sub">
      An upper limit on the target: a share of ${number(limit)} tokens is rarely reached.
    </p>`;
}

/** Closes the open menus, except one that contains `inside` unless `inside` is one of its entries. A focus
 * within a menu that closes goes to its button. Returns whether any was open. @param {Element} root
 * @param {EventTarget | null} inside */
export function closeMenus(root, inside) {
  let closed = false;
  for (const menu of root.querySelectorAll("details.menu[open]")) {
    const within = inside instanceof Node && menu.contains(inside);
    const chosen = inside instanceof Element && inside.closest(".menu-list a, .menu-list button");
    if (within && !chosen) continue;
    if (menu.querySelector(".menu-list :focus")) focusOn(menu.querySelector("summary"));
    menu.removeAttribute("open");
    closed = true;
  }
  return closed;
}
