// <context-gauge big label="Agent's context"></context-gauge>
//
// The utilization bar: stacked regions, the target as a thin line, the output reserve hatched, and the part
// above 100 % outside the track. Property `value`: a Gauge and the session's limits. Attributes: `big` shows
// the target's number; `label` names the bar for screen readers.
import { CoppiceElement } from "./element.js";
import { percent, percentSet, tokens } from "./format.js";
import { layOut, moves, regionStyle } from "./gauge.js";
import { html, nothing } from "./html.js";
import { regionName } from "./words.js";

/** @typedef {{ gauge: Api.Gauge, limits: import("./gauge.js").Limits & { target_percent: number } }}
 * GaugeValue */

class ContextGauge extends CoppiceElement {
  static observedAttributes = ["big", "label"];

  /** @type {GaugeValue | null} */
  #value = null;
  /** The layout that is drawn. @type {import("./gauge.js").GaugeLayout | null} */
  #drawn = null;

  /** @param {GaugeValue | null} value */
  set value(value) {
    this.#value = value;
    this.requestUpdate();
  }

  template() {
    if (!this.#value) return nothing;
    const { gauge, limits } = this.#value;
    const layout = layOut(gauge, limits);
    const { track, reserve, segments, over, target } = layout;
    const moving = moves(this.#drawn, layout);
    this.#drawn = layout;
    const side = target > 92 ? "left" : target < 8 ? "right" : "middle";
    return html`<div class="gauge" data-moves=${moving} role="meter" aria-valuemin="0" aria-valuemax="100"
      aria-valuenow=${Math.min(100, gauge.utilization)} aria-valuetext=${spoken(this.#value)}
      aria-label=${this.getAttribute("label") ?? "Context"}>
      <div class="gauge-track" .style="--track:${track}%">
        ${reserve > 0 && html`<div class="gauge-reserve" .style="--w:${reserve}%"></div>`}
      </div>
      <div class="gauge-fill">
        ${segments.map(
          ({ name, width, tokens: count }) =>
            html`<div class="gauge-part" data-region=${name} .style="--w:${width}%;${regionStyle(name)}"
              title="${regionName(name)}: ${tokens(count, gauge.regions[0]?.certainty)}"></div>`,
        )}
      </div>
      ${over && html`<div class="gauge-over" .style="--x:${over.at}%;--w:${over.width}%"></div>`}
      <div class="gauge-target" .style="--x:${target}%"></div>
      ${
        this.hasAttribute("big") &&
        html`<div class="gauge-label" aria-hidden="true" data-side=${side} .style="--x:${target}%">
          target ${percentSet(limits.target_percent)}
        </div>`
      }
    </div>`;
  }
}

/** @param {GaugeValue} value */
function spoken({ gauge, limits }) {
  const parts = gauge.regions.map((r) => `${regionName(r.name)} ${tokens(r.tokens)}`).join(", ");
  const used = `${percent(gauge.utilization)}: ${tokens(gauge.tokens)} of ${tokens(limits.limit)} tokens`;
  return `${used}, ${gauge.certainty}; target ${percentSet(limits.target_percent)}. ${parts}`;
}

// The widget's single script also defines the gauge.
if (!customElements.get("context-gauge")) customElements.define("context-gauge", ContextGauge);
