// The upper part of the session page as markup: who this is, whether something should be done, what fills the context.

import { gaugeData, stateIcon, tokenCount } from "../overview/session-row.js";
import { mainGauge, titleOf } from "../overview/sessions.js";
import { ApiError } from "../shared/api.js";
import { counted, fileName, number, percent, percentSet, sentence, tokens } from "../shared/format.js";
import { reserveShare } from "../shared/gauge.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { problem } from "../shared/problem.js";
import { sessionChoices, typeReason } from "../shared/task-types.js";
import {
  certaintyReason,
  REGION_ORDER,
  regionName,
  STRATEGY_NAMES,
  sourceName,
  strategyName,
} from "../shared/words.js";
import { costSentence } from "./cost.js";
import { exportMenu } from "./export-menu.js";
import { promise } from "./plan.js";

/** @typedef {import("../shared/types.js").Session} Session */
/** @typedef {import("../shared/types.js").Plan} Plan */
/** @typedef {import("../shared/types.js").Gauge} Gauge */

/** @param {Session} session @param {import("../shared/types.js").Parent | null} [parent] the session that a sub-agent belongs to @param {string} [origin] of this server */
export function header(session, parent = null, origin = "") {
  const followed = session.kind === "followed";
  return html`<header class="session-head" data-key="head">
    <div class="session-name"><h1>${stateIcon(session)}<span title="${titleOf(session)}">${titleOf(session)}</span></h1>
      <p class="muted meta">${session.parent_id && html`sub-agent${parent && html` of <a class="link" href="/sessions/${encodeURIComponent(parent.id)}">${parent.title}</a>`} · `}${session.model || "unknown model"} · ${sourceName(session.source)}${followed && session.file && html` · following <span class="mono" title="${session.file}">${fileName(session.file)}</span>`} · ${counted(session.messages, "message")} · ${counted(session.turns, "turn")}${session.automatic && html` · <b>prunes by itself</b>`}</p></div>
    <div class="session-acts">
      ${exportMenu(session, origin)}
      <details class="menu more"><summary class="button iconic" aria-label="More" title="More">${icon("more")}</summary><div class="menu-list">
        <label class="switch"><input type="checkbox" role="switch" name="automatic" ${session.automatic ? html`checked` : ""}>Automatic pruning</label>
        <p class="note">Above ${percentSet(session.target_percent)}, prune to ${percentSet(session.aim_percent)} as soon as a message arrives. Each can be undone.</p>
        <div class="field"><label for="own-strategy">Strategy</label><select id="own-strategy" name="own_strategy">${strategies(session)}</select></div><hr>
        <button class="danger" data-act="ask-delete">Delete this session…</button></div></details>
      <button class="primary" data-act="see-plan">Prune… <kbd>p</kbd></button>
    </div>
  </header>
  ${notes(session)}`;
}

/** The strategies to choose from, the settings' first. @param {Session} session */
function strategies({ strategy: { own, setting } }) {
  const choices = [
    ["", `As in the settings: ${strategyName(setting)}`],
    ...STRATEGY_NAMES.map((name) => [name, strategyName(name)]),
  ];
  return choices.map(
    ([value, label]) =>
      html`<option value="${value}" ${value === (own ?? "") ? html`selected` : ""}>${label}</option>`,
  );
}

/** What stands above figures that could not be read again. @param {Error} error */
export const stale = (error) => problem("These figures may be old", error.message, "retry-session");

/** What stands where no session could be read so far; for one that is not there, as the server's page says it.
 * @param {Error | null} error */
export function noSession(error) {
  if (!error) return html`<p class="muted">Reading…</p>`;
  if (!(error instanceof ApiError) || error.status !== 404)
    return problem("Could not read this session", error.message, "retry-session");
  return html`<section class="empty" data-key="gone">
    <p class="empty-code">404</p>
    <h1>There is nothing here</h1>
    <p class="muted">${sentence(error.message)}</p>
    <p>The session may have been deleted, or the address is mistyped.</p>
    <p><a class="button" href="/">All sessions</a></p>
  </section>`;
}

/** What has to be known before the figures are believed. @param {Session} session */
function notes(session) {
  const lines = [
    ...session.notes.map(sentence),
    ...(session.malformed
      ? [
          `${counted(session.malformed, "line")} of the file could not be read and ${session.malformed === 1 ? "was" : "were"} skipped; all others were read.`,
        ]
      : []),
    ...(session.unknown
      ? [
          `${counted(session.unknown, "line")} of a type that Coppice does not know ${session.unknown === 1 ? "was" : "were"} passed over.`,
        ]
      : []),
  ];
  return (
    lines.length > 0 &&
    html`<ul class="session-notes" data-key="notes">${lines.map((line) => html`<li>${line}</li>`)}</ul>`
  );
}

