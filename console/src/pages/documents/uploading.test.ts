import { expect, test, vi } from "vitest";
import { Refused, Uploads } from "./uploading";

const file = (name: string, size = 10) => ({ name, size }) as File;
const settled = () => new Promise((resolve) => setTimeout(resolve));

test("an upload is queued, sent, and becomes a document", async () => {
  let finish: (answer: { document_id: string; skipped: boolean }) => void = () => undefined;
  let progress: (sent: number) => void = () => undefined;
  const uploads = new Uploads((_file, _project, told) => {
    progress = told;
    return new Promise((resolve) => (finish = resolve));
  });
  const listener = vi.fn();
  uploads.subscribe(listener);
  uploads.add([file("a.pdf")], "default");
  expect(uploads.all()[0]).toMatchObject({ name: "a.pdf", state: "sending", sent: 0 });
  progress(5);
  expect(uploads.all()[0]?.sent).toBe(5);
  finish({ document_id: "d1", skipped: false });
  await settled();
  expect(uploads.all()[0]).toMatchObject({ state: "received", sent: 10, documentId: "d1", isKnown: false });
  expect(listener).toHaveBeenCalled();
});

test("three files are sent at a time, the others wait their turn", async () => {
  const finish: (() => void)[] = [];
  const uploads = new Uploads(() => new Promise((resolve) => finish.push(() => resolve({ document_id: "d", skipped: true }))));
  uploads.add(["a", "b", "c", "d"].map((name) => file(name)), "default");
  expect(uploads.all().map((each) => each.state)).toEqual(["sending", "sending", "sending", "queued"]);
  finish[0]?.();
  await settled();
  expect(uploads.all().map((each) => each.state)).toEqual(["received", "sending", "sending", "sending"]);
  uploads.clear();
  expect(uploads.all().map((each) => each.name)).toEqual(["b", "c", "d"]);
});

test("a refused upload keeps its reason and remedy, and the next one is sent", async () => {
  const uploads = new Uploads((each) =>
    each.name === "big" ? Promise.reject(new Refused("too large", "Split it")) : Promise.resolve({ document_id: "d", skipped: false }),
  );
  uploads.add([file("big"), file("small")], "default");
  await settled();
  expect(uploads.all()[0]).toMatchObject({ state: "refused", error: "too large", remedy: "Split it" });
  expect(uploads.all()[1]?.state).toBe("received");
});
