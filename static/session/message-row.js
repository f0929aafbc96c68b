// One message of the list as markup: its row, and the detail below it.
import {
  counted,
  decimal,
  fixed,
  inOneLine,
  moment,
  number,
  tokens,
  withPictures,
} from "../shared/format.js";
import { html, nothing, unlessSame, withCode } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { plainText, signalColour, signalSwatch } from "../shared/parts.js";
import { problem } from "../shared/problem.js";
import { fateName, plainReason, signalName, strategyName, weighsMentions } from "../shared/words.js";
import { canDrop, canShorten, roleOf } from "./message-facts.js";

/** One part of a message. @typedef {{ type: "text" | "reasoning" | "tool_call" | "tool_result" | "media" |
 * "file", text?: string, opaque_chars?: number, name?: string, arguments?: string, is_error?: boolean, kind?:
 * string, mime?: string, size_bytes?: number, width?: number, height?: number, path?: string, summary?:
 * string, media?: Part[] }} Part */

/** @type {Record<string, string>} */
const FATE_ICONS = { protected: "lock", shortened: "torn", goes: "goes", out: "out" };
/** Characters shown of a part at first: a long output would block the page. */
export const SHOWN_CHARS = 12_000;

/** The score, rounded from what the open row shows of it. @param {{ score: number | null }} message */
export const scoreNumber = ({ score }) =>
  score === null
    ? html`<span class="muted">–</span>`
    : html`<span class="score-number">${decimal(Number(score.toFixed(1)), 0)}</span>`;

/** @param {{ fate: string, reason: string | null }} message */
export function fateLine({ fate, reason }) {
  if (fate === "pending") return html`<span class="fate sub" data-fate=${fate} aria-hidden="true">…</span>`;
  const name = FATE_ICONS[fate];
  const said = plainReason(reason);
  const why = said && html` · ${withCode(said)}`;
  const shape = name && icon(name, fate === "protected" ? "protected" : undefined);
  return html`<span class="fate sub" data-fate=${fate} title=${said || nothing}
    >${shape}<b>${fateName(fate)}</b>${why}</span>`;
}

/** A message in one line, monospaced if a machine wrote it. @param {Api.Message} message */
export function previewLine({ calls, text, role, tool, media }) {
  const words = inOneLine(text);
  const called = calls.map(
    ({ name, summary }) => html`<span class="mono call"><b>${name}</b> ${summary}</span>`,
  );
  if (called.length > 0) return html`<span class="what">${words && `${words} `}${called}</span>`;
  const said = words || (media ? counted(media, "image") : "no text");
  return html`<span class="what ${role === "tool" ? "mono" : ""}"
    >${tool && html`<span class="tool-name">${tool}</span> `}${said}</span>`;
}

/** A message in a panel beside the list, as a link to its row. @param {Api.Message} message
 * @param {import("../shared/html.js").Html} size its tokens
 * @param {import("../shared/html.js").Html} [acts] what can be done with it */
export function panelRow(message, size, acts) {
  const reason = plainReason(message.reason).replace(/^cleared: /, ""); // the heading of its group says so
  return html`<li>
    <span class="num muted">${number(message.number)}</span><span class="group-text" title=${reason}
      ><button class="bare" data-act="show-message" data-number=${message.number}
        >${previewLine(message)}</button
      ><small class="muted">${withCode(reason || message.role)}</small></span>
    <span class="num">${size}</span>
    ${acts}
  </li>`;
}

/** The tokens of a message, and below them those that it will have if a plan shortens it.
 * @param {Api.Message} message @param {string} certainty */
export function rowTokens({ tokens: now, tokens_after: after }, certainty) {
  const shortened =
    after !== null &&
    after !== undefined &&
    html`<small class="muted"
      ><span class="sr">, shortened to</span><span aria-hidden="true">→</span
      > ${tokens(after, certainty)}</small>`;
  return html`${tokens(now, certainty)}${shortened}`;
}

/** The state of a row; `most` are the tokens of the longest bar, `certainty` is that of all tokens.
 * @typedef {{ open: boolean, index: number, bracket: string, selected?: boolean, entering?: boolean, most:
 * number, certainty: string }} RowState */

/** @param {Api.Message} message @param {RowState} state */
export function messageRow(message, state) {
  const { open, index, bracket, selected = false, entering, most, certainty } = state;
  const { id, role, fate } = message;
  const shown = [message, open, selected, most, certainty];
  return html`<div class="msg ${entering ? "entering" : ""}" role="row" aria-rowindex=${index + 2}
    data-id=${id} data-role=${role} data-fate=${fate} data-bracket=${bracket} data-open=${open}
    data-selected=${selected}>${unlessSame(shown, () => cells(message, state))}</div>`;
}

