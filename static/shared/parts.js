// Small parts that several pages show, as markup: counts with their certainty, bars, swatches, choices.
import { percent, tokens } from "./format.js";
import { html, nothing } from "./html.js";
import { icon } from "./icons.js";
import { certaintyOfParts, gaugeOf, isAboveTarget } from "./session-facts.js";
import { activityName, certaintyReason } from "./words.js";

/** The "~" of an estimate in words, for screen readers. @param {string} certainty */
export const estimated = (certainty) =>
  certainty === "estimated" && html`<span class="sr"> (estimated)</span>`;

/** A count of tokens with its certainty on hover and for screen readers. @param {number} value
 * @param {string} certainty */
export const tokenCount = (value, certainty) =>
  html`<span title=${certaintyReason(certainty)}>${tokens(value, certainty)}${estimated(certainty)}</span>`;

/** @param {Api.Session} session */
export function stateIcon(session) {
  const activity = activityName(session.activity);
  return isAboveTarget(session)
    ? html`<span class="state" data-state="warning">${icon("warning", `Above target. ${activity}`)}</span>`
    : html`<span class="state" data-state=${session.activity}>${icon(session.activity, activity)}</span>`;
}

/** A context before or after a prune. Its certainty is by default that of a part: what stays is known as well
 * as what goes.
 * @typedef {{ tokens: number, utilization: number, regions: Api.Region[],
 * certainty?: Api.Gauge["certainty"] }} Filled */

/** A context before or after a prune, in one line of a grid of four. @param {string} label
 * @param {Api.Session} session @param {Filled} filled
 * @param {number} [full] tokens of the largest bar beside it, which has the same scale */
export function planBar(label, session, { tokens: count, utilization, regions, certainty: own }, full = 0) {
  const certainty = own ?? certaintyOfParts({ ...session.pruned, regions });
  const { gauge, limits } = gaugeOf(session, { tokens: count, utilization, certainty, messages: 0, regions });
  return html`<span class="muted">${label}</span>
    <context-gauge label=${label} .value=${{ gauge, limits: { ...limits, full } }}></context-gauge>
    <span class="num">${tokenCount(count, certainty)}</span><b class="num">${percent(utilization)}</b>`;
}

/** The colour of a signal. @param {number} i its index among the signals */
export const signalColour = (i) => `var(--sig-${(i % 8) + 1})`;

/** @param {number} i */
export const signalSwatch = (i) =>
  html`<i class="swatch" .style="--c:${signalColour(i)};--e:var(--outline)"></i>`;

/** A text as it is, which scrolls if it is long. It takes the focus, because in Safari keys scroll only what
 * has it. @param {string} text @param {string} [kind] classes */
export const plainText = (text, kind = "") => html`<pre class=${kind || nothing} tabindex="0">${text}</pre>`;

/** A switch with its label. @param {string} name @param {boolean} on @param {string} label
 * @param {{ help?: string, isDisabled?: boolean }} [more] `help`: the id of its help */
export const switchField = (name, on, label, { help, isDisabled = false } = {}) => html`<label
  class="beside switch"
  ><input type="checkbox" role="switch" name=${name} .checked=${on} ?disabled=${isDisabled}
    aria-describedby=${help ?? nothing}>${label}</label>`;

/** The options of a <select>. @param {(readonly [value: string, label: string])[]} choices
 * @param {unknown} chosen */
export const optionElements = (choices, chosen) =>
  choices.map(
    ([value, label]) => html`<option value=${value} .selected=${value === chosen}>${label}</option>`,
  );

/** The options of a <select> of sessions. A session that the address chose and that was not read is named by
 * its id. @param {Api.Session[]} sessions @param {string} chosen
 * @param {(session: Api.Session) => string} name @param {[value: string, label: string][]} [first] */
export function sessionOptions(sessions, chosen, name, first = []) {
  /** @type {[string, string][]} */
  const choices = [...first, ...sessions.map((one) => /** @type {[string, string]} */ ([one.id, name(one)]))];
  const isKnown = choices.some(([value]) => value === chosen);
  return optionElements(isKnown || !chosen ? choices : [...choices, [chosen, chosen]], chosen);
}

/** The source of a limit with its date; of a page of a provider its name, which leads there.
 * @param {{ source: import("./html.js").Html, date: string | null }} limit */
export function sourceOf({ source, date }) {
  const link = typeof source === "string" && /^https?:\/\/[^/]/.test(source) && source;
  const from = link && html`<a class="link" href=${link} rel="noreferrer">${new URL(link).hostname}</a>`;
  return html`${from || source}${date && html`, <span class="nowrap">${date}</span>`}`;
}
