// The icons: strokes on a 16 px grid, in the colour of the surrounding text. A screen reader reads an icon
// with a label as an image, and ignores one without.
import { html, svg } from "./html.js";

/** @type {Record<string, import("./html.js").Html>} */
const SHAPES = {
  warning: svg`<path d="M8 2 14.8 13.8H1.2L8 2Zm0 4.5v3.2m0 2.1v.1"/>`,
  lock: svg`<rect x="3.5" y="7" width="9" height="6.5" rx="1.2"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>`,
  torn: svg`<path d="M3 3.5h10v8l-1.7 1.5-1.7-1.5L8 13l-1.7-1.5L4.7 13 3 11.5Zm2.5 3h5m-5 2.5h3"/>`,
  goes: svg`<path d="M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5"/>`,
  out: svg`<path d="M2.5 4h11v2.5h-11zM3.5 6.5v6h9v-6M6.5 9h3"/>`,
  working: svg`<circle cx="8" cy="8" r="4" fill="currentColor"/>`,
  waiting: svg`<circle cx="8" cy="8" r="4"/><path d="M8 4a4 4 0 0 0 0 8Z" fill="currentColor"/>`,
  idle: svg`<circle cx="8" cy="8" r="4"/>`,
  stale: svg`<circle cx="8" cy="8" r="4" stroke-dasharray="2 2.2"/>`,
  ended: svg`<path d="M4.5 8h7"/>`,
  more: svg`<g fill="currentColor" stroke="none">
    <circle cx="3.5" cy="8" r="1.3"/><circle cx="8" cy="8" r="1.3"/><circle cx="12.5" cy="8" r="1.3"/></g>`,
  close: svg`<path d="m4 4 8 8m0-8-8 8"/>`,
  down: svg`<path d="m4 6.2 4 4 4-4"/>`,
  right: svg`<path d="m6.2 4 4 4-4 4"/>`,
  up: svg`<path d="m4 9.8 4-4 4 4"/>`,
  pin: svg`<path d="M5.5 2.5h5M6.2 2.5v4.3L4 9.5h8L9.8 6.8V2.5M8 9.5v4.5"/>`,
  first: svg`<path d="M4 3h8M8 13.5v-8m-3 3 3-3 3 3"/>`,
  restore: svg`<path d="M3 3.5V7h3.5M3.3 7A5 5 0 1 1 3 9.2"/>`,
  error: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3.5m0 2.3v.1"/>`,
  done: svg`<path d="m3.5 8.5 3 3 6-7"/>`,
  search: svg`<circle cx="7" cy="7" r="4"/><path d="m10 10 3.5 3.5"/>`,
  sun: svg`<circle cx="8" cy="8" r="2.8"/>
    <path d="M8 1.5v1.7m0 9.6v1.7M1.5 8h1.7m9.6 0h1.7M3.4 3.4l1.2 1.2m6.8 6.8 1.2 1.2
      m0-9.2-1.2 1.2m-6.8 6.8-1.2 1.2"/>`,
  moon: svg`<path d="M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6Z"/>`,
  system: svg`<circle cx="8" cy="8" r="5.5"/><path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor"/>`,
  file: svg`<path d="M4 2h5l3 3v9H4ZM9 2v3h3"/>`,
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.2"/><path d="M10.5 5.5v-3h-8v8h3"/>`,
  bell: svg`<path d="M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3ZM6.8 14h2.4"/>`,
  plus: svg`<path d="M8 3.5v9M3.5 8h9"/>`,
};

/** @param {string} name @param {string} [label] what it says to a screen reader */
export function icon(name, label) {
  const shape = SHAPES[name] ?? SHAPES.idle;
  return label
    ? html`<svg class="icon" viewBox="0 0 16 16" role="img" aria-label=${label}
        ><title>${label}</title>${shape}</svg>`
    : html`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">${shape}</svg>`;
}
