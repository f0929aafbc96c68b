// The plan panel as markup: bars before and after, the reader's choices, removed messages by reason, costs
// and savings, a what-if.
import { counted, money, number, percent, percentSet, sentence } from "../shared/format.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { optionElements, planBar, tokenCount } from "../shared/parts.js";
import { certaintyOfParts } from "../shared/session-facts.js";
import { agoTime, untilTime } from "../shared/times.js";
import { choiceOptions } from "../shared/words.js";
import { KINDS } from "./choices.js";
import { panelRow, rowTokens } from "./message-row.js";
import { aimOf, paysBack, rowsByCause, takesOnlyChosen } from "./plan.js";
import { fatesChanged, toSave, tuning } from "./tuning.js";

/** @typedef {import("./choices.js").Choices} Choices */
/** @typedef {{ plan: Api.Plan, session: Api.Session, choices: Choices,
 * options: import("./plan.js").PlanOptions } &
 * import("./plan.js").Folds} PlanState */

const SHOWN_ROWS = 40;
const SHOWN_CHIPS = 6;

/** @param {Api.Plan | null} plan @param {Api.Session} session
 * @param {boolean} alone only what was chosen goes */
export function planTitle(plan, session, alone) {
  if (alone) return "Only what you chose";
  return plan ? `Prune to ${percentSet(aimOf(plan.max_tokens, session))}` : "Prune";
}

/** @param {PlanState} state */
export function planBody(state) {
  const { plan, session } = state;
  const full = Math.max(plan.before.tokens, plan.after.tokens);
  return html`<div class="plan-top">
      <div class="plan-bars">
        ${planBar("Now", session, { ...session.pruned, ...plan.before }, full)}
        ${planBar("After", session, { ...plan.after, regions: plan.regions_after }, full)}
      </div>
      ${whatIf(state)} ${endsFarBelow(state)}
    </div>
    ${tuning(state)}
    ${plan.over_budget && overBudget(plan.over_budget)}
    ${plan.nothing_to_do && nothingToDo(plan)}
    ${chosen(state)} ${groups(state)} ${bill(plan, session)}`;
}

/** The causes of outputs that a plan clears whatever its aim is. */
const CLEARED = ["duplicate", "superseded"];

/** Says why a plan ends well below its aim, if clearing these alone does that. @param {PlanState} state */
function endsFarBelow({ plan, session }) {
  const sure = plan.groups.filter(({ cause }) => CLEARED.includes(cause));
  const freed = sure.reduce((sum, { tokens }) => sum + tokens, 0);
  if (freed === 0 || plan.before.tokens - freed > plan.max_tokens - session.limit / 100) return "";
  return html`<p class="small muted plan-note">
    Repeated and superseded outputs are always cleared, so this ends below
    ${percentSet(aimOf(plan.max_tokens, session))}.
  </p>`;
}

/** The least share of the limit that can be chosen to cut to, in percent. */
const LEAST_AIM = 5;

/** Says why a plan does nothing; where the context is below the aim, how to free some anyway.
 * @param {Api.Plan} plan */
function nothingToDo({ nothing_to_do, before, max_tokens }) {
  const lower =
    before.utilization > LEAST_AIM &&
    before.tokens <= max_tokens &&
    html` To free some anyway, move <i>Cut to</i> below ${percent(before.utilization)}.`;
  return html`<p class="row note-box" role="status"><span>${sentence(nothing_to_do)}${lower}</span></p>`;
}

/** @param {NonNullable<Api.Plan["over_budget"]>} over */
function overBudget({ message, usable, emergency }) {
  const relief =
    emergency &&
    html` An emergency prune cuts to the ${number(usable)} usable tokens. If nothing else helps, it also
      shortens protected messages.
      <button class="small" data-act="relieve">Cut to ${number(usable)}</button>`;
  return html`<p class="row note-box" data-kind="warning" role="status">
    ${icon("warning")}<span>${sentence(message)}${relief}</span>
  </p>`;
}

/** The reader's choices, each with a button that removes it, and how many fates they change in a plan to the
 * aim.
 * @param {Pick<PlanState, "choices" | "options" | "session"> & { plan?: Api.Plan }} state */
