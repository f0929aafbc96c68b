// static/session/list-query.js: what the address of a session chooses in the message list.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EVERYTHING, queryOf } from "../../../static/session/list-query.js";

describe("the address of a session page", () => {
  it("chooses what the list shows", () =>
    assert.deepEqual(queryOf("?show=goes&sort=tokens&role=tool&tool=Bash&find=npm&from=20&to=35"), {
      fate: "goes",
      role: "tool",
      tool: "Bash",
      q: "npm",
      from: "20",
      to: "35",
      sort: "tokens",
    }));
  it("ignores unknown values", () =>
    assert.deepEqual(queryOf("?show=nonsense&sort=7&role=king&from=-1&to=x"), EVERYTHING));
});
