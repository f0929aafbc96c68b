// static/shared/format.js: numbers and times as readers see them.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  about,
  ago,
  compact,
  counted,
  decimal,
  gain,
  inOneLine,
  money,
  number,
  percent,
  percentSet,
  sentence,
  size,
  timeOfDay,
  tokens,
  until,
  withPictures,
} from "../../../static/shared/format.js";

const NOW = Date.parse("2026-11-20T12:00:00Z");

describe("formats", () => {
  it("are made once", () => {
    const { NumberFormat } = Intl;
    let made = 0;
    Intl.NumberFormat = /** @type {any} */ (
      class extends NumberFormat {
        /** @param {[string | undefined, Intl.NumberFormatOptions]} given */
        constructor(...given) {
          super(...given);
          made++;
        }
      }
    );
    for (const value of [1, 2, 3]) assert.ok(decimal(value, 3) && money(value / 8, "SEK"));
    Intl.NumberFormat = NumberFormat;
    assert.equal(made, 2);
  });
});

describe("numbers", () => {
  it("group their thousands", () => assert.equal(number(1_234_567), "1,234,567"));
  it("carry a tilde when they are estimated, and only then", () => {
    assert.deepEqual(
      ["estimated", "calibrated", "exact"].map((c) => tokens(1200, c)),
      ["~1,200", "1,200", "1,200"],
    );
  });
  it("have one decimal as a measured percentage and none needlessly as a setting", () => {
    assert.deepEqual(
      [percent(88), percentSet(80), percentSet(12.5)],
      ["88.0\u202f%", "80\u202f%", "12.5\u202f%"],
    );
  });
  it("shrink to k and M without a digit too many", () => {
    assert.deepEqual([999, 1000, 9_840, 99_960, 1_000_000, 12_340_000].map(compact), [
      "999",
      "1k",
      "9.8k",
      "100k",
      "1M",
      "12.3M",
    ]);
  });
  it("that are added have a plus sign, after the mark of an estimate", () =>
    assert.deepEqual(
      [gain(4_120), gain(4_120, "estimated"), gain(0, "estimated"), gain(-12, "calibrated")],
      ["+4.1k", "+~4.1k", "0", "−12"],
    ));
  it("are exact at zero, and negative with a real minus sign", () => {
    assert.equal(tokens(0, "estimated"), "0");
    assert.deepEqual([-2_300, -12].map(compact), ["−2.3k", "−12"]);
  });
  it("of bytes are shown like sizes of files", () => {
    assert.deepEqual([1, 62_700_000, 1_250_000_000].map(size), ["1 kB", "62.7 MB", "1.3 GB"]);
  });
  it("are rounded to two digits where a sentence says about", () => {
    assert.deepEqual([42, 76_312, 1_949].map(about), ["42", "76,000", "1,900"]);
  });
  it("agree with their noun", () =>
    assert.deepEqual([counted(1, "message"), counted(2, "message")], ["1 message", "2 messages"]));
  it("of money are never rounded to zero", () => {
    assert.equal(money(0.0042, "USD"), "$0.0042");
    assert.equal(money(0.00005, "USD", "estimated"), "~$0.0001");
    assert.equal(money(0.000018, "USD", "estimated"), "<$0.0001");
    assert.equal(money(0, "USD", "estimated"), "$0.00");
  });
  it("of bytes change their unit before they have four digits", () =>
    assert.deepEqual([999_500, 999_960_000].map(size), ["1.0 MB", "1.0 GB"]));
});

describe("control characters", () => {
  it("are left out of one line, and are pictures in a whole text", () => {
    assert.equal(inOneLine("\u001b[32m2 passed\u001b[0m\u0007\n in 3\u00a0s "), "2 passed in 3 s");
    assert.equal(withPictures("\u001b[32m2\u007f\n\tin 3\u0085"), "␛[32m2␡\n\tin 3<U+0085>");
  });
  it("that turn the direction are shown, and marks of right-to-left scripts left alone", () =>
    assert.equal(withPictures("a\u202egnp.exe \u200fא"), "a<U+202E>gnp.exe \u200fא"));
});

describe("times", () => {
  it("are shown in one unit", () => {
    const before = [
      "2026-11-20T11:59:58Z",
      "2026-11-20T11:59:20Z",
      "2026-11-20T11:55:00Z",
      "2026-11-18T11:00:00Z",
    ];
    assert.deepEqual(
      before.map((at) => ago(at, NOW)),
      ["now", "40s ago", "5m ago", "2d ago"],
    );
  });
  it("to come are shown in one unit, rounded up", () => {
    const later = [0, 1, 59, 60, 61, 3_600, 3_601].map((seconds) =>
      new Date(NOW + 1000 * seconds).toISOString(),
    );
    assert.deepEqual(
      later.map((at) => until(at, NOW)),
      ["now", "in 1s", "in 59s", "in 60s", "in 2m", "in 60m", "in 2h"],
    );
    assert.equal(until("2026-11-20T11:00:00Z", NOW), "now");
  });
  it("that are missing or wrong are a dash", () =>
    assert.deepEqual([ago(null, NOW), ago("never", NOW)], ["–", "–"]));
});

describe("a remark of the server", () => {
  it("becomes a sentence", () => {
    assert.deepEqual(
      [sentence("it is out already"), sentence("Done."), sentence(null)],
      ["It is out already.", "Done.", ""],
    );
  });
});

describe("timeOfDay", () => {
  const now = new Date(2026, 10, 20, 12).getTime();
  const at = (/** @type {number} */ year, /** @type {number} */ day) =>
    timeOfDay(new Date(year, 10, day, 9, 5).toISOString(), now);

  it("names the day only where it is another, and the year only where that is another", () => {
    assert.ok(!/20|Nov/.test(at(2026, 20)));
    assert.ok(/19/.test(at(2026, 19)) && !/2026/.test(at(2026, 19)));
    assert.match(at(2024, 20), /2024/);
  });
});