export function chosen({ choices, options, session, plan }) {
  const kinds = KINDS.filter(([kind]) => choices.of(kind).length > 0);
  if (kinds.length === 0) return "";
  const alone = takesOnlyChosen(choices, options);
  const aim = percentSet(session.aim_percent);
  /** @param {typeof KINDS[number]} kind */
  const one = ([kind, label]) => html`<div>
    <span class="muted">${label}</span><ul class="row chips">${chips(kind, choices.of(kind))}</ul>
  </div>`;
  return html`<div class="stack chosen">
    ${kinds.map(one)}
    ${!alone && plan && choicesEffect(plan, options)}
    ${alone && html`<button class="small" data-act="also-prune">Prune to ${aim} as well</button>`}
  </div>`;
}

/** The number of fates that the choices change; if weights or a strategy are tried too, their sentence says
 * it. @param {Api.Plan} plan @param {PlanState["options"]} options */
function choicesEffect({ changed }, options) {
  if (changed === null || Object.keys(toSave(options)).length > 0) return "";
  return html`<p class="small muted" role="status">
    ${fatesChanged(changed)}, compared with the plan without your choices.
  </p>`;
}

/** @param {import("./choices.js").Kind} kind @param {import("./choices.js").Chosen[]} messages */
function chips(kind, messages) {
  const undo = `No longer ${kind}`;
  /** @param {string} act @param {string} id @param {string} what @param {string} text */
  const chip = (act, id, what, text) => html`<li>
    <button class="chip" data-act=${act} data-kind=${kind} data-id=${id} aria-label="${undo} ${what}"
      >${text}${icon("close")}</button>
  </li>`;
  if (messages.length > SHOWN_CHIPS)
    return chip("forget-all", "", `these ${messages.length} messages`, counted(messages.length, "message"));
  return messages.map(({ id, number: n }) => chip("forget", id, `message ${n}`, `#${number(n)}`));
}

/** @param {PlanState} state */
function groups({ plan, session, open, all }) {
  if (plan.groups.length === 0) return "";
  const rows = rowsByCause(plan);
  return html`<div class="groups">
    ${plan.groups.map((group) => {
      const { cause } = group;
      const rowsOf = rows.get(cause) ?? [];
      return groupOf(group, rowsOf, open.has(cause), all.has(cause), certaintyOfParts(session.pruned));
    })}
    ${plan.summary && summaryRows(plan.summary)}
    <p class="total">
      <span>Freed${plan.summary && html` <span class="muted small">at least</span>`}</span>
      <b class="num">${tokenCount(plan.freed, certaintyOfParts(session.pruned))}</b>
    </p>
  </div>`;
}

/** @param {Api.Plan["groups"][number]} group @param {Api.Message[]} rows @param {boolean} open
 * @param {boolean} all @param {string} certainty */
function groupOf({ cause, fate, label, messages, tokens }, rows, open, all, certainty) {
  const shortened = fate === "shortened";
  const more = html`<li><button class="small" data-act="all-of" data-cause=${cause}
    >${all ? "Show fewer" : `Show all ${number(rows.length)}`}</button></li>`;
  const first = html`<li class="muted small">
    The first ${number(rows.length)} of ${number(messages)}. The list shows all of them under
    ${shortened ? "Shortened" : "Goes"}.
  </li>`;
  const shown = html`<ul class="group-rows" data-fate=${fate}>
    ${(all ? rows : rows.slice(0, SHOWN_ROWS)).map((message) => row(message, certainty))}
    ${rows.length > SHOWN_ROWS && more}
    ${rows.length < messages && first}
  </ul>`;
  return html`<section>
    <button class="bare group" data-act="group" data-cause=${cause} aria-expanded=${open}
      >${icon(open ? "down" : "right")}<span
        >${shortened && icon("torn")} ${sentence(label).slice(0, -1)}<small class="muted"
          >${counted(messages, shortened ? "output" : "message")}</small></span
      ><span class="num">${tokenCount(tokens, certainty)}</span></button>
    ${open && shown}
  </section>`;
}

/** The summary in the costs, with its largest size: the actual one is known once it is written.
 * @param {Api.PlannedSummary} summary */
