// The rows of the overview: filter, order, sub-agents below their sessions, and projects. Pure.
import { fileName } from "../shared/format.js";
import { isAboveTarget, mainGauge, startedBy, titleOf } from "../shared/session-facts.js";

/** A row; `quiet` counts the sub-agents that can be folded, at any depth, and `above` those of them above
 * their target.
 * @typedef {{ session: Api.Session, depth: number, quiet: number, above?: number, folded: boolean }} Row */
/** The head of a project (a user, a host), or of the sub-agents in it whose session is not in the list.
 * @typedef {{ head: "project" | "orphans", key: string, label: string, path: string, count: number, above:
 * number, folded: boolean }} Head */
/** `project`, `user` and `host` are empty for all. @typedef {{ text?: string, chip?: string,
 * project?: string, user?: string, host?: string, sort?: string, unfolded?: Set<string> }} Filter */

/** The sessions that the server's own machine follows have no user, and its host. What a user's proxy sends
 * names no host. */
const NO_USER = "no user";
const HERE = "this server";
const ELSEWHERE = "another machine";

/** The properties by which sessions are grouped. */
const GROUPS = {
  /** @param {Api.Session} s */
  project: (s) => s.cwd ?? "",
  /** @param {Api.Session} s */
  user: (s) => s.user ?? NO_USER,
  /** @param {Api.Session} s */
  host: (s) => s.host ?? (s.user ? ELSEWHERE : HERE),
};
/** @typedef {keyof typeof GROUPS} Group */

/** At least this many idle sub-agents without a needed action are folded. */
const FOLDED_FROM = 3;
/** At least this many sessions are grouped by project by default. */
const GROUPED_FROM = 20;

/** The values that columns sort by, and the names of both orders. The first click sorts in descending order,
 * with `up` in ascending.
 * @type {Record<string, { of: (session: Api.Session) => number | string | null, up?: boolean,
 * names: [first: string, reverse: string] }>} */
const ORDERS = {
  full: { of: (s) => mainGauge(s).utilization, names: ["Fullest first", "Emptiest first"] },
  tokens: { of: (s) => mainGauge(s).tokens, names: ["Most tokens first", "Fewest tokens first"] },
  growth: { of: (s) => s.growth_per_turn, names: ["Fastest growth first", "Slowest growth first"] },
  left: {
    of: (s) => s.turns_left,
    up: true,
    names: ["Nearest to target first", "Farthest from target first"],
  },
  prunes: { of: (s) => s.prunes, names: ["Most prunes first", "Fewest prunes first"] },
  last: { of: (s) => s.last_activity, names: ["Latest first", "Oldest first"] },
  title: { of: (s) => titleOf(s).toLowerCase(), up: true, names: ["Title, A to Z", "Title, Z to A"] },
};

/** The orders to choose from where no column has a head, with their names: the first of each column, and the
 * present one.
 * @param {string} sort @returns {[value: string, label: string][]} */
export const sortChoices = (sort) => [
  ["", "Most urgent first"],
  ...Object.entries(ORDERS).flatMap(([column, { names }]) => {
    /** @type {[string, string][]} */
    const both = [
      [column, names[0]],
      [`-${column}`, names[1]],
    ];
    return both.filter(([value]) => value === column || value === sort);
  }),
];

/** The direction in which a column is sorted, as `aria-sort` names it. @param {string} column
 * @param {string} sort */
export function direction(column, sort) {
  if (sort.replace("-", "") !== column) return "none";
  return (ORDERS[column]?.up ?? false) === sort.startsWith("-") ? "descending" : "ascending";
}

/** The order after a click on a column's head: first direction, other direction, none. @param {string} column
 * @param {string} sort */
export const nextSort = (column, sort) =>
  sort === column ? `-${column}` : sort === `-${column}` ? "" : column;

/** @param {Api.Session} session @param {string} text lower-case */
function mentions(session, text) {
  const { title, model, source, cwd, id, agent_type, user, host } = session;
  return [title, model, source, cwd, id, agent_type, user, host].some((field) =>
    (field ?? "").toLowerCase().includes(text),
  );
}

/** Returns the condition of a filter, without its order and folds.
 * @param {Filter} filter @returns {(session: Api.Session) => boolean} */