/** @param {Api.Message} message @param {RowState} state */
function cells(message, { open, selected = false, most, certainty }) {
  const { id, role } = message;
  return html`<div class="m-number num" role="cell"><label class="m-select"
      ><input type="checkbox" .checked=${selected} aria-label="Select message ${message.number}"></label
      ><span>${number(message.number)}</span></div>
    <div class="beside tight m-role" role="cell">
      <span class="role" data-role=${role}>${roleOf(message)}</span>${stateIcons(message)}
    </div>
    <div class="m-text" role="cell">
      <button class="bare m-open" data-act="open" data-id=${id} aria-expanded=${open}
        >${previewLine(message)}</button>${fateLine(message)}
    </div>
    <div class="m-score num" role="cell">${scoreNumber(message)}</div>
    <div class="m-tokens num" role="cell"
      ><span>${rowTokens(message, certainty)}</span>${tokenBar(message, most)}</div>`;
}

/** The tokens of a message as a bar; the darker part stays after the plan.
 * @param {Api.Message} message
 * @param {number} most */
function tokenBar({ tokens: now, tokens_after, fate }, most) {
  const left = fate === "goes" ? 0 : (tokens_after ?? now);
  const [whole, kept] = [now, left].map((count) => `${Math.min(100, (count / most) * 100)}%`);
  const stays = left > 0 && html`<i .style="--k:${kept}"></i>`;
  return html`<span class="m-bar" aria-hidden="true"><i .style="--w:${whole}"></i>${stays}</span>`;
}

/** A placeholder for a row that is not loaded yet. */
export const rowToCome = () => html`<div class="msg" role="row" data-coming="true"
  ><div class="m-text" role="cell"><span class="sr">Reading…</span></div></div>`;

/** Icons for the state of a message. @param {Api.Message} message */
function stateIcons({ is_error, pinned, drop_first, shortened }) {
  return [
    is_error && icon("error", "error"),
    pinned && icon("pin", "pinned"),
    drop_first && icon("first", "drops first"),
    shortened && icon("torn", "shortened"),
  ].filter(Boolean);
}

/** The detail of an open row. @param {Api.Message} message
 * @param {Api.MessageFull | string | null} full the message, the error, or null while it is read
 * @param {boolean} whole @param {string} [strategy] that gave the score */
export function messageDetail(message, full, whole, strategy = "") {
  const facts = [
    message.at && moment(message.at),
    message.turn && `turn ${number(message.turn)}`,
    counted(message.chars, "character"),
    message.unit_size > 1 && "part of one call with its results, kept or dropped together",
  ].filter(Boolean);
  /** @param {[act: string, label: string, icon: string]} action */
  const button = ([act, label, name]) =>
    html`<button class="small" data-act="message" data-do=${act} data-id=${message.id}
      >${icon(name)}${label}</button>`;
  return html`<div class="msg-detail" role="row" data-of=${message.id}><div role="cell" class="m-detail">
    ${content(message, full, whole)}
    <div class="m-facts">
      ${signalTable(rated(message, full), strategy)}
      <p class="small muted">${facts.join(" · ")}</p>
      <div class="row m-acts">${actions(message).map(button)}</div>
    </div>
  </div></div>`;
}

/** @param {Api.Message} message @param {Api.MessageFull | string | null} full @param {boolean} whole */
function content({ id }, full, whole) {
  if (full === null) return html`<p class="muted">Reading…</p>`;
  if (typeof full === "string") return problem("Could not read this message", full, "retry-message", id);
  const more = html`<button class="small" data-act="whole" data-id=${id}
    >Show all ${number(full.chars)} characters</button>`;
  return html`${allParts(full, whole)} ${!whole && isLong(full) && more}`;
}

/** The parts of a message; for a shortened one, the parts in the context first. @param {Api.MessageFull} full
 * @param {boolean} whole */
function allParts({ parts, sent_parts: sent }, whole) {
  /** @param {unknown[]} some */
  const blocks = (some) =>
    html`<div class="parts">${some.map((part) => partBlock(/** @type {Part} */ (part), whole))}</div>`;
  if (!sent) return blocks(parts);
  return html`<h3>In the context, shortened</h3>${blocks(sent)}<h3>As it was</h3>${blocks(parts)}`;
}

