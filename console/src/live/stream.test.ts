import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Streams, type Told } from "./stream";

class FakeSource {
  static readonly CLOSED = 2;
  static made: FakeSource[] = [];
  readyState = 0;
  onopen: (() => void) | null = null;
  onerror: (() => void) | null = null;
  private readonly listeners: ((event: { data: string }) => void)[] = [];

  constructor(readonly url: string) {
    FakeSource.made.push(this);
  }

  addEventListener(_name: string, listener: (event: { data: string }) => void): void {
    this.listeners.push(listener);
  }

  close(): void {
    this.readyState = FakeSource.CLOSED;
  }

  opens(): void {
    this.readyState = 1;
    this.onopen?.();
  }

  /** The browser connects again by itself, or not where the server refused. */
  fails(isFinal = false): void {
    this.readyState = isFinal ? FakeSource.CLOSED : 0;
    this.onerror?.();
  }

  sends(data: unknown): void {
    for (const listener of this.listeners) listener({ data: JSON.stringify(data) });
  }
}

beforeEach(() => {
  FakeSource.made = [];
  vi.stubGlobal("EventSource", FakeSource);
});
afterEach(() => void vi.unstubAllGlobals());

const EVERYTHING = { names: ["*"] };
const [OPEN, CLOSED] = [{ state: "open" }, { state: "closed" }];

function hearing() {
  const heard: Told[] = [];
  return { listener: (told: Told) => void heard.push(told), heard: () => heard.splice(0) };
}
const made = (at: number) => FakeSource.made[at] as FakeSource;

test("the first opening changes nothing, and a change tells its names", () => {
  const { listener, heard } = hearing();
  new Streams().listen("/v1/events", listener);
  expect(heard()).toEqual([CLOSED]);
  made(0).opens();
  expect(heard()).toEqual([OPEN]);
  made(0).sends({ names: ["tasks", "queues"] });
  made(0).sends({ names: [] });
  expect(heard()).toEqual([{ names: ["tasks", "queues"] }]);
});

test("after a cut everything may have changed", () => {
  const { listener, heard } = hearing();
  new Streams().listen("/v1/events", listener);
  made(0).opens();
  made(0).fails();
  heard();
  made(0).opens();
  expect(heard()).toEqual([OPEN, EVERYTHING]);
  expect(FakeSource.made.length).toBe(1);
});

test("a stream that was refused is opened again for who listens again, and everything may have changed", () => {
  const streams = new Streams();
  const { listener, heard } = hearing();
  streams.listen("/v1/events", listener);
  made(0).opens();
  made(0).fails(true);
  expect(heard()).toEqual([CLOSED, OPEN, CLOSED]);
  streams.listen("/v1/events", listener);
  made(1).opens();
  expect(heard()).toEqual([CLOSED, OPEN, EVERYTHING]);
});

test("a stream on its way stays the same for who listens again, and tells each change once", () => {
  const streams = new Streams();
  const { listener, heard } = hearing();
  streams.listen("/v1/events", listener);
  streams.listen("/v1/events", listener);
  expect(FakeSource.made.length).toBe(1);
  heard();
  made(0).opens();
  made(0).sends({ names: ["tasks"] });
  expect(heard()).toEqual([OPEN, { names: ["tasks"] }]);
});

test("several listeners share one stream, which closes after the last of them", () => {
  const streams = new Streams();
  const [one, other] = [hearing(), hearing()];
  streams.listen("/v1/events", one.listener);
  made(0).opens();
  streams.listen("/v1/events", other.listener);
  expect(FakeSource.made.length).toBe(1);
  expect(other.heard()).toEqual([OPEN]);
  streams.leave("/v1/events", one.listener);
  one.heard();
  made(0).sends({ names: ["tasks"] });
  expect([one.heard(), other.heard()]).toEqual([[], [{ names: ["tasks"] }]]);
  expect(made(0).readyState).toBe(1);
  streams.leave("/v1/events", other.listener);
  expect(made(0).readyState).toBe(FakeSource.CLOSED);
  streams.listen("/v1/events", one.listener);
  expect(FakeSource.made.length).toBe(2);
});

test("streams of two tenants tell each other nothing", () => {
  const streams = new Streams();
  const [one, other] = [hearing(), hearing()];
  streams.listen("/v1/events?tenant=a", one.listener);
  streams.listen("/v1/events?tenant=b", other.listener);
  one.heard();
  other.heard();
  made(1).sends({ names: ["tasks"] });
  expect([one.heard(), other.heard()]).toEqual([[], [{ names: ["tasks"] }]]);
});
