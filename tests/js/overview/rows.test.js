// static/overview/rows.js: which sessions the overview shows, and in which order.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  arrange,
  direction,
  folderNames,
  grouped,
  isWorthGrouping,
  nextSort,
  owners,
  sortChoices,
  tally,
} from "../../../static/overview/rows.js";
import { session, verdict } from "../builders.js";

const old = session({ id: "old", title: "Old", last_activity: "2026-11-01T00:00:00Z" });
const fresh = session({
  id: "fresh",
  title: "Fresh",
  last_activity: "2026-11-20T00:00:00Z",
  source: "codex",
  source_label: "Codex",
});
/** A verdict that asks for something. */
const needed = verdict({
  kind: "above",
  urgency: 4,
  action: { kind: "prune", label: "See the plan…", max_tokens: null },
});
const over = session({
  id: "over",
  title: "Over",
  last_activity: "2026-11-02T00:00:00Z",
  state: "warning",
  verdict: needed,
});
const child = session({
  id: "child",
  title: "Explore",
  parent_id: "old",
  last_activity: "2026-11-03T00:00:00Z",
});

/** @param {import("../../../static/overview/rows.js").Row[]} rows */
const shape = (rows) => rows.map((row) => [row.session.id, row.depth]);

describe("the order of sessions", () => {
  it("puts the most urgent first, then the latest", () => {
    assert.deepEqual(shape(arrange([old, fresh, over])), [
      ["over", 0],
      ["fresh", 0],
      ["old", 0],
    ]);
  });
  it("puts sub-agents under their parent", () => {
    assert.deepEqual(shape(arrange([child, fresh, old])), [
      ["fresh", 0],
      ["old", 0],
      ["child", 1],
    ]);
  });
  it("puts a fork under its parent, and by itself where that is not shown", () => {
    const fork = { ...child, agent_type: "fork" };
    assert.deepEqual(shape(arrange([fork, old])), [
      ["old", 0],
      ["child", 1],
    ]);
    const heads = grouped(arrange([fork]), {}).filter((one) => "head" in one);
    assert.deepEqual(
      heads.map((one) => one.head),
      ["project"],
    );
  });
  it("ranks a family by its most urgent member", () => {
    assert.deepEqual(shape(arrange([fresh, old, { ...child, verdict: needed }])), [
      ["old", 0],
      ["child", 1],
      ["fresh", 0],
    ]);
  });
  it("shows a sub-agent alone when its parent is not shown", () => {
    assert.deepEqual(shape(arrange([child, old], { text: "explore" })), [["child", 0]]);
  });
  it("shows both of two sessions that name each other as parent", () => {
    assert.deepEqual(shape(arrange([session({ id: "a", parent_id: "a" })])), [["a", 0]]);
  });
});

describe("the work of ordering", () => {
  it("grows with the number of sessions, not with its square", () => {
    const many = Array.from({ length: 400 }, (_, i) => session({ id: `s${i}` }));
    const own = Array.prototype[Symbol.iterator];
    let taken = 0;
    Array.prototype[Symbol.iterator] = /** @type {any} */ (
      /** @this {unknown[]} */
      function* () {
        for (let i = 0; i < this.length; i++) {
          taken += 1;
          yield this[i];
        }
      }
    );
    try {
      assert.equal(arrange(many).length, 400);
    } finally {
      Array.prototype[Symbol.iterator] = own;
    }
    assert.ok(taken < 20 * many.length, `${taken} items were walked`);
  });
});

describe("sub-agents", () => {
  const many = [1, 2, 3, 4].map((n) => session({ id: `q${n}`, parent_id: "old", title: `Quiet ${n}` }));
  it("are folded without the forks beside them", () => {
    const fork = session({ id: "fork", parent_id: "old", agent_type: "fork" });
    const rows = arrange([old, fork, ...many]);
    assert.deepEqual(shape(rows), [
      ["old", 0],
      ["fork", 1],
    ]);
    assert.equal(rows[0]?.quiet, 4);
  });
  it("that are many and quiet are folded away under their parent", () => {
    assert.deepEqual(
      arrange([old, ...many]).map((row) => [row.session.id, row.quiet, row.folded]),
      [["old", 4, true]],
    );
    assert.equal(arrange([old, ...many], { unfolded: new Set(["old"]) }).length, 5);
    assert.equal(arrange([old, ...many.slice(2)]).length, 3);
  });
  it("that are folded count at any depth, and where they are above their target", () => {
    const deep = session({ id: "deep", parent_id: "q1", state: "warning" });
    const [row, ...rest] = arrange([old, ...many, deep]);
    assert.deepEqual([row?.quiet, rest], [5, []]);
    const [head] = grouped(arrange([old, ...many, deep]));
    assert.deepEqual(head && "head" in head && [head.count, head.above], [6, 1]);
  });
  it("that work or need something are always shown", () => {
    const busy = session({ id: "busy", parent_id: "old", activity: "working" });
    const full = session({ id: "full", parent_id: "old", verdict: needed });
    assert.deepEqual(
      arrange([old, busy, full, ...many]).map((row) => row.session.id),
      ["old", "full", "busy"],
    );
  });
  it("that match the search are shown", () =>
    assert.equal(arrange([old, ...many], { text: "quiet" }).length, 4));
});

