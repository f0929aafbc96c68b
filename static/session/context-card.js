// A card that shows the parts of a context, as SVG or Markdown. It can be shared: it holds only numbers, no
// title, folder or message text. Pure.
import { counted, number, percent, percentSet, tokens } from "../shared/format.js";
import { mainGauge } from "../shared/session-facts.js";
import { regionName } from "../shared/words.js";

const [WIDTH, BAR, ROW, LEFT] = [640, 592, 22, 24];
/** The top of the bar and the base line of the first row, in pixels. */
const [TOP, FIRST] = [98, 146];

/** @typedef {{ name: string, tokens: number, certainty: string }} Share */

/** The parts of a context, the largest first. @param {Api.Stats} stats @returns {Share[]} */
const shares = ({ regions }) =>
  regions.filter((region) => region.tokens > 0).sort((a, b) => b.tokens - a.tokens);

/** @param {number} held @param {Api.Stats} stats */
const shareOf = (held, stats) => percent((100 * held) / Math.max(1, stats.tokens));

/** @param {Api.Stats} stats */
function facts({ session, tokens: used, limit, utilizationPercent }) {
  const { certainty } = mainGauge(session);
  return {
    head: `${percent(utilizationPercent)} full: ${tokens(used, certainty)} of ${number(limit)} tokens`,
    about: [
      session.model ?? "unknown model",
      session.source_label,
      `target ${percentSet(session.target_percent)}`,
      counted(session.turns, "turn"),
      counted(session.prunes, "prune"),
    ].join(" · "),
  };
}

/** The card in Markdown. @param {Api.Stats} stats */
export function cardMarkdown(stats) {
  const { head, about } = facts(stats);
  const rows = shares(stats).map(
    ({ name, tokens: held, certainty }) =>
      `| ${regionName(name)} | ${tokens(held, certainty)} | ${shareOf(held, stats)} |`,
  );
  return [
    "**What filled my context**",
    "",
    `${head}  `,
    about,
    "",
    "| part | tokens | share |",
    "| --- | ---: | ---: |",
    ...rows,
    "",
    "_Made with Coppice._",
    "",
  ].join("\n");
}

/** @param {string} text */
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** The card as a picture. @param {Api.Stats} stats @param {(region: string) => string} colour of a region, in
 * a form that any program reads */
export function cardSvg(stats, colour) {
  const { head, about } = facts(stats);
  const parts = shares(stats);
  const height = FIRST + 14 + parts.length * ROW;
  const whole = Math.max(stats.limit, stats.tokens, 1);
  let x = LEFT;
  const bar = stats.regions
    .filter((region) => region.tokens > 0)
    .map(({ name, tokens: held }) => {
      const width = (held / whole) * BAR;
      const piece = `<rect x="${x.toFixed(1)}" y="${TOP}" width="${width.toFixed(1)}" height="20"
    fill="${colour(name)}"/>`;
      x += width;
      return piece;
    });
  const target = LEFT + (stats.session.target_tokens / whole) * BAR;
  const rows = parts.map(({ name, tokens: held, certainty }, i) => {
    const y = FIRST + i * ROW;
    return `<rect x="${LEFT}" y="${y - 10}" width="12" height="12" rx="2" fill="${colour(name)}"/>
  <text x="${LEFT + 20}" y="${y}">${escaped(regionName(name))}</text>
  <text x="${WIDTH - 104}" y="${y}" text-anchor="end">${tokens(held, certainty)}</text>
  <text x="${WIDTH - LEFT}" y="${y}" text-anchor="end">${shareOf(held, stats)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}"
  viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#1d211e"
  role="img" aria-label="${escaped(head)}">
  <rect width="${WIDTH}" height="${height}" rx="6" fill="#fff" stroke="#dcdcd6"/>
  <text x="${LEFT}" y="36" font-size="18" font-weight="600">What filled my context</text>
  <text x="${LEFT}" y="60" font-weight="600">${escaped(head)}</text>
  <text x="${LEFT}" y="80" fill="#5c605c">${escaped(about)}</text>
  <rect x="${LEFT}" y="${TOP}" width="${BAR}" height="20" fill="#eee"/>
  ${bar.join("\n  ")}
  <rect x="${LEFT}" y="${TOP}" width="${BAR}" height="20" fill="none" stroke="#838680"/>
  <rect x="${target.toFixed(1)}" y="${TOP - 5}" width="2" height="30" fill="#1d211e"/>
  ${rows.join("\n  ")}
</svg>
`;
}