function isShownBy({ text = "", chip = "all", project = "", user = "", host = "" }) {
  const words = text.trim().toLowerCase();
  /** @param {Api.Session} s */
  const chosen = (s) =>
    chip === "all" ||
    (chip === "above" ? isAboveTarget(s) : chip === "active" ? isActive(s) : s.source === chip);
  /** @param {Api.Session} s */
  const whose = (s) =>
    (!project || GROUPS.project(s) === project) &&
    (!user || GROUPS.user(s) === user) &&
    (!host || GROUPS.host(s) === host);
  return (s) => (!words || mentions(s, words)) && chosen(s) && whose(s);
}

/** A key that sorts by the urgency of the verdict, then by latest activity. @param {Api.Session} session */
function urgency(session) {
  return `${session.verdict.urgency} ${session.last_activity ?? ""}`;
}

/** Compares two sessions by the sorted column; sessions without a value come last. @param {string} sort
 * @returns {((a: Api.Session, b: Api.Session) => number) | null} */
function byColumn(sort) {
  const column = ORDERS[sort.replace("-", "")];
  if (!column) return null;
  const sign = (column.up ?? false) === sort.startsWith("-") ? -1 : 1;
  return (a, b) => {
    const [x, y] = [column.of(a), column.of(b)];
    if (x === y || x === null || y === null) return x === y ? 0 : x === null ? 1 : -1;
    return x < y ? -sign : sign;
  };
}

/** Returns the rows in order: by the sorted column, otherwise most urgent first, then by latest activity;
 * sub-agents and forks below their parent. A family ranks by its most urgent member. A sub-agent without its
 * parent in the list is by itself. Many quiet sub-agents are folded, unless the filter has a text or
 * `unfolded` names their parent. @param {Iterable<Api.Session>} sessions @param {Filter} [filter]
 * @returns {Row[]} */
export function arrange(sessions, filter = {}) {
  const children = childrenOf([...sessions].filter(isShownBy(filter)));
  const byUrgency = urgencyOf(children);
  const sorted = byColumn(filter.sort ?? "");
  /** @param {Api.Session} a @param {Api.Session} b */
  const order = (a, b) => sorted?.(a, b) || byUrgency(a, b);
  /** @type {Row[]} */
  const rows = [];
  const seen = new Set();
  /** @param {Api.Session} session @returns {boolean} */
  const isQuiet = (session) =>
    startedBy(session) !== null &&
    session.verdict.action === null &&
    !isActive(session) &&
    (children.get(session.id) ?? []).every(isQuiet);
  /** @param {Api.Session[]} some @returns {Api.Session[]} */
  const withAllBelow = (some) => some.flatMap((one) => [one, ...withAllBelow(children.get(one.id) ?? [])]);
  /** @param {string | null} parent @param {number} depth @param {boolean} folded */
  const walk = (parent, depth, folded) => {
    for (const session of [...(children.get(parent) ?? [])].sort(order)) {
      if (seen.has(session.id) || (folded && isQuiet(session))) continue;
      seen.add(session.id);
      const many = (children.get(session.id) ?? []).filter(isQuiet);
      const foldable = many.length >= FOLDED_FROM && !filter.text?.trim() ? withAllBelow(many) : [];
      const away = foldable.length > 0 && !filter.unfolded?.has(session.id);
      const above = foldable.filter(isAboveTarget).length;
      rows.push({ session, depth, quiet: foldable.length, above, folded: away });
      walk(session.id, depth + 1, away);
    }
  };
  walk(null, 0, false);
  return rows;
}

/** The sessions by their parent; null for those whose parent is not among them. @param {Api.Session[]} shown
 * @returns {Map<string | null, Api.Session[]>} */
function childrenOf(shown) {
  const ids = new Set(shown.map((s) => s.id));
  /** @type {Map<string | null, Api.Session[]>} */
  const children = new Map();
  for (const s of shown) {
    const parent = s.parent_id && ids.has(s.parent_id) && s.parent_id !== s.id ? s.parent_id : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(s);
    else children.set(parent, [s]);
  }
  return children;
}

/** Compares two sessions by the most urgent member of their families. @param {Map<string | null,
 * Api.Session[]>} children @returns {(a: Api.Session, b: Api.Session) => number} */
function urgencyOf(children) {
  /** @type {Map<string, string>} */
  const urgencies = new Map();
  /** @param {Api.Session} session @returns {string} */
  const highest = (session) => {
    const known = urgencies.get(session.id);
    if (known !== undefined) return known;
    let top = urgency(session);
    urgencies.set(session.id, top);
    for (const one of (children.get(session.id) ?? []).map(highest)) if (one > top) top = one;
    urgencies.set(session.id, top);
    return top;
  };
  return (a, b) => {
    const [x, y] = [highest(a), highest(b)];
    return x === y ? (a.id < b.id ? -1 : 1) : x < y ? 1 : -1;
  };
}

