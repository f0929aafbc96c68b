// The plan panel as markup: bars before and after, what the reader chose, what goes by its reason, the bill, a what-if.

import { limitsOf } from "../overview/session-row.js";
import { counted, money, number, percent, percentSet, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { strategyName } from "../shared/words.js";
import { KINDS } from "./choices.js";
import { panelText, shortenedTo } from "./message-row.js";
import { groupsOf, rowsByCause, SHORTENED } from "./plan.js";

/** @typedef {import("../shared/types.js").Plan} Plan */
/** @typedef {import("../shared/types.js").Session} Session */
/** @typedef {import("../shared/types.js").Message} Message */
/** @typedef {import("./choices.js").Choices} Choices */
/**
 * What the panel shows and how: `open` causes, `all` causes of which every row is shown, `strategies` to choose from.
 * @typedef {{ plan: Plan, session: Session, choices: Choices, wish: import("./plan.js").Wish, open: Set<string>, all: Set<string>, strategies: string[] }} PlanView
 */

const SHOWN_ROWS = 40;
const SHOWN_CHIPS = 6;

/** @param {Plan | null} plan @param {Session} session @param {boolean} alone whether only what was chosen is to go */
export function planTitle(plan, session, alone) {
  if (alone) return "Only what you chose";
  return plan ? `Prune to ${percentSet(aimOf(plan, session))}` : "Prune";
}

/** @param {Plan} plan @param {Session} session */
const aimOf = (plan, session) => Math.round((plan.max_tokens / Math.max(1, session.limit)) * 1000) / 10;

/** @param {PlanView} view */
export function planBody(view) {
  const { plan, session } = view;
  return html`<div class="plan-bars" data-key="bars">${planBar("Now", session, plan.before, session.pruned.regions)}
      ${planBar("After", session, plan.after, plan.regions_after)}</div>
    ${plan.over_budget && html`<p class="note-box" data-kind="warning" data-key="over" role="status">${icon("warning")}<span>${sentence(plan.over_budget.message)}${plan.over_budget.emergency && html` Of the window ${number(plan.over_budget.usable)} are usable: the emergency path gets there, and cuts inside what is protected where nothing else helps. <button class="small" data-act="relieve">Cut to ${number(plan.over_budget.usable)}</button>`}</span></p>`}
    ${plan.nothing_to_do && html`<p class="note-box" data-key="nothing" role="status">${sentence(plan.nothing_to_do)}</p>`}
    ${chosen(view)}
    ${groups(view)}
    ${bill(plan)}
    ${whatIf(view)}`;
}

/** A context before or after a prune, in one line of a grid of four. @param {string} label @param {Session} session @param {import("../shared/types.js").Amount} amount @param {Plan["regions_after"]} regions */
export function planBar(label, session, { tokens, utilization }, regions) {
  const gauge = { tokens, utilization, certainty: session.pruned.certainty, messages: 0, regions };
  return html`<span class="muted">${label}</span><context-gauge label="${label}" data="${JSON.stringify({ gauge, limits: limitsOf(session) })}"></context-gauge><span class="num">${number(tokens)}</span><b class="num">${percent(utilization)}</b>`;
}

/** What the reader chose, each to be taken back. @param {Pick<PlanView, "choices" | "wish" | "session">} view */
export function chosen({ choices, wish, session }) {
  const kinds = KINDS.filter(([kind]) => choices.of(kind).length > 0);
  if (kinds.length === 0) return html``;
  const alone = choices.takes && wish.max_tokens === undefined;
  return html`<div class="chosen" data-key="chosen">${kinds.map(
    ([kind, label]) =>
      html`<div data-key="${kind}"><span class="muted">${label}</span><ul class="chips">${chips(kind, choices.of(kind))}</ul></div>`,
  )}${alone && html`<button class="small" data-key="also" data-act="also-prune">Prune to ${percentSet(session.aim_percent)} as well</button>`}</div>`;
}

/** @param {import("./choices.js").Kind} kind @param {import("./choices.js").Chosen[]} messages */
function chips(kind, messages) {
  const undo = { drop: "No longer drop", shorten: "No longer shorten", spare: "No longer spare" }[kind];
  if (messages.length > SHOWN_CHIPS)
    return html`<li data-key="all"><button class="chip" data-act="forget-all" data-kind="${kind}" aria-label="${undo} these ${messages.length} messages">${counted(messages.length, "message")}${icon("close")}</button></li>`;
  return messages.map(
    ({ id, number: n }) =>
      html`<li data-key="${id}"><button class="chip" data-act="forget" data-id="${id}" aria-label="${undo} message ${n}">#${number(n)}${icon("close")}</button></li>`,
  );
}

/** @param {PlanView} view */
function groups({ plan, open, all }) {
  const found = groupsOf(plan);
  if (found.length === 0) return html``;
  const rows = rowsByCause(plan);
  return html`<div class="groups" data-key="groups">${found.map((group) => {
    const { cause } = group;
    const list = rows.get(cause) ?? [];
    const shortened = group.fate === SHORTENED;
    return html`<section data-key="${cause}"><button class="bare group" data-act="group" data-cause="${cause}" aria-expanded="${open.has(cause) ? "true" : "false"}">${icon(open.has(cause) ? "down" : "right")}<span>${shortened && icon("torn")} ${sentence(group.label).slice(0, -1)}<small class="muted">${counted(group.messages, shortened ? "output" : "message")}</small></span><span class="num">−${number(group.tokens)}</span></button>
      ${
        open.has(cause) &&
        html`<ul class="group-rows" data-fate="${shortened ? "shortened" : "goes"}">${(all.has(cause) ? list : list.slice(0, SHOWN_ROWS)).map(row)}
        ${list.length > SHOWN_ROWS && html`<li><button class="small" data-act="all-of" data-cause="${cause}">${all.has(cause) ? "Show fewer" : `Show all ${number(list.length)}`}</button></li>`}
        ${list.length < group.messages && html`<li class="muted small">the first ${number(list.length)} of ${number(group.messages)}; the list shows all of them under ${shortened ? "Shortened" : "Goes"}</li>`}</ul>`
      }</section>`;
  })}${plan.summary && summaryRows(plan.summary)}<p class="total"><span>Freed${plan.summary && html` <span class="muted small">at least</span>`}</span><b class="num">−${number(plan.freed)}</b></p></div>`;
}

/** What a summary takes of what it frees: known only once it is written, but never more than this.
 * @param {import("../shared/types.js").PlannedSummary} summary */
function summaryRows({ first, last, most_tokens, absorbed_tokens, by_model }) {
  const writer = by_model
    ? "the model, or the built-in summariser where it fails"
    : "the built-in summariser";
  return html`<p class="total" data-key="summary"><span>Summary of messages ${number(first)}–${number(last)}<small class="muted">written by ${writer} when you apply</small></span><span class="num nowrap">+${number(most_tokens)}<small class="muted">at most</small></span></p>
    ${absorbed_tokens > 0 && html`<p class="total" data-key="absorbed"><span>Earlier summaries, which go into it</span><span class="num">−${number(absorbed_tokens)}</span></p>`}`;
}

/** @param {Message} message */
function row(message) {
  const { id, number: n } = message;
  return html`<li data-key="${id}"><span class="num muted">${number(n)}</span>${panelText(message)}<span class="num">${number(message.tokens)}${shortenedTo(message)}</span><button class="small" data-act="spare" data-id="${id}" data-number="${n}" aria-label="Spare message ${n}">Spare</button></li>`;
}

/** @param {Plan} plan */
function bill({ cache, removed_count, shortened_count }) {
  if (!cache || removed_count + shortened_count === 0) return html``;
  /** @param {number} tokens @param {number | null} cost */
  const both = (tokens, cost) =>
    html`${number(tokens)}${cost !== null && html`<span class="muted"> · ${money(cost, cache.currency)}</span>`}`;
  const back = cache.break_even_calls;
  return html`<dl class="kv" data-key="cache"><dt>Saved on every next call</dt><dd>${both(cache.saved_per_call, cache.saved_cost)}</dd><dt>Cache rewritten once</dt><dd>${both(cache.rewritten_once, cache.rewrite_cost)}</dd>
    ${back !== null && html`<dt>Pays back after</dt><dd>${counted(Math.max(1, Math.ceil(back)), "call")}</dd>`}
    ${cache.saved_cost !== null && html`<dt class="small wide-dt">Tokens, and money at list price.</dt>`}</dl>`;
}

/** @param {PlanView} view */
function whatIf({ plan, session, wish, strategies }) {
  const aim = Math.round(((wish.max_tokens ?? plan.max_tokens) / Math.max(1, session.limit)) * 1000) / 10;
  const shown = Math.min(100, aim);
  const strategy = wish.strategy ?? plan.strategy;
  const names = strategies.includes(strategy) ? strategies : [...strategies, strategy];
  const changed = wish.max_tokens !== undefined || wish.strategy !== undefined;
  return html`<fieldset class="what-if" data-key="whatif"><legend>What if</legend>
    <label for="plan-aim">Cut to</label><input id="plan-aim" type="range" name="aim" min="5" max="100" step="1" value="${Math.round(shown)}" aria-valuetext="${percentSet(shown)}"><output class="num">${percentSet(shown)}</output>
    <label for="plan-strategy">Choose</label><select id="plan-strategy" name="strategy">${names.map((name) => html`<option value="${name}" ${name === strategy ? html`selected` : ""}>${strategyName(name)}</option>`)}</select>${changed && html`<button class="small" data-act="wish-reset">Reset</button>`}
  </fieldset>`;
}
