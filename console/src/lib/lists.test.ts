import { expect, test } from "vitest";
import { diffLines } from "./compare";
import { joined } from "./keyset";
import { bytes, compact, count, plural, rate } from "./numbers";
import { below, matchPath } from "./routes";
import { nextSort, parseSort, sortedBy } from "./sorting";
import { everyOne, has, isTooLarge, MOST_IDS, NONE, parseSelection, size, toggled, writeSelection } from "./selection";

interface Row {
  readonly id: string;
  readonly n: number;
}
const key = (row: Row) => row.id;

test("pages are joined in their order, each row once", () => {
  const pages = [{ items: [{ id: "a", n: 1 }, { id: "b", n: 1 }] }, { items: [{ id: "c", n: 1 }] }];
  expect(joined(pages, key).map(key)).toEqual(["a", "b", "c"]);
});

test("a row that moved between two fetches is shown once, as it was seen last", () => {
  const pages = [{ items: [{ id: "a", n: 1 }] }, { items: [{ id: "a", n: 2 }, { id: "b", n: 1 }] }];
  expect(joined(pages, key)).toEqual([{ id: "a", n: 2 }, { id: "b", n: 1 }]);
});

test("a selection survives being written and read", () => {
  const some = { all: false as const, ids: new Set(["1", "2"]) };
  expect(parseSelection(writeSelection(some))).toEqual(some);
  expect(parseSelection(writeSelection({ all: true }))).toEqual({ all: true });
  expect(writeSelection(NONE)).toBeUndefined();
});

test("too many ids do not go into the address", () => {
  const ids = new Set(Array.from({ length: 101 }, (_, n) => String(n)));
  expect(writeSelection({ all: false, ids })).toBeUndefined();
});

test("leaving one row out of all keeps the other loaded ones", () => {
  const left = toggled({ all: true }, "b", ["a", "b", "c"]);
  expect(left).toEqual({ all: false, ids: new Set(["a", "c"]) });
  expect(has(left, "b")).toBe(false);
});

test("all that match counts the list, not the rows shown", () => {
  expect(size({ all: true }, 10_000)).toBe(10_000);
  expect(size({ all: false, ids: new Set(["a"]) }, 10_000)).toBe(1);
});

test("as many rows as the API takes are chosen by their ids, more of them by the filter", () => {
  const ids = Array.from({ length: MOST_IDS + 1 }, (_, n) => String(n));
  expect(everyOne(ids.slice(1))).toEqual({ all: false, ids: new Set(ids.slice(1)) });
  expect(everyOne(ids)).toEqual({ all: true });
  expect(everyOne([])).toEqual(NONE);
});

test("rows chosen one by one can be too many, all that match cannot", () => {
  const left = toggled({ all: true }, "0", Array.from({ length: MOST_IDS + 1 }, (_, n) => String(n)));
  expect(isTooLarge(left)).toBe(false);
  expect(isTooLarge(toggled(left, "0", []))).toBe(true);
  expect(isTooLarge({ all: true })).toBe(false);
});

test("fixed segments go before parameters, and parameters are decoded", () => {
  const routes = [["/sources/connect", 1], ["/sources/$source", 2], ["/", 0]] as const;
  expect(matchPath("/sources/connect", routes)?.value).toBe(1);
  expect(matchPath("/sources/a%2Fb/", routes)).toEqual({ value: 2, params: { source: "a/b" } });
  expect(matchPath("/sources/%zz", routes)?.params).toEqual({ source: "%zz" });
  expect(matchPath("/", routes)?.value).toBe(0);
  expect(matchPath("/sources/a/b", routes)).toBeNull();
});

test("the prefix is taken off, and only a whole one", () => {
  expect(below("/tools", "/tools/queues")).toBe("/queues");
  expect(below("/tools", "/tools")).toBe("/");
  expect(below("/tools", "/toolshed")).toBe("/toolshed");
  expect(below("", "/queues")).toBe("/queues");
});

test("numbers are told as people read them", () => {
  expect(count(0)).toBe("0");
  expect(count(1_000_000, true)).toBe("≈ 1,000,000");
  expect(compact(9_999)).toBe("9,999");
  expect(compact(1_234_567)).toBe("1.2M");
  expect(rate(0)).toBe("0/min");
  expect(rate(3.25)).toBe("3.3/min");
  expect(plural(1, "document")).toBe("1 document");
  expect(plural(2, "process", "processes")).toBe("2 processes");
  expect(bytes(999)).toBe("999 B");
  expect(bytes(1_500_000)).toBe("1.5 MB");
});

test("two tracebacks differ where their lines do", () => {
  const lines = diffLines(["a", "b", "c"], ["a", "x", "c"]);
  expect(lines).toEqual([
    { text: "a", only: null },
    { text: "b", only: "a" },
    { text: "x", only: "b" },
    { text: "c", only: null },
  ]);
  expect(diffLines([], [])).toEqual([]);
});

test("rows are sorted by a value, those without one last either way, equal ones as they were", () => {
  const rows = [{ id: "b", n: 2 }, { id: "a", n: 10 }, { id: "c", n: 2 }, { id: "d", n: null }];
  expect(sortedBy(rows, (row) => row.n, false).map((row) => row.id)).toEqual(["b", "c", "a", "d"]);
  expect(sortedBy(rows, (row) => row.n, true).map((row) => row.id)).toEqual(["a", "b", "c", "d"]);
  expect(sortedBy(rows, (row) => row.id, true).map((row) => row.id)).toEqual(["d", "c", "b", "a"]);
});

test("a click on a column sorts up, then down, then not at all", () => {
  expect(nextSort(null, "name")).toBe("name");
  expect(nextSort(parseSort("name"), "name")).toBe("-name");
  expect(nextSort(parseSort("-name"), "name")).toBeUndefined();
  expect(nextSort(parseSort("-name"), "state")).toBe("state");
  expect(parseSort("-")).toBeNull();
});