/** @param {Session} session @param {Plan | null} plan */
export function banner(session, plan) {
  const gauge = mainGauge(session);
  const followed = session.kind === "followed";
  const helped = followed && session.pruned.tokens <= session.target_tokens;
  return html`<div class="banner" data-key="banner" role="status">${icon("warning")}
    <div><p><b>${followed ? "The agent's context" : "The context"} is at ${percent(gauge.utilization)}, above its target of ${percentSet(targetOf(session))}.</b>
      ${helped ? `The pruned view is at ${percent(session.pruned.utilization)}.` : plan && plan.freed > 0 ? promise(plan, session) : ""}</p>
      ${followed && html`<p class="muted">${helped ? "Export it and resume the agent from the copy; until then the agent keeps its own context." : "Coppice only follows this session: the agent keeps its own context until you resume it from an exported copy."}</p>`}</div>
    <div class="banner-acts"><button class="quiet" data-act="not-now">Not now</button> ${helped ? html`<button data-act="open-export">Export…</button>` : html`<button data-act="see-plan">See the plan</button>`}</div></div>`;
}

/** @param {Session} session */
function targetOf(session) {
  return Math.round((session.target_tokens / Math.max(1, session.limit)) * 1000) / 10;
}

/** @param {Session} session @param {import("../shared/types.js").Cost | null} [cost] */
export function bars(session, cost = null) {
  const { agent, pruned } = session;
  const costs = costSentence(cost);
  return html`<section class="panel bars" data-key="bars" aria-label="What fills the context">
    ${agent ? html`${bar("agent", "Agent's context", "what the agent really sends", agent, session, true)}${bar("pruned", "Pruned view", prunedWords(agent, pruned), pruned, session, false)}` : bar("pruned", "Context", "what the next call sends", pruned, session, true)}
    ${legend(session)}
    <div class="bar-notes small muted" data-key="notes">${typeLine(session)}
      ${costs && html`<p class="plain" data-key="cost">${costs}</p>`}
      ${agent && html`<p class="plain" data-key="untouched">What is pruned here changes the pruned view only; the agent's own context is untouched. To use it, export the pruned view and resume the agent from the copy.</p>`}</div>
  </section>`;
}

/** Whose weights and keywords hold for the session, why, and another to choose. @param {Session} session */
function typeLine(session) {
  const { own, setting } = session.task_type;
  const chosen = own ? setting : "";
  return html`<div class="type-line" data-key="type"><label for="task-type">Counts as</label>
    <select id="task-type" name="task_type">${sessionChoices(session).map(([value, label]) => html`<option value="${value}" ${value === chosen ? html`selected` : ""}>${label}</option>`)}</select>
    <p class="plain">${typeReason(session)}</p></div>`;
}

/** @param {Gauge} agent @param {Gauge} pruned */
function prunedWords(agent, pruned) {
  const less = agent.tokens - pruned.tokens;
  return less > 0 ? `${number(less)} tokens less` : "nothing pruned yet";
}

/** @param {string} key @param {string} name @param {string} what @param {Gauge} gauge @param {Session} session @param {boolean} big */
function bar(key, name, what, gauge, session, big) {
  const source = [session.limit_source, session.limit_date].filter(Boolean).join(", ");
  return html`<div class="bar" data-key="${key}" data-big="${big}"><div class="bar-head"><h2>${name}</h2><span class="muted small">${what}</span>
      <p class="bar-figures"><b class="figure">${tokenCount(gauge.tokens, gauge.certainty)}</b><span class="muted nowrap">of <span title="${source ? `Limit from ${source}` : ""}">${number(session.limit)}</span></span><b>${percent(gauge.utilization)}</b><span class="muted certainty" title="${certaintyReason(gauge.certainty)}">${gauge.certainty}</span></p></div>
    <context-gauge ${big ? html`big` : ""} label="${name}" data="${gaugeData(session, gauge)}"></context-gauge></div>`;
}

/** The regions with their numbers: of the agent's context, and of the pruned view where it differs. @param {Session} session */
function legend(session) {
  const main = mainGauge(session);
  const pruned = new Map(session.pruned.regions.map((r) => [r.name, r.tokens]));
  const ordered = [...main.regions]
    .sort((a, b) => REGION_ORDER.indexOf(a.name) - REGION_ORDER.indexOf(b.name))
    .filter((r) => r.tokens > 0);
  const reserve = reserveShare(session);
  return html`<ul class="legend">${ordered.map((r) => {
    const after = pruned.get(r.name) ?? 0;
    return html`<li data-key="${r.name}" title="${certaintyReason(r.certainty)}"><i class="swatch" data-region="${r.name}"></i>${regionName(r.name)} <b>${tokens(r.tokens, r.certainty)}${r.certainty === "estimated" && html`<span class="sr"> (estimated)</span>`}</b>${session.agent && after !== r.tokens && html`<span>→ ${tokens(after, r.certainty)}</span>`}</li>`;
  })}${reserve > 0 && html`<li data-key="reserve"><i class="swatch" data-region="reserve"></i>kept free for output <b>${number(session.output_reserve)}</b></li>`}</ul>`;
}

/** @param {Session} session */
export function deleteDialog(session) {
  return html`<dialog class="delete" data-key="delete" aria-labelledby="delete-title"><header><h2 id="delete-title">Delete this session?</h2></header>
    <div class="body"><p><b>${titleOf(session)}</b></p><p>Its log of ${counted(session.messages, "message")} and all operations are deleted from Coppice. This cannot be undone.</p>
      ${session.kind === "followed" && html`<p class="muted">The agent's own transcript is not touched. Coppice remembers not to follow it again.</p>`}</div>
    <div class="foot"><button data-act="close-delete" autofocus>Keep it</button><button class="danger" data-act="delete">Delete</button></div></dialog>`;
}
