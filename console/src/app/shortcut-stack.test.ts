import { expect, test } from "vitest";
import { ShortcutStack } from "./shortcut-stack";

function pressing() {
  const stack = new ShortcutStack();
  const done: string[] = [];
  const keys = (owner: string, ...names: string[]) => ({ current: Object.fromEntries(names.map((name) => [name, () => void done.push(`${owner} ${name}`)])) });
  const press = (...pressed: (string | number)[]) => {
    let now = 1_000;
    for (const each of pressed) {
      if (typeof each === "number") now += each;
      else stack.pressed(each, (now += 10))?.();
    }
    return done.splice(0);
  };
  return { stack, keys, press };
}

test("a single key and a pair do what they stand for, and others do nothing", () => {
  const { stack, keys, press } = pressing();
  stack.add(keys("page", "/", "g d"), false);
  expect(press("/")).toEqual(["page /"]);
  expect(press("g", "d")).toEqual(["page g d"]);
  expect(press("d", "g", "x")).toEqual([]);
});

test("a pair that was pressed slowly is two keys", () => {
  const { stack, keys, press } = pressing();
  stack.add(keys("frame", "g d", "d"), true);
  expect(press("g", 1_400, "d")).toEqual(["frame g d"]);
  expect(press("g", 1_600, "d")).toEqual(["frame d"]);
});

test("a key that did something begins no pair", () => {
  const { stack, keys, press } = pressing();
  stack.add(keys("frame", "d", "g", "g d"), true);
  expect(press("g", "d")).toEqual(["frame g", "frame d"]);
});

test("the newest component wins, and gives its keys back when it goes", () => {
  const { stack, keys, press } = pressing();
  stack.add(keys("page", "/", "j"), false);
  const take = stack.add(keys("dialog", "/"), false);
  expect(press("/", "j")).toEqual(["dialog /", "page j"]);
  take();
  expect(press("/")).toEqual(["page /"]);
});

test("a page wins over the frame, whichever came first", () => {
  const { stack, keys, press } = pressing();
  stack.add(keys("page", "r"), false);
  stack.add(keys("frame", "r", "p"), true);
  expect(press("r", "p")).toEqual(["page r", "frame p"]);
});

test("keys that change while a component is shown are the newest ones", () => {
  const { stack, keys, press } = pressing();
  const held = keys("before", "x");
  stack.add(held, false);
  held.current = keys("after", "x").current;
  expect(press("x")).toEqual(["after x"]);
});
