// The menus of a session, each a <details class="menu">: the export menu as markup, a line for each format
// with its use; and how open ones close.
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { NOT_LOADED } from "../shared/problem.js";
import { root } from "../shared/root.js";
import { toastError } from "../shared/toast.js";

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

/** @param {Api.Session} session @param {string} format */
const exportOf = ({ id }, format) => `${root}/api/sessions/${encodeURIComponent(id)}/export?format=${format}`;

const loadCards = () =>
  import("./card-links.js").catch(() => toastError(NOT_LOADED, "Could not load the cards"));

/** @param {Api.Session} session */
export function exportMenu(session) {
  const agent = session.why_not_resumed === null && session.source_label;
  /** @param {string} format @param {string} name @param {string} use */
  const item = (format, name, use) =>
    html`<a href=${exportOf(session, format)} download
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
      <hr><a href=${`${root}/widget?session=${encodeURIComponent(session.id)}`}
        ><span><b>Widget</b><small class="muted"
          >The gauge and the prune button for a page of another site.</small></span></a>
      <card-links session-id=${session.id}></card-links>
    </div>
  </details>`;
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
    if (menu.querySelector(".menu-list :focus")) menu.querySelector("summary")?.focus();
    menu.removeAttribute("open");
    closed = true;
  }
  return closed;
}
