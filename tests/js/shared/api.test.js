// static/shared/api.js: what is asked, and what a refusal becomes.
import assert from "node:assert/strict";
import { afterEach, describe, it } from "node:test";
import { ApiError, api, apiAt } from "../../../static/shared/api.js";

const real = globalThis.fetch;
/** @type {{ address: string, init: RequestInit }[]} */
let asked = [];

/** @param {number} status @param {unknown} body */
function answer(status, body) {
  asked = [];
  globalThis.fetch = async (address, init) => {
    asked.push({ address: String(address), init: init ?? {} });
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
  };
}

afterEach(() => {
  globalThis.fetch = real;
});

describe("a request", () => {
  it("names session and message safely and leaves empty parameters out", async () => {
    answer(200, { messages: [] });
    await api.messages("a/b", { q: "x y", role: "", limit: 5 });
    assert.equal(asked[0]?.address, "/api/sessions/a%2Fb/messages?q=x+y&limit=5");
  });
  it("goes to another server where one is named", async () => {
    answer(200, {});
    await apiAt("http://127.0.0.1:9").status("s");
    assert.equal(asked[0]?.address, "http://127.0.0.1:9/api/sessions/s/status");
  });
  it("sends JSON only where there is something to send", async () => {
    answer(200, {});
    await api.plan("s", { max_tokens: 5 });
    await api.undo("s", 3);
    assert.deepEqual(
      asked.map(({ init }) => [init.method, init.body ?? null]),
      [
        ["POST", '{"max_tokens":5}'],
        ["POST", null],
      ],
    );
  });
  it("has the header of our own pages if it changes something, also without a body", async () => {
    answer(200, {});
    await api.undo("s", 3);
    await api.status("s");
    const marks = asked.map(({ init }) => new Headers(init.headers).get("X-Coppice"));
    assert.deepEqual(marks, ["1", null]);
  });
});

describe("a request without an answer", () => {
  /** @param {Promise<unknown>} request @returns {Promise<string>} */
  const failure = (request) =>
    request.then(
      () => "",
      (error) => error.message,
    );

  it("ends after two minutes if it only reads, so that it can be tried again", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    globalThis.fetch = (_, init) =>
      new Promise((_done, fail) => init?.signal?.addEventListener("abort", () => fail(init.signal?.reason)));
    let said = "";
    const read = failure(api.savings(new AbortController().signal)).then((text) => {
      said = text;
    });
    let isWritten = false;
    api.summarize("s").catch(() => {
      isWritten = true; // a model may write for minutes
    });
    t.mock.timers.tick(119_000);
    await Promise.resolve();
    assert.equal(said, "");
    t.mock.timers.tick(1_000);
    await read;
    assert.match(said, /^the server has not answered for two minutes/);
    assert.equal(isWritten, false);
  });
  it("fails with the caller's own reason where that ended it", async () => {
    const caller = new AbortController();
    globalThis.fetch = (_, init) =>
      new Promise((_done, fail) => init?.signal?.addEventListener("abort", () => fail(init.signal?.reason)));
    const read = failure(api.savings(caller.signal));
    caller.abort(new Error("no longer shown"));
    assert.equal(await read, "no longer shown");
  });
});

describe("a refusal", () => {
  it("carries the server's words, its status and the wrong fields", async () => {
    answer(422, {
      error: {
        type: "invalid",
        message: "2 fields are wrong",
        details: [{ field: "aim_percent", message: "above 100" }],
      },
    });
    await assert.rejects(api.saveSettings({}), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual(
        [error.status, error.message, error.faults],
        [422, "2 fields are wrong", [{ field: "aim_percent", message: "above 100" }]],
      );
      return true;
    });
  });
  it("of an answer that breaks off, or that a server in between gave, says so", async () => {
    for (const body of ['{"sessions": [', "<!doctype html>"]) {
      globalThis.fetch = async () => new Response(body, { status: 200 });
      await assert.rejects(
        api.sessions({ limit: 1 }),
        (error) => error instanceof ApiError && /was incomplete/.test(error.message),
      );
    }
  });
  it("of a server that does not answer says so", async () => {
    globalThis.fetch = async () => {
      throw new TypeError("failed");
    };
    await assert.rejects(
      api.sessions({ limit: 1 }),
      (error) => error instanceof ApiError && error.status === 0 && /does not answer/.test(error.message),
    );
  });
});
