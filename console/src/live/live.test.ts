import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { touches } from "../api/queries";
import { Merging } from "./merging";
import { namesIn } from "./stream";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function merging() {
  const passed: string[][] = [];
  return { passed, merging: new Merging((names) => passed.push([...names].sort()), 500, () => Date.now()) };
}

test("the first change passes at once", () => {
  const { passed, merging: m } = merging();
  m.add(["queues"]);
  expect(passed).toEqual([["queues"]]);
});

test("a storm passes at most twice a second, with every name once", () => {
  const { passed, merging: m } = merging();
  for (let n = 0; n < 100; n++) {
    m.add([`document:${n % 3}`, "documents"]);
    vi.advanceTimersByTime(10);
  }
  expect(passed.length).toBeLessThanOrEqual(3);
  vi.advanceTimersByTime(500);
  expect(new Set(passed.flat())).toEqual(new Set(["document:0", "document:1", "document:2", "documents"]));
});

test("while paused names are kept, and pass on resuming", () => {
  const { passed, merging: m } = merging();
  m.hold(true);
  m.add(["tasks"]);
  vi.advanceTimersByTime(10_000);
  expect(passed).toEqual([]);
  expect(m.waiting).toBe(1);
  m.hold(false);
  expect(passed).toEqual([["tasks"]]);
});

test("a query is touched by its names, and by everything", () => {
  expect(touches(["queues", "tasks"], new Set(["tasks"]))).toBe(true);
  expect(touches(["queues"], new Set(["tasks"]))).toBe(false);
  expect(touches(["queues"], new Set(["*"]))).toBe(true);
  expect(touches([], new Set(["*"]))).toBe(false);
});

test("an event that is not ours changes nothing", () => {
  expect(namesIn('{"names": ["a", 1, null, "b"]}')).toEqual(["a", "b"]);
  expect(namesIn("{}")).toEqual([]);
  expect(namesIn("not json")).toEqual([]);
});
