import { expect, test } from "vitest";
import { percentOf, told, type BulkAction } from "./bulk";

const RETRY: BulkAction = { action: "documents.retry", verb: "Retry", noun: "document", canary: true };
const END: BulkAction = { action: "processes.retry", verb: "Start again", noun: "process", nouns: "processes" };
const preview = (count: number, ...skipped: number[]) => ({ count, approximate: false, skipped: skipped.map((n) => ({ count: n, reason: "it is indexed" })) });

test("before the preview nothing has a number, and nothing can be tried", () => {
  expect(told(RETRY, null, 10)).toEqual({ n: 0, title: "Retry …", verb: "Retry", percent: 0 });
});

test("the number leaves out what the action leaves out", () => {
  expect(told(RETRY, preview(1_234, 30, 4), 0)).toEqual({ n: 1_200, title: "Retry 1,200 documents?", verb: "Retry 1,200 documents", percent: 0 });
  expect(told(RETRY, preview(3, 3), 0).n).toBe(0);
});

test("one item is in the singular, several in the plural of the noun", () => {
  expect(told(RETRY, preview(1), 0).verb).toBe("Retry 1 document");
  expect(told(END, preview(1), 0).verb).toBe("Start again 1 process");
  expect(told(END, preview(2), 0).verb).toBe("Start again 2 processes");
});

test("an estimate is told as one", () => {
  expect(told(RETRY, { ...preview(20_000), approximate: true }, 0).title).toBe("Retry ≈ 20,000 documents?");
});

test("the button says how much is tried first", () => {
  expect(told(RETRY, preview(500), 5)).toMatchObject({ title: "Retry 500 documents?", verb: "Try 5 % first", percent: 5 });
});

test("a part is tried only of several items, and only by an action that offers it", () => {
  expect(told(RETRY, preview(2, 1), 5)).toMatchObject({ verb: "Retry 1 document", percent: 0 });
  expect(told(END, preview(500), 5)).toMatchObject({ verb: "Start again 500 processes", percent: 0 });
});

test.each([
  ["5", 5],
  ["50", 50],
  ["51", 50],
  ["0", 1],
  ["-3", 1],
  ["2.6", 3],
  ["", 1],
  ["ten", 1],
])("what is typed as %j tries %d per cent first", (typed, percent) => expect(percentOf(typed)).toBe(percent));
