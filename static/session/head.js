// The head of the session page as markup: the session, its verdict, and the parts of its context.
import { counted, fileName, money, number, percent, percentSet, sentence, tokens } from "../shared/format.js";
import { regionStyle, reserveShare } from "../shared/gauge.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { isMissing, problem, READING, tokenForm } from "../shared/problem.js";
import { root } from "../shared/root.js";
import { gaugeOf, mainGauge, pageOf, titleOf, verdictText } from "../shared/session-facts.js";
import { estimated, optionElements, sourceOf, stateIcon, tokenCount } from "../shared/session-parts.js";
import { typeName, typeReason } from "../shared/task-types.js";
import { agoTime, untilTime } from "../shared/times.js";
import {
  certaintyReason,
  choiceName,
  choiceOptions,
  choicesOf,
  REGION_ORDER,
  regionName,
  strategyName,
} from "../shared/words.js";
import { costSentence } from "./cost.js";
import { exportMenu } from "./menus.js";

/** @typedef {Partial<Pick<Api.Stats, "copy_of" | "copies">>} Copies */

/** @param {Api.Session} session @param {Api.Parent | null} [parent] of a sub-agent
 * @param {Copies} [copies] */
export function header(session, parent = null, copies = {}) {
  return html`<header class="session-head">
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
  return html`<section class="verdict" data-need=${need} data-kind=${kind} aria-label="Verdict">
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
    session.parent_id && html`sub-agent${of}`,
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

/** @param {Api.Session} session */
function moreMenu(session) {
  const { automatic, kind, proxy, target_percent, aim_percent, strategy } = session;
  const byDefault = `As in the settings: ${strategyName(strategy.setting)}`;
  return html`<details class="menu more">
    <summary class="button iconic" aria-label="More" title="More">${icon("more")}</summary>
    <div class="menu-list">
      <label class="switch"
        ><input type="checkbox" role="switch" name="automatic" .checked=${automatic}>Automatic pruning</label>
      <p class="note">
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
      <label class="switch"
        ><input type="checkbox" role="switch" name="kept"
          .checked=${session.kept}>Never delete automatically</label>
      <p class="note">Limits on age and size (in the settings, none by default) never delete it.</p>
      <hr>
      <button class="danger" data-act="delete">Delete this session…</button>
    </div>
  </details>`;
}

const REACHED = "The agent sends less once it is resumed from a pruned copy, or through the proxy.";

/** The note on what the agent's own hooks or extension add. @param {Api.Session} session */
function integrationNote({ source }) {
  const one = choicesOf("integration").find(({ name }) => name === source);
  return one && html`<p class="note"><code>${one.label}</code>: ${one.meaning}.</p>`;
}

/** @param {Api.Proxied} proxy */
function proxySwitch({ prunes, subscription }) {
  const why = "Its key is a subscription's: the proxy forwards its calls and never changes them.";
  const does =
    "The proxy leaves out of each call what you prune here. Takes effect with the next prune or call.";
  return html`<label class="switch"
      ><input
        type="checkbox"
        role="switch"
        name="proxy_prunes"
        .checked=${prunes}
        ?disabled=${subscription && !prunes}>Send pruned</label>
    <p class="note">${subscription ? why : does}</p>`;
}

const WINDOWS = [128_000, 200_000, 256_000, 400_000, 1_000_000, 2_000_000];

/** Options for sizes in tokens, each once, in their order. @param {number[]} sizes */
const sizeOptions = (sizes) =>
  [...new Set(sizes)]
    .sort((a, b) => a - b)
    .map((size) => /** @type {const} */ ([String(size), `${number(size)} tokens`]));

/** The choice of the session's window, by which its gauge divides; empty for the detected one.
 * @param {Api.Session} session @param {string} id */
function windowChoice({ limit, window_kind, over_limit }, id) {
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
    <p class="note">An upper limit on the target: a share of ${number(limit)} tokens is rarely reached.</p>`;
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

const OBSERVED = html`<p class="plain">
  A prune changes the pruned view only, until a call is sent pruned. <i>Send pruned</i>, in the menu More,
  switches that on.
</p>`;

const FOLLOWED = html`<p class="plain">
  A prune changes the pruned view only, not the agent's own context. To use it, resume the agent from a pruned
  copy.
</p>`;

/** @param {Api.Session} session @param {Api.Cost | null} [cost] */
export function bars(session, cost = null) {
  const { agent, pruned } = session;
  const differs = agent !== null && pruned.tokens !== agent.tokens;
  const costs = costSentence(cost, (agent ?? pruned).certainty);
  return html`<section class="panel bars" aria-label="What fills the context">
    ${agent && bar("Agent's context", "what the agent really sends", agent, session, true)}
    ${differs && bar("Pruned view", prunedWords(agent, pruned), pruned, session, false)}
    ${!agent && bar("Context", "what the next call sends", pruned, session, true)} ${legend(session)}
    <details class="bar-notes small muted">
      <summary>${noteWords(session, cost)}${cacheWords(session)}</summary>
      ${limitLine(session)} ${typeLine(session)} ${costs && html`<p class="plain cost">${costs}</p>`}
      ${agent && (session.proxy ? OBSERVED : FOLLOWED)}
    </details>
  </section>`;
}

/** The task type and the price of a call in one line, which opens to their details.
 * @param {Api.Session} session @param {Api.Cost | null} cost */
function noteWords({ task_type, agent, pruned, cache }, cost) {
  const words = [
    `Task type: ${typeName(task_type.name)}`,
    cost?.per_call && `next call ${nextCall(cost, cache, (agent ?? pruned).certainty)}`,
    agent && "prunes leave the agent's own context as it is",
  ];
  return words.filter(Boolean).join(" · ");
}

/** The price of the next call as the provider's cache is now, which a changed context uses only in part.
 * @param {Api.Cost} cost @param {Api.PromptCache | null} cache @param {string} certainty */
function nextCall({ per_call, per_call_cached, at_least, currency }, cache, certainty) {
  const warm = cache !== null && !cache.cold;
  const least = at_least || (warm && cache.changed) ? "at least " : "";
  return least + money((warm ? per_call_cached : per_call) ?? 0, currency, certainty);
}

/** The time for which the provider's cache still holds the context; empty if it expired long ago.
 * @param {Api.Session} session */
function cacheWords({ cache, activity }) {
  if (!cache || activity === "stale" || activity === "ended") return "";
  const { cold, cold_at, minutes } = cache;
  const kept = minutes === 60 ? "an hour" : counted(minutes, "minute");
  const why = `The provider caches a context for ${kept} after a call. Later a prune costs nothing extra.`;
  const state = cold ? html`cold, expired ${agoTime(cold_at)}` : html`warm, cold ${untilTime(cold_at)}`;
  return html` · <span title=${why}>provider's cache ${state}</span>`;
}

/** The limit with its source and date, and a cap on the target. @param {Api.Session} session */
function limitLine({ limit, limit_source: source, limit_date: date, cap_tokens: cap }) {
  const from = source && html` (${sourceOf({ source, date })})`;
  const capped = cap !== null && `; the target is capped at ${number(cap)}`;
  return html`<p class="plain">Limit: ${number(limit)} tokens${from}${capped}.</p>`;
}

/** The session's task type, its reason, and the choice of another. @param {Api.Session} session */
function typeLine(session) {
  const { name, own, setting } = session.task_type;
  const byDefault = own ? "As in the settings" : `${choiceName("task_type", name)} (by the settings)`;
  return html`<div class="row type-line">
    <label for="task-type">Task type</label>
    <select id="task-type" name="task_type" data-saved=${own ? setting : ""}>
      ${optionElements([["", byDefault], ...choiceOptions("task_type")], own ? setting : "")}
    </select>
    <p class="plain">${typeReason(session)}</p>
  </div>`;
}

/** @param {Api.Gauge} agent @param {Api.Gauge} pruned */
function prunedWords(agent, pruned) {
  const less = agent.tokens - pruned.tokens;
  return less > 0 ? `${number(less)} tokens less` : `${number(-less)} tokens more`;
}

/** @param {string} name @param {string} what @param {Api.Gauge} gauge @param {Api.Session} session
 * @param {boolean} big */
function bar(name, what, gauge, session, big) {
  const source = [session.limit_source, session.limit_date].filter(Boolean).join(", ");
  return html`<div class="bar" data-big=${big}>
    <div class="bar-head">
      <h2>${name}</h2>
      <span class="muted small">${what}</span>
      <p class="bar-figures">
        <b class="figure">${tokenCount(gauge.tokens, gauge.certainty)}</b>
        <span class="muted nowrap"
          >of <span title=${source && `Limit from ${source}`}>${number(session.limit)}</span>${
            session.window_assumed && " (window assumed)"
          }</span>
        <b>${percent(gauge.utilization)}</b>
        <span class="muted certainty" title=${certaintyReason(gauge.certainty)}>${gauge.certainty}</span>
      </p>
    </div>
    <context-gauge ?big=${big} label=${name} .value=${gaugeOf(session, gauge)}></context-gauge>
  </div>`;
}

/** Shares of two totals that are rounded to whole tokens differ by up to so many for a region that stays. */
const ROUNDED_TOKENS = 2;

/** The regions with their tokens in the agent's context, and in the pruned view if they differ.
 * @param {Api.Session} session */
function legend(session) {
  const pruned = new Map(session.pruned.regions.map((r) => [r.name, r.tokens]));
  const own = mainGauge(session).regions;
  // A summary may be in the pruned view only.
  const others = session.pruned.regions.filter(({ name }) => !own.some((region) => region.name === name));
  const ordered = [...own, ...others.map((region) => ({ ...region, tokens: 0 }))]
    .filter(({ name, tokens }) => tokens + (pruned.get(name) ?? 0) > 0)
    .sort((a, b) => REGION_ORDER.indexOf(a.name) - REGION_ORDER.indexOf(b.name));
  const reserve = html`<li>
    <i class="swatch" data-region="reserve"></i>kept free for output <b>${number(session.output_reserve)}</b>
  </li>`;
  return html`<ul class="legend">
    ${ordered.map(({ name, tokens: count, certainty }) => {
      const after = pruned.get(name) ?? 0;
      return html`<li title=${certaintyReason(certainty)}>
        <i class="swatch" .style=${regionStyle(name)}></i>${regionName(name)}
        <b>${tokens(count, certainty)}${estimated(certainty)}</b>
        ${
          session.agent &&
          Math.abs(after - count) > ROUNDED_TOKENS &&
          html`<span>→ ${tokens(after, certainty)}</span>`
        }
      </li>`;
    })}
    ${reserveShare(session) > 0 && reserve}
  </ul>`;
}
