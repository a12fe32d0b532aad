import { expect, test } from "vitest";
import { cutter } from "./passage";

test("a passage is cut by code point, as the database counts: an emoji is one", () => {
  const text = "🌊🌊 high water 🌊 low water";
  const cut = cutter(text);
  expect(cut(3, 13)).toBe("high water");
  expect(cut(14, 15)).toBe("🌊");
  expect(cut(0, 3) + cut(3, 13) + cut(13)).toBe(text);
});

test("a position behind the end is the end", () => {
  expect(cutter("🌊")(0, 9)).toBe("🌊");
  expect(cutter("")(0, 9)).toBe("");
});
