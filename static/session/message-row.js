// One message of the list as markup: the row, and what it opens to. Text of messages is only ever text.
import { counted, decimal, fixed, moment, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { fateName, plainReason } from "../shared/words.js";
import { canDrop, canShorten, roleOf } from "./rows.js";

/** @typedef {import("../shared/types.js").Message} Message */
/** @typedef {import("../shared/types.js").MessageFull} MessageFull */
/** @typedef {import("../shared/types.js").Part} Part */

const FATE_ICONS = /** @type {Record<string, string>} */ ({
  protected: "lock",
  shortened: "torn",
  goes: "goes",
  out: "out",
});
/** Characters of one part that are shown at first; a long output would stall the page. */
export const SHOWN_CHARS = 12_000;

/** @param {Message} message @param {string[]} signals */
export function scoreBar(message, signals) {
  if (message.score === null) return html`<span class="muted">–</span>`;
  const told = signals.map((name) => `${name} ${decimal(message.contributions[name] ?? 0)}`).join(" · ");
  return html`<span class="score" title="${told}"><span class="score-number">${decimal(message.score, 0)}</span><span class="score-bar" aria-hidden="true">${signals.map(
    (name, i) =>
      html`<i data-css="--w:${message.contributions[name] ?? 0}%;--c:var(--sig-${(i % 8) + 1})"></i>`,
  )}</span><span class="sr">${told}</span></span>`;
}

/** @param {{ fate: string, reason: string | null }} message */
export function fateLine(message) {
  if (message.fate === "pending")
    return html`<span class="fate" data-fate="pending" aria-hidden="true">…</span>`;
  const name = FATE_ICONS[message.fate];
  return html`<span class="fate" data-fate="${message.fate}">${name && icon(name, message.fate === "protected" ? "protected" : undefined)}<b>${fateName(message.fate)}</b>${message.reason && html` · ${told(plainReason(message.reason))}`}</span>`;
}

/** A reason with the names it quotes as code. @param {string} reason */
function told(reason) {
  return reason.split("`").map((piece, i) => (i % 2 ? html`<code>${piece}</code>` : piece));
}

/** The one line a message is told in; mono where it is a machine's. @param {Message} message */
export function previewLine(message) {
  const calls = message.calls ?? [];
  const text = message.text.replace(/\s+/g, " ").trim();
  if (calls.length === 0) {
    const mono = message.role === "tool";
    return html`<span class="what ${mono ? "mono" : ""}">${message.tool && html`<span class="tool-name">${message.tool}</span> `}${text || (message.media ? counted(message.media, "image") : "no text")}</span>`;
  }
  const named = calls.map((call) => html`<span class="mono call"><b>${call.name}</b> ${call.summary}</span>`);
  return html`<span class="what">${text && html`${text} `}${named}</span>`;
}

/** A message in a panel beside the list, which leads to its row. @param {Message} message */
export function panelText(message) {
  const reason = plainReason(message.reason).replace(/^cleared: /, ""); // its group says so
  return html`<span class="group-text" title="${reason}"><button class="bare" data-act="show-message" data-number="${message.number}">${previewLine(message)}</button><small class="muted">${told(reason || message.role)}</small></span>`;
}

/** What a message will take once it is shortened, where the plan says so. @param {Message} message */
export function shortenedTo({ tokens_after }) {
  if (tokens_after === null || tokens_after === undefined) return "";
  return html`<small class="muted"><span class="sr">, shortened to</span><span aria-hidden="true">→</span> ${number(tokens_after)}</small>`;
}

/** @param {Message} message @param {{ open: boolean, bracket: string, signals: string[] }} view */
export function messageRow(message, view) {
  return html`<div class="msg" role="row" data-key="${message.id}" data-id="${message.id}" data-role="${message.role}" data-fate="${message.fate}" data-bracket="${view.bracket}" data-open="${view.open}">
    <div class="m-number num" role="cell">${number(message.number)}</div>
    <div class="m-role" role="cell"><span class="role" data-role="${message.role}">${roleOf(message)}</span>${message.is_error && icon("error", "error")}${message.pinned && icon("pin", "pinned")}${message.drop_first && icon("first", "drops first")}${message.shortened && icon("torn", "shortened")}</div>
    <div class="m-text" role="cell"><button class="bare m-open" data-act="open" data-id="${message.id}" aria-expanded="${view.open ? "true" : "false"}">${previewLine(message)}</button>${fateLine(message)}</div>
    <div class="m-score" role="cell">${scoreBar(message, view.signals)}</div>
    <div class="m-tokens num" role="cell">${number(message.tokens)}${shortenedTo(message)}</div>
  </div>`;
}

/** What a row opens to. @param {Message} message @param {MessageFull | string | null} full a message, a fault, or nothing yet @param {string[]} signals @param {boolean} whole */
export function messageDetail(message, full, signals, whole) {
  return html`<div class="msg-detail" role="row" data-key="${message.id} detail" data-of="${message.id}"><div role="cell" class="m-detail">
    ${full === null ? html`<p class="muted">Reading…</p>` : typeof full === "string" ? html`<p class="fault">Could not read this message: ${full}</p>` : allParts(full, whole)}
    ${full !== null && typeof full !== "string" && !whole && isLong(full) && html`<button class="small" data-act="whole" data-id="${message.id}">Show all ${number(full.chars)} characters</button>`}
    <div class="m-facts">${signalTable(message, signals)}
      <p class="small muted">${[message.at ? moment(message.at) : "", message.turn ? `turn ${number(message.turn)}` : "", counted(message.chars, "character"), message.unit_size > 1 ? `one of a unit of ${message.unit_size}, kept or dropped together` : ""].filter(Boolean).join(" · ")}</p>
      <div class="m-acts">${actions(message).map(([act, label, name]) => html`<button class="small" data-act="message" data-do="${act}" data-id="${message.id}">${icon(name)}${label}</button>`)}</div>
    </div>
  </div></div>`;
}

/** What a shortened message stands as, and then what it was. @param {MessageFull} full @param {boolean} whole */
function allParts(full, whole) {
  const was = html`<div class="parts">${full.parts.map((part) => partBlock(part, whole))}</div>`;
  if (!full.stands) return was;
  return html`<h3>In the context, shortened</h3><div class="parts">${full.stands.map((part) => partBlock(part, whole))}</div><h3>As it was</h3>${was}`;
}

/** @param {Message} message @returns {[string, string, string][]} */
function actions(message) {
  /** @type {[string, string, string]} */
  const learn = ["learn", "Keep as a learning", "plus"];
  if (!message.in_context) return [["restore", "Restore", "restore"], learn];
  /** @type {[string, string, string][]} */
  const acts = [message.pinned ? ["unpin", "Unpin", "pin"] : ["pin", "Pin: never prune", "pin"]];
  if (message.role === "system") return acts;
  if (canShorten(message)) acts.push(["shorten", "Shorten…", "torn"]);
  const first = message.pinned ? "Unpin and drop first" : "Drop first";
  acts.push(["drop-first", message.drop_first ? "No longer drop first" : first, "first"]);
  if (canDrop(message)) acts.push(["drop", "Drop now", "goes"]);
  acts.push(learn);
  return acts;
}

/** @param {Message} message @param {string[]} signals */
function signalTable(message, signals) {
  if (message.score === null) return html``;
  return html`<table class="signals"><caption class="sr">How the score came about</caption><thead><tr><th scope="col">Signal</th><th scope="col" class="num" title="0 to 1">Rating</th><th scope="col" class="num" title="Rating times weight">Points</th><td></td></tr></thead><tbody>${signals.map(
    (name, i) => {
      const points = message.contributions[name] ?? 0;
      return html`<tr><th scope="row"><i class="swatch" data-css="--c:var(--sig-${(i % 8) + 1});--e:var(--outline)"></i>${name}</th><td class="num muted">${fixed(message.signals[name] ?? 0, 2)}</td><td class="num">${fixed(points, 1)}</td><td class="bar"><i data-css="--w:${Math.min(100, points * 2.5)}%;--c:var(--sig-${(i % 8) + 1})"></i></td></tr>`;
    },
  )}<tr class="total"><th scope="row">score</th><td></td><td class="num">${fixed(message.score, 1)}</td><td></td></tr></tbody></table>`;
}

/** @param {MessageFull} full */
function isLong(full) {
  return full.parts.some((part) => (part.text ?? part.arguments ?? "").length > SHOWN_CHARS);
}

/** @param {string} text @param {boolean} whole */
function clipped(text, whole) {
  return whole || text.length <= SHOWN_CHARS ? text : `${text.slice(0, SHOWN_CHARS)}…`;
}

/** JSON arguments, indented; anything else as it is. @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {Part} part @param {boolean} whole @returns {import("../shared/html.js").Html} */
function partBlock(part, whole) {
  switch (part.type) {
    case "text":
      return html`<div class="part" data-part="text"><div class="prose">${clipped(part.text ?? "", whole)}</div></div>`;
    case "reasoning":
      return html`<div class="part" data-part="reasoning"><h3>Reasoning</h3><div class="prose">${part.text ? clipped(part.text, whole) : html`<span class="muted">not in the transcript</span>`}${part.opaque_chars ? html`<span class="muted small"> · ${counted(part.opaque_chars, "character")} sealed</span>` : ""}</div></div>`;
    case "tool_call":
      return html`<div class="part" data-part="call"><h3>Call <span class="mono">${part.name}</span></h3><pre>${clipped(pretty(part.arguments ?? ""), whole)}</pre></div>`;
    case "tool_result":
      return html`<div class="part" data-part="result"><h3>${part.is_error ? html`<span class="fault">${icon("error")} Result: an error</span>` : "Result"} ${part.name && html`<span class="mono">${part.name}</span>`}</h3><pre>${clipped(part.text ?? "", whole)}</pre>${(part.media ?? []).map((m) => partBlock(m, whole))}</div>`;
    case "media":
      return html`<div class="part" data-part="media"><p class="muted">${[part.kind ?? "media", part.mime, part.width ? `${part.width} × ${part.height}` : "", part.size_bytes ? `${number(part.size_bytes)} bytes` : ""].filter(Boolean).join(" · ")}</p></div>`;
    default:
      return html`<div class="part" data-part="file"><p class="mono">${part.path}</p>${part.summary && html`<div class="prose">${part.summary}</div>`}</div>`;
  }
}
