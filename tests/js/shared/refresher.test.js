// static/shared/refresher.js: reading again what may have changed.
import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { Refresher } from "../../../static/shared/refresher.js";

const nextTurn = () => new Promise((done) => setImmediate(done));

/** A reading whose answers come when the test says so. */
function slowly() {
  /** @type {{ signal: AbortSignal, answer: () => void, fail: () => void }[]} */
  const begun = [];
  /** @param {AbortSignal} signal @returns {Promise<void>} */
  const read = (signal) =>
    new Promise((answer, refuse) => {
      begun.push({ signal, answer: () => answer(), fail: () => refuse(new Error("no")) });
    });
  return { begun, read };
}

describe("a refresher", () => {
  it("has one request at a time, and makes one more for all calls during it", async () => {
    const { begun, read } = slowly();
    const refresher = new Refresher(read);
    refresher.ask();
    await nextTurn();
    const later = [refresher.ask(), refresher.ask(), refresher.ask()];
    await nextTurn();
    assert.equal(begun.length, 1);
    begun[0]?.answer();
    await nextTurn();
    assert.equal(begun.length, 2);
    begun[1]?.answer();
    await Promise.all(later);
    assert.equal(begun.length, 2);
  });

  it("leaves the least time between two requests", async () => {
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    try {
      let readings = 0;
      const refresher = new Refresher(async () => void readings++, { interval: 1000 });
      refresher.ask();
      await nextTurn();
      refresher.ask();
      await nextTurn();
      assert.equal(readings, 1);
      mock.timers.tick(1000);
      await nextTurn();
      assert.equal(readings, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it("requests slow answers less often", async () => {
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    try {
      const { begun, read } = slowly();
      const refresher = new Refresher(read, { interval: 1000, share: 0.2 });
      refresher.ask();
      await nextTurn();
      mock.timers.tick(600);
      begun[0]?.answer();
      await nextTurn();
      refresher.ask();
      await nextTurn();
      mock.timers.tick(2_399);
      await nextTurn();
      assert.equal(begun.length, 1);
      mock.timers.tick(1);
      await nextTurn();
      assert.equal(begun.length, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it("waits no hours after a request during which the computer slept", async () => {
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    try {
      const { begun, read } = slowly();
      const refresher = new Refresher(read, { interval: 1000, share: 0.1 });
      refresher.ask();
      await nextTurn();
      mock.timers.setTime(8 * 3_600_000);
      begun[0]?.answer();
      await nextTurn();
      refresher.ask();
      await nextTurn();
      mock.timers.tick(60_000);
      await nextTurn();
      assert.equal(begun.length, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it("waits no longer than its interval where the clock was set back", async () => {
    mock.timers.enable({ apis: ["setTimeout", "Date"], now: 8 * 3_600_000 });
    try {
      const { begun, read } = slowly();
      const refresher = new Refresher(read, { interval: 1000 });
      refresher.ask();
      await nextTurn();
      begun[0]?.answer();
      await nextTurn();
      mock.timers.setTime(0);
      refresher.ask();
      await nextTurn();
      mock.timers.tick(1000);
      await nextTurn();
      assert.equal(begun.length, 2);
    } finally {
      mock.timers.reset();
    }
  });

  it("requests at once on a restart, and aborts the request under way", async () => {
    const { begun, read } = slowly();
    const refresher = new Refresher(read, { interval: 1000 });
    refresher.ask();
    await nextTurn();
    refresher.ask();
    refresher.restart();
    await nextTurn();
    assert.deepEqual(
      begun.map((one) => one.signal.aborted),
      [true, false],
    );
    begun[0]?.answer();
    await nextTurn();
    assert.equal(begun.length, 2);
  });

  it("reads nothing after it is stopped", async () => {
    const { begun, read } = slowly();
    const refresher = new Refresher(read);
    refresher.ask();
    await nextTurn();
    refresher.ask();
    refresher.stop();
    begun[0]?.answer();
    await nextTurn();
    assert.equal(begun.length, 1);
  });

  it("retries a failed request, once for all that failed", async () => {
    mock.timers.enable({ apis: ["setTimeout", "Date"] });
    try {
      const { begun, read } = slowly();
      const refresher = new Refresher(read, { retry: 3000 });
      for (let i = 0; i < 3; i++) {
        refresher.ask();
        await nextTurn();
        begun[i]?.fail();
        await nextTurn();
        mock.timers.tick(1000);
        await nextTurn();
      }
      assert.equal(begun.length, 3);
      mock.timers.tick(2000);
      await nextTurn();
      assert.equal(begun.length, 4);
      begun[3]?.answer();
      await nextTurn();
      mock.timers.tick(9000);
      await nextTurn();
      assert.equal(begun.length, 4);
    } finally {
      mock.timers.reset();
    }
  });

  it("passes a failure on where it does not try again, and goes on", async () => {
    const { begun, read } = slowly();
    const refresher = new Refresher(read);
    const first = refresher.ask();
    await nextTurn();
    begun[0]?.fail();
    await assert.rejects(first, /no/);
    refresher.ask();
    await nextTurn();
    assert.equal(begun.length, 2);
  });
});
