// One row of the overview's table, the head of a project, and the legend. Markup only.
import { counted, fileName, gain, number, percent } from "../shared/format.js";
import { levelOf, regionStyle } from "../shared/gauge.js";
import { html } from "../shared/html.js";
import { icon } from "../shared/icons.js";
import { stateIcon, tokenCount } from "../shared/parts.js";
import {
  gaugeOf,
  limitsOf,
  mainGauge,
  pageOf,
  startedBy,
  titleOf,
  verdictText,
} from "../shared/session-facts.js";
import { agoTime } from "../shared/times.js";
import { REGION_ORDER, regionName } from "../shared/words.js";

/** The legend of all regions, once per page. */
export function regionLegend() {
  /** @param {string} region @param {string} name */
  const entry = (region, name) => html`<li>
    <i class="swatch" data-region=${region} .style=${regionStyle(region)}></i>${name}
  </li>`;
  return html`<ul class="legend" aria-label="What the colours of the bars mean">
    ${REGION_ORDER.map((name) => entry(name, regionName(name)))} ${entry("reserve", "kept free for output")}
    ${entry("target", "target")}
  </ul>`;
}

/** The number of columns that every width shows. A cell that spans more would add columns. */
export const ALWAYS_SHOWN = 6;
/** Cells in the other columns, so that the row reaches the edge. */
const FILLING = ["c-trend", "c-growth", "c-left", "c-prunes"].map((name) => html`<td class=${name}></td>`);

/** The head of a project, or the line that holds its sub-agents without a session.
 * @param {import("./rows.js").Head} head @param {number} index its place in the table, from 1 */
export function projectRow({ head, key, label, path, count, above, folded }, index) {
  const name = head === "orphans" ? `${counted(count, "sub-agent")} of sessions that are not here` : label;
  return html`<tr class="project" role="row" aria-rowindex=${index} data-key=${key} data-kind=${head}>
    <td role="cell" colspan=${ALWAYS_SHOWN}><div class="project-line">
      <button class="bare fold" data-act=${head} data-key=${key} aria-expanded=${!folded}
        >${icon(folded ? "right" : "down")}${name || "No project folder"}</button>
      ${
        head === "project" &&
        html`${path && html`<span class="muted small path" title=${path}>${path}</span>`}
          <span class="muted small">${counted(count, "session")}</span>
          ${above > 0 && html`<span class="warned small">${number(above)} above target</span>`}`
      }
    </div></td>${FILLING}
  </tr>`;
}

/** @param {import("./rows.js").Row} row @param {import("./titles.js").Name} [name] what is shown of a
 * title that other sessions share @param {number} [index] its place in the table, from 1 */
export function sessionRow({ session, depth, quiet, folded }, name, index = 1) {
  const gauge = mainGauge(session);
  const title = titleOf(session);
  const level = gauge.utilization > 100 ? "beyond" : levelOf(gauge.tokens, session);
  const target = limitsOf(session).target_percent.toFixed(1);
  return html`<tr class="session-row" role="row" aria-rowindex=${index}
    data-key=${session.id} data-kind="row" data-id=${session.id} data-level=${level}>
    <td role="cell" class="c-state">${stateIcon(session)}</td>
    <td role="cell" class="c-title" .style="--depth:${depth}">
      <a class="title" href=${pageOf(session.id)} title=${title} aria-label=${title}
        >${depth > 0 && html`<span class="twig" aria-hidden="true">└</span>`}<span class="one-line"
          >${name?.text ?? title}</span>${name?.mark && html`<span class="twin">· ${name.mark}</span>`}</a>
      <span class="sub said" title=${session.verdict.text} ?data-awaits-price=${awaitsPrice(session)}
        data-urgent=${session.verdict.urgency > 2}>${verdictText(session.verdict.text)}</span>
      <span class="sub">${quiet > 0 && html`${fold(session.id, quiet, folded)} · `}${about(session)}</span>
    </td>
    <td role="cell" class="c-gauge">
      <context-gauge label="Context of ${title}" .value=${gaugeOf(session)}></context-gauge>
    </td>
    <td role="cell" class="c-full num"><b>${percent(gauge.utilization)}</b></td>
    <td role="cell" class="c-trend">
      <trend-line points=${session.trend.join(",")} target=${target}></trend-line>
    </td>
    <td role="cell" class="c-tokens num">
      ${tokenCount(gauge.tokens, gauge.certainty)} <span class="muted">/ ${number(session.limit)}</span>
    </td>
    <td role="cell" class="c-growth num">${
      session.growth_per_turn === null ? "–" : gain(session.growth_per_turn, gauge.certainty)
    }</td>
    <td role="cell" class="c-left num">${turns(session.turns_left)}</td>
    <td role="cell" class="c-prunes num">${session.prunes ? number(session.prunes) : "–"}</td>
    <td role="cell" class="c-last num"
      ><span class="muted">${agoTime(session.last_activity)}</span>${actLink(session)}</td>
  </tr>`;
}

/** The button that shows or folds quiet sub-agents. @param {string} id @param {number} quiet
 * @param {boolean} folded */
const fold = (id, quiet, folded) =>
  html`<button class="bare fold" data-act="fold" data-id=${id} aria-expanded=${!folded}
    >${icon(folded ? "right" : "down")}${counted(quiet, "sub-agent")}</button>`;

/** The line below a session's title. @param {Api.Session} session */
function about(session) {
  const started = `sub-agent ${session.agent_type ?? ""}`.replace(/ (sub-agent)?$/, "");
  const own = session.parent_id ? `${session.source_label} fork` : session.source_label;
  const kind = startedBy(session) ? started : own;
  const model = session.messages === 0 ? "no messages yet" : session.model || "unknown model";
  const lost = session.malformed;
  const folder = fileName(session.cwd);
  const where = folder && html`<span class="folder" title=${session.cwd}>${folder} · </span>`;
  const whose =
    session.user &&
    html`<span class="whose">${session.user}${session.host && ` on ${session.host}`} · </span>`;
  return html`${whose}${where}${model} · ${kind}${session.automatic && " · prunes automatically"}${
    lost > 0 && html` · <span class="warned">${counted(lost, "line")} not read</span>`
  }`;
}

/** More turns are too uncertain for an exact number, and for any number. */
const EXACT_TURNS = 20;
const MANY_TURNS = 100;

/** The turns until the target, rounded as in the verdict beside them. @param {number | null} left */
function turns(left) {
  if (left === null) return "–";
  if (left >= MANY_TURNS) return "many";
  return number(left > EXACT_TURNS ? 5 * Math.round(left / 5) : left);
}

/** The address at which the page of a session offers the action, and the word for it. */
const ACTS = {
  prune: ["#plan", "Prune"],
  clear: ["", "Clear"],
  resume: ["", "Resume"],
  export: ["", "Export"],
};

/** True where the verdict grows by its price, which comes later. @param {Api.Session} session */
const awaitsPrice = ({ verdict }) => verdict.action?.kind === "prune" && !verdict.priced;

/** The link to the action of a session's verdict. @param {Api.Session} session */
function actLink(session) {
  const { action } = session.verdict;
  if (!action) return "";
  const [hash, word] = ACTS[action.kind];
  const label = `${word} ${titleOf(session)}`;
  return html`<a class="button small" href="${pageOf(session.id)}${hash}" aria-label=${label}
    >${word}…</a>`;
}