describe("the filter", () => {
  it("finds words in title and model whatever their case", () => {
    assert.deepEqual(shape(arrange([old, fresh], { text: " FRESH " })), [["fresh", 0]]);
  });
  it("keeps one source, or what is above its target", () => {
    assert.deepEqual(shape(arrange([old, fresh, over], { chip: "codex" })), [["fresh", 0]]);
    assert.deepEqual(shape(arrange([old, fresh, over], { chip: "above" })), [["over", 0]]);
  });
});

describe("the summary of all sessions", () => {
  it("counts them", () => {
    assert.deepEqual(tally([old, fresh, over]), {
      all: 3,
      active: 0,
      above: 1,
      sources: [
        ["claude-code", "Claude Code"],
        ["codex", "Codex"],
      ],
    });
  });
});

describe("the order by a column", () => {
  const [a, b, c] = [
    session({ id: "a", title: "B", prunes: 1, turns_left: 4 }),
    session({ id: "b", title: "a", prunes: 3, turns_left: null }),
    session({ id: "c", title: "C", prunes: 2, turns_left: 2 }),
  ];
  /** @param {string} sort */
  const ids = (sort) => arrange([a, b, c], { sort }).map((row) => row.session.id);
  it("is descending first, then ascending", () => {
    assert.deepEqual(ids("prunes"), ["b", "c", "a"]);
    assert.deepEqual(ids("-prunes"), ["a", "c", "b"]);
  });
  it("of titles is ascending first and ignores case", () => assert.deepEqual(ids("title"), ["b", "a", "c"]));
  it("puts those without a value last in both directions", () => {
    assert.deepEqual(ids("left"), ["c", "a", "b"]);
    assert.deepEqual(ids("-left"), ["a", "c", "b"]);
  });
  it("goes from the first direction to the other, then back to the order by urgency", () => {
    assert.deepEqual(
      ["", "tokens", "-tokens"].map((sort) => nextSort("tokens", sort)),
      ["tokens", "-tokens", ""],
    );
  });
  it("is chosen from a list with the first order of each column, and the present one", () => {
    const names = sortChoices("").map(([, name]) => name);
    assert.equal(names[0], "Most urgent first");
    assert.equal(new Set(names).size, 8);
    const more = sortChoices("-tokens").filter(([, name]) => !names.includes(name));
    assert.deepEqual(more, [["-tokens", "Fewest tokens first"]]);
  });
  it("has the value of aria-sort", () => {
    assert.equal(direction("tokens", "tokens"), "descending");
    assert.equal(direction("left", "left"), "ascending");
    assert.equal(direction("left", "-left"), "descending");
    assert.equal(direction("left", "tokens"), "none");
  });
});

