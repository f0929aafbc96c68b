// The bars of a session as markup: a gauge for each context, its regions, and the facts behind the numbers.
import { counted, money, number, percent, tokens } from "../shared/format.js";
import { regionStyle, reserveShare } from "../shared/gauge.js";
import { html } from "../shared/html.js";
import { estimated, optionElements, sourceOf, tokenCount } from "../shared/parts.js";
import { gaugeOf, mainGauge } from "../shared/session-facts.js";
import { typeName, typeReason } from "../shared/task-types.js";
import { agoTime, untilTime } from "../shared/times.js";
import { certaintyReason, choiceName, choiceOptions, REGION_ORDER, regionName } from "../shared/words.js";

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
      ${agent && !session.proxy?.prunes && (session.proxy ? OBSERVED : FOLLOWED)}
    </details>
  </section>`;
}

/** The task type and the price of a call in one line, which opens to their details.
 * @param {Api.Session} session @param {Api.Cost | null} cost */
function noteWords({ task_type, agent, pruned, cache, proxy }, cost) {
  const words = [
    `Task type: ${typeName(task_type.name)}`,
    cost?.per_call && `next call ${nextCall(cost, cache, (agent ?? pruned).certainty)}`,
    agent && !proxy?.prunes && "prunes leave the agent's own context as it is",
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
    <div class="row bar-head">
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

/** The price of the next call with and without the cache, and of all calls so far, at list price.
 * @param {Api.Cost | null} cost @param {string} [certainty] of the context that the next call sends */
export function costSentence(cost, certainty) {
  return cost ? [nextCallSentence(cost, certainty), ...soFar(cost)].filter(Boolean).join(" ") : "";
}

/** The price of the next call; nothing where it is not known, or where nothing would be sent.
 * @param {Api.Cost} cost @param {string} [certainty] */
function nextCallSentence(cost, certainty) {
  if (cost.free) return "Calls of this model cost nothing.";
  if (!cost.per_call) return "";
  const least = cost.at_least ? "at least " : "";
  const [fresh, cached] = [cost.per_call, cost.per_call_cached ?? 0].map(
    (one) => least + money(one, cost.currency, certainty),
  );
  return `Input of the next call at standard list price: ${fresh} new, ${cached} from the cache.`;
}

/** The cost of the session's own calls and those of its sub-agents, unless all of them cost nothing.
 * @param {Api.Cost} cost @returns {string[]} */
function soFar(cost) {
  const below = cost.sub_agents;
  const whole = (cost.spent ?? 0) + (below?.spent ?? 0);
  if (cost.free && !whole) return [];
  const own = cost.calls > 0 && paid(cost.spent, cost.spent_at_least, cost.currency, cost.unreported);
  const said = own ? [`${counted(cost.calls, "call")} so far, output included: ${own}.`] : [];
  if (!below) return said;
  const agents = counted(below.sessions, "sub-agent");
  if (below.calls === 0)
    return [...said, `${counted(below.unreported, "call")} of ${agents} without reported usage.`];
  const theirs = paid(below.spent, below.spent_at_least, cost.currency, below.unreported);
  if (!theirs) return said;
  const together = paid(whole, cost.spent_at_least || below.spent_at_least, cost.currency);
  return [...said, `${counted(below.calls, "call")} of ${agents}: ${theirs}; together ${together}.`];
}

/** An amount and the calls that are not in it, or an empty text where no amount is known.
 * @param {number | null} amount @param {boolean} least @param {string} currency
 * @param {number} [unreported] */
function paid(amount, least, currency, unreported = 0) {
  if (amount === null) return "";
  const besides = unreported ? `, and ${counted(unreported, "call")} without reported usage` : "";
  return `${least ? "at least " : ""}${money(amount, currency)}${besides}`;
}
