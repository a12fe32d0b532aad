import { expect, test } from "vitest";
import { bodyOf, moved, settingOf, written } from "./setting";

test("settings stand in the address, without their defaults", () => {
  expect(written("b", { mode: "text", limit: 10, minScore: 0.5, project: null })).toEqual({
    "b.mode": "text",
    "b.limit": undefined,
    "b.min": "0.5",
    "b.project": undefined,
  });
  const setting = settingOf({ "b.mode": "text", "b.min": "0.5", "a.mode": "vector" }, "b");
  expect(setting).toEqual({ mode: "text", limit: 10, minScore: 0.5, project: null, type: null, embedder: null });
});

test("nonsense in the address is a default", () => {
  expect(settingOf({ "a.mode": "magic", "a.limit": "-4", "a.min": "7" }, "a")).toMatchObject({ mode: "hybrid", limit: 10, minScore: null });
});

test("the body has only what was chosen", () => {
  expect(bodyOf("gate", settingOf({}, "a"))).toEqual({ query: "gate", mode: "hybrid", limit: 10, explain: true });
  expect(bodyOf("gate", settingOf({ "a.project": "docs", "a.embedder": "minilm" }, "a"))).toMatchObject({ projects: ["docs"], embedder: "minilm" });
});

test("a hit says how it moved against the other side", () => {
  const other = [{ chunk_id: "x" }, { chunk_id: "y" }, { client_id: "c" }];
  expect(moved({ chunk_id: "y" }, 0, other)).toBe(1);
  expect(moved({ client_id: "c" }, 2, other)).toBe(0);
  expect(moved({ chunk_id: "z" }, 0, other)).toBe("new");
  expect(moved({ chunk_id: "z" }, 0, undefined)).toBeNull();
});
