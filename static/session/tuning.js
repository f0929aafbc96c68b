// Weights, tail and strategy that are tried in the plan panel, and saved only on request.
import { counted, decimal } from "../shared/format.js";
import { fieldValue, html } from "../shared/html.js";
import { signalSwatch } from "../shared/parts.js";
import { signalName, usesWeights, weightsUsedBy } from "../shared/words.js";

/** @typedef {import("./plan.js").PlanOptions} PlanOptions */

/** Settings that are tried here; a task type can have weights of its own. */
const TRIED = ["strategy", "weights", "fresh_tail", "task_types"];
const MOST_TAIL = 10_000;

/** The settings that the options try besides the strategy. @param {PlanOptions} options
 * @returns {Record<string, unknown>} */
export function tried({ weights, weights_of, fresh_tail }) {
  const weighed = weights && (weights_of ? { task_types: { [weights_of]: { weights } } } : { weights });
  return { ...weighed, ...(fresh_tail === undefined ? {} : { fresh_tail }) };
}

/** The settings to save of the options. @param {PlanOptions} options @returns {Record<string, unknown>} */
export const toSave = (options) => ({
  ...(options.strategy ? { strategy: options.strategy } : {}),
  ...tried(options),
});

/** Changes that remove the session's own values of the settings tried here.
 * @param {Api.Plan} plan @returns {Record<string, null>} */
export const withoutOwn = ({ own_settings }) =>
  Object.fromEntries(own_settings.filter((name) => TRIED.includes(name)).map((name) => [name, null]));

/** Stores a field's value in the options. Returns false for an unusable value.
 * @param {PlanOptions} options @param {Api.Plan} plan @param {HTMLInputElement} field */
export function enter(options, plan, { name, value }) {
  const number = Number(value);
  if (name === "fresh_tail") {
    if (value === "" || !Number.isInteger(number) || number < 0 || number > MOST_TAIL) return false;
    options.fresh_tail = number;
    return true;
  }
  const signal = name.replace("weight.", "");
  if (!(signal in plan.weights)) return false;
  options.weights = { ...plan.weights, ...options.weights, [signal]: number };
  options.weights_of = plan.weights_of;
  return true;
}

/** The fold with the weights and the tail, and the buttons that save what is tried.
 * @param {{ plan: Api.Plan, options: PlanOptions, weighing: boolean }} state */
export function tuning({ plan, options, weighing: open }) {
  const changes = Object.keys(toSave(options)).length > 0;
  const own = Object.keys(withoutOwn(plan)).length > 0;
  return html`<section class="stack tuning" aria-label="Weights and tail">
    <details ?open=${open}>
      <summary>Weights and tail</summary>
      <div class="tuning-fields">
        ${weighing(plan, options)}
        <div class="tuning-tail">
          <label for="plan-tail">Fresh tail <small class="muted">newest messages that stay</small></label>
          <input id="plan-tail" type="number" name="fresh_tail" min="0" max=${MOST_TAIL} step="1"
            .value=${fieldValue(options.fresh_tail ?? plan.fresh_tail)}>
        </div>
      </div>
    </details>
    ${changes && saving(plan)}
    ${own && !changes && followAgain}
  </section>`;
}

/** A slider for each signal, if the strategy uses them.
 * @param {Api.Plan} plan @param {PlanOptions} options */
function weighing(plan, options) {
  const strategy = options.strategy ?? plan.strategy;
  if (!usesWeights(strategy)) return html`<p class="small muted">${weightsUsedBy(strategy)}</p>`;
  /** @param {[name: string, weight: number]} signal @param {number} i */
  const row = ([name, saved], i) => {
    const weight = options.weights?.[name] ?? saved;
    return html`<div class="tuning-weight">
      <label for="plan-weight-${name}">${signalSwatch(i)}${signalName(name)}</label>
      <input id="plan-weight-${name}" type="range" name="weight.${name}" min="0" max="100" step="1"
        .value=${String(weight)} aria-valuetext="${decimal(weight)} points">
      <output class="num" for="plan-weight-${name}">${decimal(weight)}</output>
    </div>`;
  };
  const whose =
    plan.weights_of && html`<p class="small muted">The weights of ${plan.weights_of} sessions.</p>`;
  return html`${Object.entries(plan.weights).map(row)} ${whose}`;
}

/** "11 messages change fate". @param {number} changed */
export function fatesChanged(changed) {
  if (changed === 0) return "No message changes fate";
  return `${counted(changed, "message")} ${changed === 1 ? "changes" : "change"} fate`;
}

/** @param {Api.Plan} plan */
function saving({ changed }) {
  const fates = changed !== null && `${fatesChanged(changed)}, compared with the saved settings. `;
  return html`<p class="small muted" role="status">
      ${fates}Nothing is saved yet.
    </p>
    <p class="row">
      <button class="small" data-act="save-session">Save for this session</button>
      <button class="small" data-act="save-all">Save for all sessions</button>
    </p>`;
}

const followAgain = html`<p class="row small muted">
  This session has its own settings.
  <button class="small" data-act="follow-all">Use those of all sessions</button>
</p>`;
