// The style of <context-manager-widget> in its shadow root, with the page's tokens, or colours of its own
// without them.

export const WIDGET_STYLE = `
:host { display: block; color-scheme: light dark; }
.widget {
  display: grid; gap: 12px; padding: 16px;
  border: 1px solid var(--line, light-dark(#dcdcd6, #3a3f3b)); border-radius: 6px;
  background: var(--surface, light-dark(#fff, #1b1f1c)); color: var(--text, light-dark(#1d211e, #e9ebe8));
  font: 13px/20px var(--font, system-ui, sans-serif); font-variant-numeric: tabular-nums;
}
p, dl, dd { margin: 0; }
dl { display: flex; flex-wrap: wrap; gap: 8px 24px; }
dt, .of, .info { color: var(--muted, light-dark(#5c605c, #a9ada9)); font-size: 12px; }
dd { font-weight: 580; }
.of { font-weight: 400; font-size: 13px; }
.track { height: 10px; border: 1px solid var(--outline, light-dark(#838680, #7b807c)); border-radius: 3px;
  overflow: hidden; background: var(--free, light-dark(#eee, #2a2e2b)); }
.track i { display: block; height: 100%; width: var(--w);
  background: var(--accent, light-dark(#1f6b41, #84cf9d)); transition: width 200ms ease-out; }
[data-state="warning"] .track i { background: var(--warn, light-dark(#7d4d00, #f0bc62)); }
.banner { display: flex; gap: 8px; align-items: center; padding: 8px 12px; border-radius: 6px;
  border: 1px solid var(--warn-line, light-dark(#e3c68b, #6d5530));
  background: var(--warn-soft, light-dark(#fff5e0, #33291a)); }
.banner .icon { color: var(--warn, light-dark(#7d4d00, #f0bc62)); }
.icon { width: 16px; height: 16px; flex: none; fill: none; stroke: currentColor; stroke-width: 1.5;
  stroke-linecap: round; stroke-linejoin: round; }
.foot { display: flex; flex-wrap: wrap; gap: 8px 12px; align-items: center; }
.info { flex: 1 1 200px; line-height: 18px; }
button { font: inherit; height: 30px; padding: 0 12px; border: 0; border-radius: 6px; cursor: pointer;
  background: var(--accent, light-dark(#1f6b41, #84cf9d));
  color: var(--accent-text, light-dark(#fff, #10281b));
  font-weight: 580; }
button:hover { background: var(--accent-hover, light-dark(#195635, #97dcae)); }
button:disabled { opacity: 0.6; cursor: default; }
button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.fault { color: var(--over, light-dark(#a3261a, #ff9b8d)); }
.toast { padding: 8px 12px; border-radius: 6px; background: var(--text, light-dark(#1d211e, #e9ebe8));
  color: var(--bg, light-dark(#fff, #121512)); }
@media (prefers-reduced-motion: reduce) { .track i { transition: none; } }
`;
