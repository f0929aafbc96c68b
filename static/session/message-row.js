// One message of the list as markup: the row, and what it opens to. Text of messages is only ever text.
import { counted, decimal, fixed, moment, number } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { fateName, plainReason } from "../shared/words.js";
import { canDrop, canShorten, roleOf } from "./rows.js";

/** One part of a message. @typedef {{ type: "text" | "reasoning" | "tool_call" | "tool_result" | "media" | "file",
 * text?: string, opaque_chars?: number, name?: string, arguments?: string, is_error?: boolean, kind?: string,
 * mime?: string, size_bytes?: number, width?: number, height?: number, path?: string, summary?: string,
 * media?: Part[] }} Part */

/** @type {Record<string, string>} */
const FATE_ICONS = { protected: "lock", shortened: "torn", goes: "goes", out: "out" };
/** This much of one part is shown at first; a long output would stall the page. */
export const SHOWN_CHARS = 12_000;

/** @param {Api.Message} message @param {string[]} signals */
export function scoreBar({ score, contributions }, signals) {
  if (score === null) return html`<span class="muted">–</span>`;
  const parts = signals.map((name) => `${name} ${decimal(contributions[name] ?? 0)}`).join(" · ");
  return html`<span class="score" title=${parts}
    ><span class="score-number">${decimal(score, 0)}</span><span class="score-bar" aria-hidden="true"
      >${signals.map((name, i) => html`<i .style="--w:${contributions[name] ?? 0}%;--c:${colourOf(i)}"></i>`)}</span
    ><span class="sr">${parts}</span></span>`;
}

/** The colour of a signal. @param {number} i its place among the signals */
const colourOf = (i) => `var(--sig-${(i % 8) + 1})`;

/** @param {{ fate: string, reason: string | null }} message */
export function fateLine({ fate, reason }) {
  if (fate === "pending") return html`<span class="fate" data-fate="pending" aria-hidden="true">…</span>`;
  const name = FATE_ICONS[fate];
  return html`<span class="fate" data-fate=${fate}
    >${name && icon(name, fate === "protected" ? "protected" : undefined)}<b>${fateName(fate)}</b>${
      reason && html` · ${withCode(plainReason(reason))}`
    }</span>`;
}

/** A reason with the names it quotes as code. @param {string} reason */
function withCode(reason) {
  return reason.split("`").map((piece, i) => (i % 2 ? html`<code>${piece}</code>` : piece));
}

/** A message in one line; in mono where a machine wrote it. @param {Api.Message} message */
export function previewLine({ calls, text, role, tool, media }) {
  const words = text.replace(/\s+/g, " ").trim();
  if (calls.length > 0)
    return html`<span class="what"
      >${words && `${words} `}${calls.map(
        ({ name, summary }) => html`<span class="mono call"><b>${name}</b> ${summary}</span>`,
      )}</span>`;
  return html`<span class="what ${role === "tool" ? "mono" : ""}"
    >${tool && html`<span class="tool-name">${tool}</span> `}${
      words || (media ? counted(media, "image") : "no text")
    }</span>`;
}

/** A message in a panel beside the list, as a link to its row. @param {Api.Message} message */
export function panelText(message) {
  const reason = plainReason(message.reason).replace(/^cleared: /, ""); // its group says so
  return html`<span class="group-text" title=${reason}
    ><button class="bare" data-act="show-message" data-number=${message.number}>${previewLine(message)}</button
    ><small class="muted">${withCode(reason || message.role)}</small></span>`;
}

/** The tokens of a message once it is shortened, where the plan says so. @param {Api.Message} message */
export function shortenedTo({ tokens_after }) {
  if (tokens_after === null || tokens_after === undefined) return "";
  return html`<small class="muted"
    ><span class="sr">, shortened to</span><span aria-hidden="true">→</span> ${number(tokens_after)}</small>`;
}

/** @param {Api.Message} message
 * @param {{ open: boolean, bracket: string, signals: string[], entering?: boolean }} view */
export function messageRow(message, { open, bracket, signals, entering }) {
  const { id, role, fate } = message;
  return html`<div class="msg ${entering ? "entering" : ""}" role="row" data-id=${id} data-role=${role}
    data-fate=${fate} data-bracket=${bracket} data-open=${open}>
    <div class="m-number num" role="cell">${number(message.number)}</div>
    <div class="m-role" role="cell">
      <span class="role" data-role=${role}>${roleOf(message)}</span>${marks(message)}
    </div>
    <div class="m-text" role="cell">
      <button class="bare m-open" data-act="open" data-id=${id} aria-expanded=${open}>${previewLine(message)}</button
      >${fateLine(message)}
    </div>
    <div class="m-score" role="cell">${scoreBar(message, signals)}</div>
    <div class="m-tokens num" role="cell">${number(message.tokens)}${shortenedTo(message)}</div>
  </div>`;
}

/** @param {Api.Message} message */
function marks({ is_error, pinned, drop_first, shortened }) {
  return [
    is_error && icon("error", "error"),
    pinned && icon("pin", "pinned"),
    drop_first && icon("first", "drops first"),
    shortened && icon("torn", "shortened"),
  ].filter(Boolean);
}

/** What a row opens to. @param {Api.Message} message @param {Api.MessageFull | string | null} full the message, the reason
 * why it
 * could not be read, or null while it is being read @param {string[]} signals @param {boolean} whole */
