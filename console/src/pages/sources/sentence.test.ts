import { expect, test } from "vitest";
import { needsReconnect, sentence } from "./sentence";

const now = new Date("2026-03-01T12:00:00Z");
const source = (state: string, health: object = {}, more: object = {}) =>
  ({
    kind: "hubspot",
    status: "active",
    synced_at: "2026-03-01T11:00:00Z",
    next_sync_at: "2026-03-02T02:00:00Z",
    sync_every_seconds: 86_400,
    health: { state, ...health },
    ...more,
  }) as Parameters<typeof sentence>[0];

test("a healthy source says when it read everything and when it runs next", () => {
  expect(sentence(source("healthy"), now)).toBe("Up to date: everything was read 1 h ago. Next run in 14 h.");
});

test("a running one says how far it is", () => {
  const running = source("syncing", { seen: 1200, expected: 4000, since: "2026-03-01T11:58:00Z" });
  expect(sentence(running, now)).toBe("Syncing, for 2 min: 1,200 of about 4,000 items so far.");
});

test("retrying is not an error: it says what happened, when it goes on, and how old the data are", () => {
  const retrying = source("retrying", { reason: "the provider is unavailable (503)", next_try_at: "2026-03-01T12:05:00Z" });
  expect(sentence(retrying, now)).toBe(
    "The provider is unavailable (503). It will try again in 5 min. Last complete read: 1 h ago.",
  );
});

test("a source that needs someone says what to do", () => {
  const stuck = source("needs_you", { reason: "refresh_token_invalid: invalid_grant", action: "Connect it again: penstock source connect hubspot", connection: "token_refresh_failed" }, { synced_at: null });
  expect(sentence(stuck, now)).toBe(
    "The provider no longer accepts our access (invalid_grant): it was revoked or has expired. Reconnect it; documents already read are kept. It has never been read completely.",
  );
  expect(needsReconnect(stuck)).toBe(true);
  const full = source("needs_you", { reason: "the mailbox is full", action: "Make room: penstock source show", connection: "provider_error" });
  expect(sentence(full, now)).toBe("The mailbox is full. Make room. Last complete read: 1 h ago.");
  expect(needsReconnect(source("healthy"))).toBe(false);
});

test("a webhook and a paused source do not pretend to be synced", () => {
  expect(sentence(source("receiving"), now)).toBe("Ready to receive what another system sends.");
  expect(sentence(source("paused"), now)).toContain("Paused: nothing is read");
  expect(sentence(source("something_new"), now)).toBe("Something new.");
});
