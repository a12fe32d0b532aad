import { expect, test } from "vitest";
import { actionsOn } from "./actions-on";

test.each([
  ["dead", ["dead.replay", "dead.purge"]],
  ["waiting", ["tasks.run_now", "tasks.cancel"]],
  ["ready", ["tasks.cancel"]],
  ["running", ["tasks.cancel"]],
  ["parked", ["tasks.cancel"]],
  ["completed", []],
  ["failed", []],
  ["lost", []],
  ["snoozed", []],
  ["cancelled", []],
])("what can be done with tasks that are %s", (state, actions) => expect(actionsOn(state).map((each) => each.action)).toEqual(actions));

test("what cannot be undone is marked as dangerous, and only a replay offers to try a part first", () => {
  const all = ["dead", "waiting"].flatMap(actionsOn);
  expect(all.filter((each) => each.danger).map((each) => each.action)).toEqual(["dead.purge", "tasks.cancel"]);
  expect(all.filter((each) => each.canary).map((each) => each.action)).toEqual(["dead.replay"]);
});
