import { expect, test } from "vitest";
import { briefly, duration, local, relative, tickText, timesIn, utc } from "./time";

const NOW = new Date("2026-03-10T12:00:00Z");
const ago = (seconds: number) => relative(new Date(NOW.getTime() - seconds * 1000), NOW, "UTC");

test.each([
  [0, "just now"],
  [4, "just now"],
  [30, "30 s ago"],
  [300, "5 min ago"],
  [7200, "2 h ago"],
  [3 * 86_400, "3 d ago"],
  [30 * 86_400, "8 Feb"],
  [400 * 86_400, "3 Feb 2025"],
  [-90, "in 2 min"],
  [-2, "just now"],
])("%d seconds ago reads %s", (seconds, text) => expect(ago(seconds)).toBe(text));

test.each([
  [0, "0 ms"],
  [0.34, "340 ms"],
  [1.23, "1.2 s"],
  [42, "42 s"],
  [60, "1 min"],
  [243, "4 min 3 s"],
  [7500, "2 h 5 min"],
  [273_600, "3 d 4 h"],
  [-5, "0 ms"],
])("%d seconds are %s long", (seconds, text) => expect(duration(seconds)).toBe(text));

test("a time is told in a zone and in UTC", () => {
  expect(utc(NOW)).toBe("2026-03-10 12:00:00 UTC");
  expect(local(NOW, "Asia/Tokyo")).toContain("21:00:00");
});

test("the times in a sentence of the database are found, and its words are kept", () => {
  const told = timesIn("It has been a dead letter since 2026-11-18 05:52:32.5+00 (exhausted).");
  expect(told).toEqual(["It has been a dead letter since ", new Date("2026-11-18T05:52:32Z"), " (exhausted)."]);
  expect(timesIn("Nothing at 12:00.")).toEqual(["Nothing at 12:00."]);
});

test("in a narrow cell a duration has one unit", () => {
  expect([briefly(0.34), briefly(1042), briefly(273_600)]).toEqual(["340 ms", "17 min", "3 d"]);
});

test("below a chart are hours within a day and days beyond it, in the zone that was chosen", () => {
  const at = Date.parse("2026-03-10T23:30:00Z") / 1000;
  expect([tickText(at, 3600, "UTC"), tickText(at, 3600, "Asia/Tokyo")]).toEqual(["23:30", "08:30"]);
  expect([tickText(at, 7 * 86_400, "UTC"), tickText(at, 7 * 86_400, "Asia/Tokyo")]).toEqual(["10 Mar", "11 Mar"]);
});
