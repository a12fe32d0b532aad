import { expect, test } from "vitest";
import { hrefOf } from "./items";

test("an item of an operation links to its own page, whatever it is", () => {
  expect(hrefOf("documents.retry", "d1")).toBe("/documents/d1");
  expect(hrefOf("dead.replay", "17")).toBe("/tasks/17");
  expect(hrefOf("queues.pause", "a b")).toBe("/queues/a%20b");
  expect(hrefOf("processes.retry", "comms.send_sms/1")).toBe("/processes/comms.send_sms/1");
});

test("what has no page of its own is not a link", () => {
  for (const action of ["keys.revoke", "sessions.end", "workers.stop", "schedules.run", "decisions.restore"]) expect(hrefOf(action, "x")).toBeNull();
});
