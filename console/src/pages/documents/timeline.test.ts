import { expect, test } from "vitest";
import { changedVersions, grown, shares, totals, type Step } from "./timeline";
import { stageOf } from "./stages";

const step = (kind: Step["kind"], seconds: number, more: Partial<Step> = {}): Step => ({ kind, stage: "parsing", from: "2026-01-01T00:00:00Z", seconds, ...more });

test("working and waiting are added up apart", () => {
  expect(totals([step("wait", 60), step("work", 2), step("event", 0), step("work", 3), step("wait", -1)])).toEqual({ working: 5, waiting: 60 });
});

test("a second of work stays visible beside a night of waiting", () => {
  const [wait, work] = shares([step("wait", 30_000), step("work", 1)]);
  expect((wait ?? 0) + (work ?? 0)).toBeCloseTo(100);
  expect(work).toBeGreaterThan(0.5);
});

test("a timeline of events only has no bar", () => {
  expect(shares([step("event", 0)])).toEqual([0]);
});

test("versions that differ between two attempts are named", () => {
  const before = step("work", 1, { versions: { code: "1", parser: "a" } });
  expect(changedVersions(before, step("work", 1, { versions: { code: "2", parser: "a", model: "m" } }))).toEqual(["code"]);
  expect(changedVersions(undefined, before)).toEqual([]);
});

test("a pending document waits to be parsed, a failed one has ended", () => {
  expect(stageOf("pending")).toEqual({ at: 1, ended: null, waits: true });
  expect(stageOf("failed").ended).toBe("bad");
  expect(stageOf("indexed")).toEqual({ at: 3, ended: "good" });
});

test.each(["EmbedderRefused", "EmbedderFailed", "embedder_unavailable", "over_budget", "IndexUnavailable", "index_not_ready"])(
  "a document that failed with %s was parsed, and ended while it was embedded",
  (code) => expect(stageOf("failed", code)).toEqual({ at: 2, ended: "bad" }),
);

test.each(["malformed", "timeout", "oom", "RunTooLong", "worker_lost", null, undefined])("a document that failed with %s ended while it was parsed", (code) =>
  expect(stageOf("failed", code)).toEqual({ at: 1, ended: "bad" }),
);

test("what is not over grows, what is over stays", () => {
  const now = new Date("2026-01-01T00:01:00Z");
  expect(grown(step("wait", 5, { to: null }), now).seconds).toBe(60);
  expect(grown(step("wait", 5, { to: "2026-01-01T00:00:05Z" }), now).seconds).toBe(5);
});