function summaryRows({ first, last, most_tokens, absorbed_tokens, by_model }) {
  const builtIn = "the built-in summariser";
  const writer = by_model ? `the model, or ${builtIn} where it fails` : builtIn;
  const absorbed = html`<p class="total">
    <span>Earlier summaries, which go into it</span><span class="num">${number(absorbed_tokens)}</span>
  </p>`;
  return html`<p class="total">
      <span>Less the summary of messages ${number(first)}–${number(last)}<small class="muted"
        >written by ${writer} when you apply</small></span>
      <span class="num nowrap">${number(most_tokens)}<small class="muted">at most</small></span>
    </p>
    ${absorbed_tokens > 0 && absorbed}`;
}

/** @param {Api.Message} message @param {string} certainty */
function row(message, certainty) {
  const { id, number: n } = message;
  const spare = html`<button class="small" data-act="spare" data-id=${id} data-number=${n}
    aria-label="Spare message ${n}">Spare</button>`;
  return panelRow(message, rowTokens(message, certainty), spare);
}

const AT_LIST_PRICE = html`<dt class="small muted wide-dt">Tokens, and money at list price.</dt>`;

/** @param {Api.Plan} plan @param {Api.Session} session */
function bill({ cache, removed_count, shortened_count }, session) {
  if (removed_count + shortened_count === 0) return "";
  const certainty = certaintyOfParts(session.pruned);
  /** @param {string} what @param {number} tokens @param {number | null} cost */
  const line = (what, tokens, cost) => {
    const price =
      cost !== null && html`<span class="muted"> · ${money(cost, cache.currency, certainty)}</span>`;
    return html`<dt class="muted">${what}</dt><dd>${tokenCount(tokens, certainty)}${price}</dd>`;
  };
  const back = cache.break_even_calls;
  const moment = cheapestMoment(cache, session.cache, certainty);
  return html`<dl class="kv">
    ${line("Saved on every next call", cache.saved_per_call, cache.saved_cost)}
    ${line("Cache rewritten once", cache.rewritten_once, cache.rewrite_cost)}
    ${moment && html`<dt class="small muted wide-dt">${moment}</dt>`}
    ${back !== null && html`<dt class="muted">Pays back</dt><dd>${paysBack(back)}</dd>`}
    ${cache.saved_cost !== null && AT_LIST_PRICE}
  </dl>`;
}

/** The price of a prune when the provider's cache is cold, or the reason why it costs nothing extra now.
 * @param {Api.PruneCost} cost @param {Api.PromptCache | null} cache @param {string} certainty */
function cheapestMoment({ cold, saved_when_cold, rewritten_once, currency }, cache, certainty) {
  const less =
    saved_when_cold !== null &&
    html`, and the next call costs ${money(saved_when_cold, currency, certainty)} less`;
  if (cold)
    return html`The provider's cache has expired, so the next call writes everything again anyway: pruning now
      costs nothing extra${less}.`;
  if (!cache || saved_when_cold === null) return "";
  if (cache.changed && rewritten_once === 0)
    return html`The next call writes all of this again anyway, because something before it has changed since
      the last one: pruning now costs nothing extra.`;
  return html`The provider's cache was used ${agoTime(cache.called_at)} and expires
    ${untilTime(cache.cold_at)} if no call comes. Pruning costs nothing extra then${less}.`;
}

/** @param {PlanState} state */
function whatIf({ plan, session, options }) {
  const aim = Math.min(100, aimOf(options.max_tokens ?? plan.max_tokens, session));
  const strategy = options.strategy ?? plan.strategy;
  const changed = options.max_tokens !== undefined || Object.keys(toSave(options)).length > 0;
  return html`<fieldset class="what-if">
    <legend class="sr">What if</legend>
    <label class="muted" for="plan-aim">Cut to</label>
    <input id="plan-aim" type="range" name="aim" min=${LEAST_AIM} max="100" step="1" .value=${Math.round(aim)}
      aria-valuetext=${percentSet(aim)}>
    <output class="num">${percentSet(aim)}</output>
    <label class="muted" for="plan-strategy">Strategy</label>
    <select id="plan-strategy" name="strategy">${optionElements(choiceOptions("strategy"), strategy)}</select>
    ${changed && html`<button class="small" data-act="options-reset">Reset</button>`}
  </fieldset>`;
}
