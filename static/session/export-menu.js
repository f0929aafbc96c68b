// The menu that exports a session, as markup: each format with its use in a line, and for a followed session the
// command that resumes the agent from the pruned view.
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";

/** @type {[string, string, string][]} format, name, use */
const FORMATS = [
  ["openai", "OpenAI messages", "The pruned view for Chat Completions, to send from your own program."],
  ["anthropic", "Anthropic messages", "The same for the Messages API, the system prompt apart."],
  ["gemini", "Gemini contents", "The same for Gemini."],
  [
    "jsonl",
    "Coppice JSONL",
    "Everything: the full log, what was pruned, each operation. Can be imported again.",
  ],
];

/** A text as one word of a shell's command. @param {string} text */
function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** @param {Api.Session} session @param {string} format */
const exportOf = ({ id }, format) => `/api/sessions/${encodeURIComponent(id)}/export?format=${format}`;

/**
 * The command that saves the pruned view beside the agent's own transcript, as a new one, and resumes from it. Null for
 * sub-agents, other agents, and files whose place is not known.
 *
 * @param {Api.Session} session @param {string} origin of this server
 */
export function resumeCommand(session, origin) {
  const resume = session.resume_command;
  const folder = session.file?.match(/^(\/.+)\/[^/]+$/)?.[1];
  if (!resume || !folder || session.parent_id) return null;
  const save = `curl -fOJ ${quoted(origin + exportOf(session, session.source))}`;
  const there = session.cwd ? [`cd ${quoted(session.cwd)}`] : [];
  return [`cd ${quoted(folder)}`, save, ...there, resume].join(" && ");
}

/** @param {Api.Session} session @param {string} origin */
export function exportMenu(session, origin) {
  const agent = session.resume_command && session.source_label;
  const command = resumeCommand(session, origin);
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
  return html`<details class="menu export">
    <summary class="button">Export ${icon("down")}</summary>
    <div class="menu-list">
      ${own} ${agent && command && resumeNote(agent, command)} ${agent && html`<hr>`}
      ${FORMATS.map(([format, name, use]) => item(format, name, use))}
    </div>
  </details>`;
}

/** @param {string} agent @param {string} command */
function resumeNote(agent, command) {
  const said = `Command copied. Run it in a terminal; ${agent} then lists the pruned view among its sessions.`;
  return html`<div class="note resume">
    <p>Or save it beside the agent's own transcripts and resume in one go:</p>
    <code>${command}</code>
    <button class="small" data-act="copy" data-text=${command} data-said=${said}
      >${icon("copy")}Copy command</button>
  </div>`;
}