describe("projects", () => {
  const app = session({ id: "app", cwd: "/home/me/app" });
  const site = session({ id: "site", cwd: "/home/me/site" });
  const lost = [1, 2, 3].map((n) => session({ id: `lost${n}`, cwd: "/home/me/app", parent_id: "gone" }));
  /** @param {(import("../../../static/overview/rows.js").Row |
   * import("../../../static/overview/rows.js").Head)[]} entries */
  const said = (entries) =>
    entries.map((one) => ("head" in one ? `${one.head} ${one.label} ${one.count}` : one.session.id));
  it("are above their sessions, in the order of their first row", () =>
    assert.deepEqual(said(grouped(arrange([site, app, over]))), [
      "project  1",
      "over",
      "project app 1",
      "app",
      "project site 1",
      "site",
    ]));
  it("hold sub-agents whose session is not in the list, folded where they are many", () => {
    const rows = arrange([app, site, ...lost]);
    assert.deepEqual(said(grouped(rows)).slice(0, 3), ["project app 4", "app", "orphans app 3"]);
    assert.deepEqual(said(grouped(rows, { unfolded: new Set(["orphans:/home/me/app"]) })).slice(2, 6), [
      "orphans app 3",
      "lost1",
      "lost2",
      "lost3",
    ]);
  });
  it("can be closed", () =>
    assert.deepEqual(said(grouped(arrange([app, site]), { closed: new Set(["project:/home/me/app"]) })), [
      "project app 1",
      "project site 1",
      "site",
    ]));
  it("are shown where there are many sessions, or a sub-agent alone", () => {
    assert.equal(isWorthGrouping([app, site]), false);
    assert.equal(isWorthGrouping([app, site, ...lost]), true);
    const many = Array.from({ length: 25 }, (_, i) => session({ id: `m${i}`, cwd: `/p${i % 2}` }));
    assert.equal(isWorthGrouping(many), true);
    assert.equal(isWorthGrouping(many.map((one) => ({ ...one, cwd: null }))), false);
  });
  it("with the same last folder are named with the folder above", () =>
    assert.deepEqual(
      [...folderNames(["/a/app", "/b/app", "/c/site/", ""]).values()],
      ["a/app", "b/app", "site", ""],
    ));
  it("at the root of the file system are named by it, unlike those without a folder", () =>
    assert.deepEqual([...folderNames(["/", ""]).values()], ["/", ""]));
});

describe("a team's sessions", () => {
  const own = session({ id: "own" });
  const ada = session({ id: "ada", user: "ada", host: "laptop" });
  const desk = session({ id: "desk", user: "ada", host: "box" });
  /** @param {import("../../../static/overview/rows.js").Filter} filter */
  const ids = (filter) => arrange([own, ada, desk], filter).map((row) => row.session.id);
  it("are distinguished only where there is more than one user or host", () => {
    assert.deepEqual(owners([own]), { users: [], hosts: [], projects: [] });
    assert.deepEqual(owners([ada]), { users: [], hosts: [], projects: [] });
    const same = (/** @type {string[]} */ ...names) => names.map((name) => [name, name]);
    assert.deepEqual(owners([ada, desk]), { users: [], hosts: same("box", "laptop"), projects: [] });
    assert.deepEqual(owners([own, ada]).users, same("ada", "no user"));
  });
  it("name what is chosen, even if its last session is gone", () => {
    const gone = session({ id: "a", cwd: "/home/ada/app" });
    assert.deepEqual(owners([gone], { project: "/home/ada/app" }).projects, []);
    assert.deepEqual(owners([gone], { project: "/home/ada/old" }).projects, [
      ["/home/ada/app", "app"],
      ["/home/ada/old", "old"],
    ]);
  });
  it("are filtered by project, which is named by its folder", () => {
    const a = session({ id: "a", cwd: "/home/ada/x/app" });
    const b = session({ id: "b", cwd: "/home/bob/y/app" });
    const c = session({ id: "c", cwd: "/home/bob/api" });
    const none = session({ id: "none", cwd: null });
    assert.deepEqual(owners([a, b, c, none]).projects, [
      ["/home/bob/api", "api"],
      ["/home/ada/x/app", "x/app"],
      ["/home/bob/y/app", "y/app"],
    ]);
    const found = arrange([a, b, c, none], { project: "/home/bob/y/app" });
    assert.deepEqual(
      found.map((row) => row.session.id),
      ["b"],
    );
  });
  it("came from another machine, if a user's proxy sent them without its name", () => {
    const proxied = session({ id: "p", user: "ada", host: null });
    assert.deepEqual(
      owners([own, proxied]).hosts.map(([host]) => host),
      ["another machine", "this server"],
    );
  });
  it("are filtered by user, by host, and by words", () => {
    assert.deepEqual(ids({ user: "ada" }), ["ada", "desk"]);
    assert.deepEqual(ids({ host: "box" }), ["desk"]);
    assert.deepEqual(ids({ user: "no user" }), ["own"]);
    assert.deepEqual(ids({ user: "ada", host: "laptop" }), ["ada"]);
    assert.deepEqual(ids({ text: "laptop" }), ["ada"]);
  });
  it("are grouped by user or host", () => {
    const heads = (/** @type {import("../../../static/overview/rows.js").Group} */ by) =>
      grouped(arrange([own, ada, desk]), { by }).flatMap((one) =>
        "head" in one ? [`${one.label} ${one.count} ${one.path}`] : [],
      );
    assert.deepEqual(heads("user").sort(), ["ada 2 ", "no user 1 "]);
    assert.deepEqual(heads("host").sort(), ["box 1 ", "laptop 1 ", "this server 1 "]);
  });
});
