// <context-gauge data='{"gauge": {…}, "limits": {…}}' big label="Agent's context"></context-gauge>
//
// The utilization bar: stacked regions, the target as a fine line, the output reserve hatched, visible overflow above
// 100 %. Attributes: `data`, JSON of a Gauge and the session's limits; `big` for the session page, with the target's
// number; `label`, what the bar is of, for screen readers. The same data can be set as the property `value`.
import { CoppiceElement } from "./element.js";
import { percent, percentSet, tokens } from "./format.js";
import { layOut } from "./gauge.js";
import { html } from "./html.js";
import { render } from "./render.js";
import { regionName } from "./words.js";

/** @typedef {import("./types.js").Gauge} Gauge */
/** @typedef {{ gauge: Gauge, limits: import("./gauge.js").Limits & { target_percent?: number } }} GaugeData */

export class ContextGauge extends CoppiceElement {
  static observedAttributes = ["data", "big", "label"];

  /** @type {GaugeData | null} */
  #value = null;

  attributeChangedCallback() {
    this.#value = null;
    super.attributeChangedCallback();
  }

  /** @param {GaugeData | null} value */
  set value(value) {
    this.#value = value;
    this.requestUpdate();
  }

  get value() {
    return this.#value ?? JSON.parse(this.getAttribute("data") ?? "null");
  }

  update() {
    const value = this.value;
    if (!value) return;
    const { gauge, limits } = value;
    const layout = layOut(gauge, limits);
    const target = limits.target_percent ?? (limits.target_tokens / Math.max(1, limits.limit)) * 100;
    const side = layout.target > 92 ? "left" : layout.target < 8 ? "right" : "middle";
    render(
      this,
      html`<div class="gauge" role="meter" aria-valuemin="0" aria-valuemax="100"
          aria-valuenow="${Math.min(100, gauge.utilization)}" aria-valuetext="${this.#spoken(gauge, limits.limit, target)}"
          aria-label="${this.getAttribute("label") ?? "Context"}">
        <div class="gauge-track" data-css="--track:${layout.track}%">
          ${layout.reserve > 0 && html`<div class="gauge-reserve" data-css="--w:${layout.reserve}%"></div>`}
        </div>
        <div class="gauge-fill">
          ${layout.segments.map(
            (s) =>
              html`<div class="gauge-part" data-key="${s.name}" data-region="${s.name}" data-css="--w:${s.width}%"
                title="${regionName(s.name)}: ${tokens(s.tokens, gauge.certainty)}"></div>`,
          )}
        </div>
        ${layout.over && html`<div class="gauge-over" data-css="--x:${layout.over.at}%;--w:${layout.over.width}%"></div>`}
        <div class="gauge-target" data-css="--x:${layout.target}%"></div>
        ${
          this.hasAttribute("big") &&
          html`<div class="gauge-label" aria-hidden="true" data-side="${side}" data-css="--x:${layout.target}%">target ${percentSet(target)}</div>`
        }
      </div>`,
    );
  }

  /** @param {Gauge} gauge @param {number} limit @param {number} target */
  #spoken(gauge, limit, target) {
    const parts = gauge.regions.map((r) => `${regionName(r.name)} ${tokens(r.tokens)}`).join(", ");
    const certainty = gauge.certainty ? `, ${gauge.certainty}` : "";
    return `${percent(gauge.utilization)}: ${tokens(gauge.tokens)} of ${tokens(limit)} tokens${certainty}; target ${percentSet(target)}. ${parts}`;
  }
}

customElements.define("context-gauge", ContextGauge);