/** True if grouping by project makes the list clearer. @param {Iterable<Api.Session>} sessions */
export function isWorthGrouping(sessions) {
  const all = [...sessions];
  const ids = new Set(all.map((s) => s.id));
  const orphans = all.some((s) => !ids.has(startedBy(s) ?? s.id));
  return new Set(all.map((s) => s.cwd)).size > 1 && (orphans || all.length >= GROUPED_FROM);
}

/** Returns the rows under the heads of their projects, users or hosts, which rank by their first row. A
 * family belongs to the project of its parent; sub-agents whose session is not in the list come last in their
 * project, folded where they are many. @param {Row[]} rows
 * @param {Filter & { by?: Group, closed?: Set<string> }} [filter] @returns {(Row | Head)[]} */
export function grouped(rows, { text = "", by = "project", unfolded, closed } = {}) {
  /** @type {Map<string, { rows: Row[], orphans: Row[] }>} */
  const projects = new Map();
  let [path, orphan] = ["", false];
  for (const row of rows) {
    if (row.depth === 0) [path, orphan] = [GROUPS[by](row.session), startedBy(row.session) !== null];
    const project = projects.get(path) ?? { rows: [], orphans: [] };
    projects.set(path, project);
    (orphan ? project.orphans : project.rows).push(row);
  }
  const labels = by === "project" ? folderNames([...projects.keys()]) : new Map();
  return [...projects].flatMap(([folder, { rows: own, orphans }]) => {
    const all = [...own, ...orphans];
    const label = labels.get(folder) ?? folder;
    const key = `${by}:${folder}`;
    const away = all.filter((row) => row.folded);
    const above = all.filter(({ session }) => isAboveTarget(session)).length + sum(away, "above");
    const count = all.length + sum(away, "quiet");
    const folded = closed?.has(key) ?? false;
    /** @type {Head} */
    const head = { head: "project", key, label, path: by === "project" ? folder : "", count, above, folded };
    if (folded) return [head];
    const alone = `orphans:${folder}`;
    const many = orphans.length >= FOLDED_FROM && !text.trim();
    const hidden = many && !unfolded?.has(alone);
    /** @type {Head} */
    const line = { ...head, head: "orphans", key: alone, count: orphans.length, above: 0, folded: hidden };
    return [head, ...own, ...(many ? [line] : []), ...(hidden ? [] : orphans)];
  });
}

/** @param {Row[]} rows @param {"quiet" | "above"} name */
const sum = (rows, name) => rows.reduce((total, row) => total + (row[name] ?? 0), 0);

/** The last part of each path, with the one before it where two paths end alike. @param {string[]} paths
 * @returns {Map<string, string>} */
export function folderNames(paths) {
  const ends = paths.map((path) => fileName(path.replace(/[\\/]+$/, "")));
  return new Map(
    paths.map((path, i) => {
      const alike = ends.filter((end) => end === ends[i]).length > 1;
      const parts = path.split(/[\\/]/).filter(Boolean);
      return [path, (alike ? parts.slice(-2).join("/") : ends[i]) || path];
    }),
  );
}

/** True while the agent works or waits for its user. @param {Api.Session} session */
function isActive(session) {
  return session.activity === "working" || session.activity === "waiting";
}

/** The counts of the heading and the chips. @param {Api.Session[]} sessions */
export function tally(sessions) {
  return {
    all: sessions.length,
    active: sessions.filter(isActive).length,
    above: sessions.filter(isAboveTarget).length,
    sources: [...new Map(sessions.map((s) => [s.source, s.source_label]))].sort(),
  };
}

/** The users, the hosts and the projects that the sessions belong to, as values with their labels; none where
 * there is one of it. Those chosen count, too, even if their last session is gone. @param {Api.Session[]}
 * sessions @param {Partial<Record<Group, string>>} [chosen] */
export function owners(sessions, chosen = {}) {
  /** @param {Group} group */
  const several = (group) => {
    const all = new Set([...sessions.map(GROUPS[group]), chosen[group] ?? ""]);
    const found = [...all].filter(Boolean).sort();
    return found.length > 1 ? found : [];
  };
  /** @param {string[]} names @returns {[value: string, label: string][]} */
  const same = (names) => names.map((name) => [name, name]);
  const projects = [...folderNames(several("project"))];
  return {
    users: same(several("user")),
    hosts: same(several("host")),
    projects: projects.sort(([, a], [, b]) => a.localeCompare(b)),
  };
}