export function messageDetail(message, full, signals, whole) {
  const facts = [
    message.at && moment(message.at),
    message.turn && `turn ${number(message.turn)}`,
    counted(message.chars, "character"),
    message.unit_size > 1 && "part of one call with its results, kept or dropped together",
  ].filter(Boolean);
  return html`<div class="msg-detail" role="row" data-of=${message.id}><div role="cell" class="m-detail">
    ${content(message, full, whole)}
    <div class="m-facts">
      ${signalTable(message, signals)}
      <p class="small muted">${facts.join(" · ")}</p>
      <div class="m-acts">
        ${actions(message).map(
          ([act, label, name]) =>
            html`<button class="small" data-act="message" data-do=${act} data-id=${message.id}
              >${icon(name)}${label}</button>`,
        )}
      </div>
    </div>
  </div></div>`;
}

/** @param {Api.Message} message @param {Api.MessageFull | string | null} full @param {boolean} whole */
function content({ id }, full, whole) {
  if (full === null) return html`<p class="muted">Reading…</p>`;
  if (typeof full === "string") return html`<p class="fault">Could not read this message: ${full}</p>`;
  const more = !whole && isLong(full);
  return html`${allParts(full, whole)}
    ${
      more &&
      html`<button class="small" data-act="whole" data-id=${id}>Show all ${number(full.chars)} characters</button>`
    }`;
}

/** The parts of a message; of a shortened one first those in the context. @param {Api.MessageFull} full
 * @param {boolean} whole */
function allParts({ parts, stands }, whole) {
  /** @param {unknown[]} some */
  const blocks = (some) =>
    html`<div class="parts">${some.map((part) => partBlock(/** @type {Part} */ (part), whole))}</div>`;
  if (!stands) return blocks(parts);
  return html`<h3>In the context, shortened</h3>${blocks(stands)}<h3>As it was</h3>${blocks(parts)}`;
}

/** @param {Api.Message} message @returns {[act: string, label: string, icon: string][]} */
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

/** @param {Api.Message} message @param {string[]} names */
function signalTable({ score, signals, contributions }, names) {
  if (score === null) return "";
  return html`<table class="signals">
    <caption class="sr">How the score came about</caption>
    <thead>
      <tr>
        <th scope="col">Signal</th>
        <th scope="col" class="num" title="0 to 1">Rating</th>
        <th scope="col" class="num" title="Rating times weight">Points</th>
        <td></td>
      </tr>
    </thead>
    <tbody>
      ${names.map((name, i) => {
        const points = contributions[name] ?? 0;
        const bar = `--w:${Math.min(100, points * 2.5)}%;--c:${colourOf(i)}`;
        return html`<tr>
          <th scope="row"><i class="swatch" .style="--c:${colourOf(i)};--e:var(--outline)"></i>${name}</th>
          <td class="num muted">${fixed(signals[name] ?? 0, 2)}</td>
          <td class="num">${fixed(points, 1)}</td>
          <td class="bar"><i .style=${bar}></i></td>
        </tr>`;
      })}
      <tr class="total"><th scope="row">score</th><td></td><td class="num">${fixed(score, 1)}</td><td></td></tr>
    </tbody>
  </table>`;
}

/** @param {Api.MessageFull} full */
function isLong(full) {
  return /** @type {unknown[]} */ (full.parts).some((one) => {
    const part = /** @type {Part} */ (one);
    return (part.text ?? part.arguments ?? "").length > SHOWN_CHARS;
  });
}

/** @param {string | undefined} text @param {boolean} whole */
function clipped(text = "", whole) {
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
  const name = part.name && html`<span class="mono">${part.name}</span>`;
  switch (part.type) {
    case "text":
      return html`<div class="part" data-part="text"><div class="prose">${clipped(part.text, whole)}</div></div>`;
    case "reasoning":
      return html`<div class="part" data-part="reasoning">
        <h3>Reasoning</h3>
        <div class="prose">${
          part.text ? clipped(part.text, whole) : html`<span class="muted">not in the transcript</span>`
        }${
          part.opaque_chars &&
          html`<span class="muted small"> · ${counted(part.opaque_chars, "character")} encrypted</span>`
        }</div>
      </div>`;
    case "tool_call":
      return html`<div class="part" data-part="call">
        <h3>Call ${name}</h3>
        <pre>${clipped(pretty(part.arguments ?? ""), whole)}</pre>
      </div>`;
    case "tool_result":
      return html`<div class="part" data-part="result">
        <h3>
          ${part.is_error ? html`<span class="fault">${icon("error")} Result: an error</span>` : "Result"} ${name}
        </h3>
        <pre>${clipped(part.text, whole)}</pre>
        ${part.media?.map((one) => partBlock(one, whole))}
      </div>`;
    case "media":
      return html`<div class="part" data-part="media"><p class="muted">${mediaWords(part)}</p></div>`;
    default:
      return html`<div class="part" data-part="file">
        <p class="mono">${part.path}</p>
        ${part.summary && html`<div class="prose">${part.summary}</div>`}
      </div>`;
  }
}

/** @param {Part} part */
function mediaWords({ kind, mime, width, height, size_bytes }) {
  const words = [
    kind ?? "media",
    mime,
    width && `${width} × ${height}`,
    size_bytes && `${number(size_bytes)} bytes`,
  ];
  return words.filter(Boolean).join(" · ");
}
