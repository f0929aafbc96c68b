// The head of the session page as markup: the session, its menus and its verdict, or that there is none.

import { root } from "../shared/api.js";
import { counted, fileName, money, number, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { stateIcon } from "../shared/parts.js";
import { isMissing, problem, READING, tokenForm } from "../shared/problem.js";
import { pageOf, startedBy, titleOf, verdictText } from "../shared/session-facts.js";
import { exportMenu, moreMenu, windowChoice } from "./menus.js";

/** @typedef {Partial<Pick<Api.Stats, "copy_of" | "copies">>} Copies */

/** @param {Api.Session} session @param {Api.Parent | null} [parent] of a sub-agent
 * @param {Copies} [copies] */
export function header(session, parent = null, copies = {}) {
  return html`<header class="row session-head">
      <div class="session-name">
        <h1>${stateIcon(session)}<span title=${titleOf(session)}>${titleOf(session)}</span></h1>
        <p class="muted meta">${facts(session, parent)}</p>
      </div>
      <div class="row session-acts">
        ${exportMenu(session)} ${moreMenu(session)}
        ${session.kind === "followed" && session.source !== "proxy" && RESUME}
        <button class="primary" data-act="see-plan">Prune… <kbd>p</kbd></button>
      </div>
    </header>
    ${verdictLine(session.verdict)} ${copyLines(copies)} ${proxyLine(session.proxy)} ${notes(session)}`;
}

/** The button of each action on this page. */
const ACTS = { prune: "see-plan", clear: "see-plan", resume: "resume", export: "open-export" };
/** The urgency of each kind: act now, may act, nothing to do. */
const NEEDS = {
  now: "act",
  above: "act",
  resume: "act",
  clear: "may",
  wait: "may",
  fine: "none",
  over: "none",
  empty: "none",
};
const ICONS = { act: "warning", may: "restore", none: "done" };

/** @param {Api.Verdict} verdict */
function verdictLine({ kind, text, safety, action }) {
  const need = /** @type {keyof typeof ICONS} */ (NEEDS[kind]);
  return html`<section class="beside verdict" data-need=${need} data-kind=${kind} aria-label="Verdict">
    ${icon(ICONS[need])}
    <p><span class="said">${verdictText(text)}</span>${
      safety && html` <small class="muted">${safety}</small>`
    }</p>
    ${
      action &&
      html`<button class=${need === "act" ? "" : "small"} data-act=${ACTS[action.kind]}
        data-aim=${action.max_tokens ?? ""}>${action.label}</button>`
    }
  </section>`;
}

const RESUME = html`<button data-act="resume">Resume…</button>`;

/** The state of pruning in the proxy, and the tokens it saved.
 * @param {Api.Proxied | null} proxy */
function proxyLine(proxy) {
  if (!proxy?.prunes) return false;
  const { applied, reason, pruned_calls: calls, paid, unpruned } = proxy;
  const waits = applied ? "The last call was sent pruned." : "After the next prune, calls are sent pruned.";
  const sent = reason
    ? `The last call was sent ${applied ? "with the previous prune" : "unchanged"}: ${reason}`
    : waits;
  const cost = paid !== null && unpruned !== null && calls > 0;
  const bill =
    cost &&
    `${counted(calls, "pruned call")} cost ${dollars(paid)}; unpruned ${dollars(unpruned)}, at list price.`;
  return html`<ul class="session-copies"><li>${sentence(sent)} ${bill}</li></ul>`;
}

/** @param {number} amount */
const dollars = (amount) => money(amount, "USD");

/** The session that this one was copied from, and the copies made of it. @param {Copies} copies */
function copyLines({ copy_of: own = null, copies = [] }) {
  if (!own && copies.length === 0) return false;
  return html`<ul class="session-copies">
    ${own && html`<li>Pruned copy of ${copyLink(own.origin_id, own.origin_title)}: ${savedWords(own)}</li>`}
    ${copies.map(
      (copy) => html`<li>Resumed as ${copyLink(copy.session_id, copy.title)}: ${savedWords(copy)}</li>`,
    )}
  </ul>`;
}

/** @param {string} id @param {string | null} title */
const copyLink = (id, title) =>
  title === null ? html`a deleted session` : html`<a class="link one-line" href=${pageOf(id)}>${title}</a>`;

/** The promised saving of a copy, and that of its first call. @param {Api.Copy} copy */
export function savedWords({ tokens_before: before, tokens_promised: promised, tokens_first_call: first }) {
  const said = `${number(before - promised)} tokens less on each call were promised`;
  if (first === null) return `${said}; its first call is still to come.`;
  const saved = before - first;
  const real = saved >= 0 ? `${number(saved)} less` : `${number(-saved)} more`;
  return `${said}; its first call held ${number(first)} instead of ${number(before)}, ${real}.`;
}

/** The facts of a session, separated by dots, none of which begins a line. @param {Api.Session} session
 * @param {Api.Parent | null} parent */
function facts(session, parent) {
  const of = parent && html` of <a class="link one-line" href=${pageOf(parent.id)}>${parent.title}</a>`;
  const file = html`<span class="mono" title=${session.file}>${fileName(session.file)}</span>`;
  const known = [
    session.parent_id && html`${startedBy(session) ? "sub-agent" : "fork"}${of}`,
    session.model || "unknown model",
    session.source_label,
    session.kind === "followed" && session.file && html`following ${file}`,
    session.user && html`<span class="nowrap">${session.user}${session.host && ` on ${session.host}`}</span>`,
    session.host && session.project && html`<span title=${session.cwd}>in ${session.project}</span>`,
    html`<span class="nowrap">${counted(session.messages, "message")}</span>`,
    html`<span class="nowrap">${counted(session.turns, "turn")}</span>`,
    session.automatic && html`<b>prunes automatically</b>`,
    session.proxy?.prunes && html`<b>sent pruned</b>`,
  ];
  return known.filter(Boolean).map((one, i) => html`${i > 0 && "\u00a0· "}${one}`);
}

/** The question for the window after a call that exceeded the known one. @param {Api.Session} session */
function windowQuestion(session) {
  const { over_limit: over, limit, window, model } = session;
  if (!over) return "";
  const ofWindow = limit < window && ` as its input, of a window of ${number(window)}`;
  return html`<label for="asked-window"
      >A call took ${number(over.tokens)} tokens, more than the ${number(limit)} known for
      ${model ?? "this model"}${ofWindow}. How large is this session's window?</label>
    ${windowChoice(session, "asked-window")}`;
}

/** The notice above numbers that could not be read again. @param {Error} error */
export const stale = (error) => problem("These numbers may be old", error.message, "retry-session");

/** The page without a session: loading, an error, or not found. @param {Error | null} error */
export function noSession(error) {
  const heading = html`<h1 class="sr">Session</h1>`;
  if (!error) return html`${heading}${READING}`;
  const { message } = error;
  if (!isMissing(error))
    return html`${heading}${problem("Could not read this session", message, "retry-session")}
      ${tokenForm(error)}`;
  return html`<section class="empty">
    <p class="empty-code">404</p>
    <h1>There is nothing here</h1>
    <p class="muted">${sentence(message)}</p>
    <p>
      The session may have been deleted, or the address is mistyped. One that has only just begun opens here
      by itself once its first message is read.
    </p>
    <p><a class="button" href="${root}/">All sessions</a></p>
  </section>`;
}

/** The page of a session that was deleted while it was open. @param {Api.Session} session */
export function deletedSession(session) {
  const hasTranscript = session.kind === "followed" && session.source !== "proxy";
  return html`<section class="empty" role="alert">
    <h1>This session was deleted</h1>
    <p class="muted">${titleOf(session)}</p>
    <p>
      Its log and its operations are no longer in Coppice.
      ${hasTranscript && "The agent's own transcript is not touched."}
    </p>
    <p><a class="button" href="${root}/">All sessions</a></p>
  </section>`;
}

/** Reasons to doubt the numbers. @param {Api.Session} session */
function notes(session) {
  const { notes, malformed, unknown } = session;
  /** @param {number} count @param {string} kind @param {string} end */
  const skipped = (count, kind, end) =>
    `${counted(count, "line")} ${kind} ${count === 1 ? "was" : "were"} skipped${end}.`;
  const lines = [
    windowQuestion(session),
    ...notes.map(sentence),
    malformed > 0 && skipped(malformed, "of the file could not be read and", "; all others were read"),
    unknown > 0 && skipped(unknown, "of an unknown or unused type", ""),
  ].filter(Boolean);
  if (lines.length === 0) return "";
  return html`<ul class="session-notes">${lines.map((line) => html`<li>${line}</li>`)}</ul>`;
}