/** @param {Api.Message} message @returns {[act: string, label: string, icon: string][]} */
function actions(message) {
  /** @type {[string, string, string][]} */
  const learn = message.text.trim() ? [["learn", "Keep as a learning", "plus"]] : []; // a call has no text
  if (!message.in_context) return [["restore", "Restore", "restore"], ...learn];
  /** @type {[string, string, string][]} */
  const acts = [message.pinned ? ["unpin", "Unpin", "pin"] : ["pin", "Pin: never prune", "pin"]];
  if (message.role === "system") return acts;
  if (canShorten(message)) acts.push(["shorten", "Shorten…", "torn"]);
  const first = message.pinned ? "Unpin and drop first" : "Drop first";
  acts.push(["drop-first", message.drop_first ? "No longer drop first" : first, "first"]);
  if (canDrop(message)) acts.push(["drop", "Drop now", "goes"]);
  return [...acts, ...learn];
}

/** The message with the parts of its score: those of the list if it has them, otherwise those of the whole
 * message. @param {Api.Message} message @param {Api.MessageFull | string | null} full */
function rated(message, full) {
  const known = Object.keys(message.contributions).length > 0;
  return known || full === null || typeof full === "string" ? message : full;
}

/** Says why a message has no points. @param {string} strategy */
const noneNeeded = (strategy) => html`<tfoot>
  <tr><td colspan="4">
    ${strategyName(strategy)} rates the names and lines of a message; this one has none that are
    needed later.
  </td></tr>
</tfoot>`;

/** @param {Api.Message} message @param {string} strategy */
function signalTable({ score, signals, contributions }, strategy) {
  const names = Object.keys(contributions);
  if (score === null || names.length === 0) return "";
  const none = weighsMentions(strategy) && names.every((name) => contributions[name] === 0);
  return html`<table class="signals">
    <caption class="sr">Parts of the score</caption>
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
        const bar = `--w:${Math.min(100, points * 2.5)}%;--c:${signalColour(i)}`;
        return html`<tr>
          <th scope="row">${signalSwatch(i)}${signalName(name)}</th>
          <td class="num muted">${fixed(signals[name] ?? 0, 2)}</td>
          <td class="num">${fixed(points, 1)}</td>
          <td class="bar"><i .style=${bar}></i></td>
        </tr>`;
      })}
      <tr class="total">
        <th scope="row">Score</th><td></td><td class="num">${fixed(score, 1)}</td><td></td>
      </tr>
    </tbody>
    ${none && noneNeeded(strategy)}
  </table>`;
}

/** @param {Api.MessageFull} full */
function isLong(full) {
  return /** @type {unknown[]} */ (full.parts).some((one) => {
    const part = /** @type {Part} */ (one);
    return (part.text ?? part.arguments ?? "").length > SHOWN_CHARS;
  });
}

/** The shown part of a text. @param {string | undefined} text @param {boolean} whole */
function clipped(text = "", whole) {
  if (whole || text.length <= SHOWN_CHARS) return withPictures(text);
  return `${withPictures(text.slice(0, SHOWN_CHARS).replace(/[\ud800-\udbff]$/, ""))}…`;
}

/** A text without blank lines before or after it. @param {string} text */
const withoutBlankEnds = (text) => text.replace(/^(?:[ \t]*\r?\n)+|\s+$/g, "");

/** JSON arguments, indented; any other text unchanged. @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const UNSEEN = html`<span class="muted">not in the transcript</span>`;

/** @param {Part} part @param {boolean} whole @returns {import("../shared/html.js").Html} */
function partBlock(part, whole) {
  const name = part.name && html`<span class="mono">${part.name}</span>`;
  const [opaque, text] = [part.opaque_chars, clipped(part.text, whole)];
  const encrypted =
    opaque && html`<span class="muted small"> · ${counted(opaque, "character")} encrypted</span>`;
  const failed = part.is_error && html`<span class="fault">${icon("error")} Result: an error</span>`;
  switch (part.type) {
    case "text":
      return html`<div class="part" data-part="text"
        ><div class="prose">${withoutBlankEnds(text)}</div></div>`;
    case "reasoning":
      return html`<div class="part" data-part="reasoning">
        <h3 class="beside">Reasoning</h3>
        <div class="prose">${part.text ? text : UNSEEN}${encrypted}</div>
      </div>`;
    case "tool_call":
      return html`<div class="part" data-part="call">
        <h3 class="beside">Call ${name}</h3>
        ${plainText(clipped(pretty(part.arguments ?? ""), whole))}
      </div>`;
    case "tool_result":
      return html`<div class="part" data-part="result">
        <h3 class="beside">${failed || "Result"} ${name}</h3>
        ${plainText(text)}
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
function mediaWords({ kind = "media", mime, width, height, size_bytes: bytes }) {
  const words = [kind, mime, width && `${width} × ${height}`, bytes && `${number(bytes)} bytes`];
  return words.filter(Boolean).join(" · ");
}
