// The export menu as markup: a line for each format with its use.
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { root } from "../shared/root.js";

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
  return html`<details class="menu export" @toggle=${() => import("./card-links.js")}>
    <summary class="button">Export ${icon("down")}</summary>
    <div class="menu-list">
      ${own} ${agent && html`<hr>`}
      ${FORMATS.map(([format, name, use]) => item(format, name, use))}
      <hr><card-links session-id=${session.id}></card-links>
      <hr><a href=${`${root}/widget?session=${encodeURIComponent(session.id)}`}
        ><span><b>Widget</b><small class="muted"
          >The gauge and the prune button for a page of another site.</small></span></a>
    </div>
  </details>`;
}
