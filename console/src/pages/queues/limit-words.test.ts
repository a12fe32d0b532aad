import { expect, test } from "vitest";
import type { QueueLimit } from "../../api/operate";
import { limitWords } from "./limit-words";

const NONE: QueueLimit = { scope: "queue", key_hash: null, max_running: null, rate_count: null, rate_period_seconds: null, rate_burst: null };

test("a limit is about the whole queue, each key, or one key by the beginning of its hash", () => {
  expect(limitWords(NONE).of).toBe("the whole queue");
  expect(limitWords({ ...NONE, scope: "each_key" }).of).toBe("each key");
  expect(limitWords({ ...NONE, scope: "key", key_hash: "0123456789abcdef" }).of).toBe("the key 0123456789ab…");
});

test("what is not limited says so", () => {
  expect(limitWords(NONE)).toMatchObject({ running: "no limit", rate: "no limit" });
  expect(limitWords({ ...NONE, rate_count: 5 }).rate).toBe("no limit");
});

test("a limit names how many run at once and how many start in a time", () => {
  const limit = { ...NONE, max_running: 1_200, rate_count: 100, rate_period_seconds: 60 };
  expect(limitWords(limit)).toMatchObject({ running: "1,200 at once", rate: "100 per 1 min" });
  expect(limitWords({ ...limit, rate_burst: 20 }).rate).toBe("100 per 1 min, at most 20 in a burst");
});
