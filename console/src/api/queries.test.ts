import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { refresh } from "./queries";

test("a change that is announced while the first answer is on its way is not missed", async () => {
  const client = new QueryClient();
  const answers: ((text: string) => void)[] = [];
  const observer = new QueryObserver(client, {
    queryKey: ["/v1/operations/1"],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
    meta: { live: ["operation:1"] },
  });
  const stop = observer.subscribe(() => undefined);
  refresh(client, new Set(["operation:1"]));
  refresh(client, new Set(["operation:1"]));
  expect(answers.length).toBe(1);
  answers[0]?.("running");
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.("done");
  await expect.poll(() => observer.getCurrentResult().data).toBe("done");
  expect(answers.length).toBe(2);
  stop();
});
