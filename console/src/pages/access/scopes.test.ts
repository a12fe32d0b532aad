import { expect, test } from "vitest";
import { limitOf, writtenLimit } from "./limits";
import { expiryIn, keyState } from "./scopes";

const now = new Date("2026-03-01T00:00:00Z");

test("a key is active until it expires or is revoked", () => {
  expect(keyState({ revoked_at: null, expires_at: null }, now)).toBe("active");
  expect(keyState({ revoked_at: null, expires_at: "2026-02-01T00:00:00Z" }, now)).toBe("expired");
  expect(keyState({ revoked_at: "2026-01-01T00:00:00Z", expires_at: null }, now)).toBe("revoked");
});

test("a key may have no end", () => {
  expect(expiryIn(null, now)).toBeNull();
  expect(expiryIn(30, now)).toBe("2026-03-31T00:00:00.000Z");
});

test("limits may be typed with separators, and empty is the default", () => {
  expect(limitOf("1,000,000")).toBe(1_000_000);
  expect(limitOf(" ")).toBeNull();
  expect(limitOf(writtenLimit(2500))).toBe(2500);
  expect(writtenLimit(null)).toBe("");
});
