// One row of the overview's table, and the small pieces that other pages show of a session too. Markup only.
import { compact, counted, number, percent, tokens } from "../shared/format.js";
import { levelOf } from "../shared/gauge.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { agoTime } from "../shared/times.js";
import { activityName, certaintyReason, REGION_ORDER, regionName, sourceName } from "../shared/words.js";
import { isAboveTarget, mainGauge, titleOf } from "./sessions.js";

/** @typedef {import("../shared/types.js").Session} Session */
/** @typedef {import("../shared/types.js").Gauge} Gauge */

/** @param {Session} session */
export function limitsOf(session) {
  const { limit, window, output_reserve, target_tokens } = session;
  return {
    limit,
    window,
    output_reserve,
    target_tokens,
    target_percent: (target_tokens / Math.max(1, limit)) * 100,
  };
}

/** The data attribute of a <context-gauge>. @param {Session} session @param {Gauge} [gauge] */
export function gaugeData(session, gauge = mainGauge(session)) {
  return JSON.stringify({ gauge, limits: limitsOf(session) });
}

/** A count of tokens with its certainty on hover and for screen readers. @param {number} value @param {string} certainty */
export function tokenCount(value, certainty) {
  return html`<span title="${certaintyReason(certainty)}">${tokens(value, certainty)}${certainty === "estimated" && html`<span class="sr"> (estimated)</span>`}</span>`;
}

/** @param {Session} session */
export function stateIcon(session) {
  return isAboveTarget(session)
    ? html`<span class="state" data-state="warning">${icon("warning", `Above target. ${activityName(session.activity)}`)}</span>`
    : html`<span class="state" data-state="${session.activity}">${icon(session.activity, activityName(session.activity))}</span>`;
}

/** The legend of all regions, once for a page of bars. */
export function regionLegend() {
  return html`<ul class="legend" aria-label="What the colours of the bars mean">
    ${REGION_ORDER.map((name) => html`<li><i class="swatch" data-region="${name}"></i>${regionName(name)}</li>`)}
    <li><i class="swatch" data-region="reserve"></i>kept free for output</li>
    <li><i class="swatch" data-region="target"></i>target</li>
  </ul>`;
}

/** @param {import("./sessions.js").Row} row */
export function sessionRow({ session, depth, quiet, folded }) {
  const gauge = mainGauge(session);
  const above = isAboveTarget(session);
  const href = `/sessions/${encodeURIComponent(session.id)}`;
  const kind = session.parent_id
    ? `sub-agent${session.agent_type ? ` ${session.agent_type}` : ""}`
    : sourceName(session.source);
  return html`<tr class="session-row" role="row" data-key="${session.id}" data-id="${session.id}" data-above="${above}" data-level="${gauge.utilization > 100 ? "beyond" : levelOf(gauge.tokens, session)}" data-depth="${depth}">
    <td role="cell" class="c-state">${stateIcon(session)}</td>
    <td role="cell" class="c-title" data-css="--depth:${depth}">
      <a class="title" href="${href}">${depth > 0 && html`<span class="twig" aria-hidden="true">└</span>`}${titleOf(session)}</a>
      <span class="sub">${quiet > 0 && html`<button class="bare fold" data-act="fold" data-id="${session.id}" aria-expanded="${folded ? "false" : "true"}">${icon(folded ? "right" : "down")}${counted(quiet, "sub-agent")}</button> · `}${session.messages === 0 ? "no messages yet" : session.model || "unknown model"} · ${kind}${session.automatic && " · prunes by itself"}${session.malformed > 0 && html` · <span class="warned">${counted(session.malformed, "line")} not read</span>`}</span>
    </td>
    <td role="cell" class="c-gauge"><context-gauge data="${gaugeData(session, gauge)}" label="Context of ${titleOf(session)}"></context-gauge></td>
    <td role="cell" class="c-full num"><b>${percent(gauge.utilization)}</b></td>
    <td role="cell" class="c-trend"><trend-line points="${session.trend.join(",")}" target="${((session.target_tokens / session.limit) * 100).toFixed(1)}"></trend-line></td>
    <td role="cell" class="c-tokens num">${tokenCount(gauge.tokens, gauge.certainty)} <span class="muted">/ ${number(session.limit)}</span></td>
    <td role="cell" class="c-growth num" data-label="a turn">${session.growth_per_turn === null ? "–" : html`${session.growth_per_turn > 0 && "+"}${compact(session.growth_per_turn)}`}</td>
    <td role="cell" class="c-left num" data-label="turns left">${session.turns_left === null ? "–" : number(session.turns_left)}</td>
    <td role="cell" class="c-prunes num" data-label="prunes">${session.prunes || "–"}</td>
    <td role="cell" class="c-last num muted">${agoTime(session.last_activity)}</td>
    <td role="cell" class="c-act">${above && html`<a class="button small" href="${href}#plan" aria-label="Prune ${titleOf(session)}">Prune…</a>`}</td>
  </tr>`;
}
