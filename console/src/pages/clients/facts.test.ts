import { expect, test } from "vitest";
import { factsOf, linesOf, shown } from "./facts";

test("facts are JSON where they look like it, and text otherwise", () => {
  const facts = factsOf([
    { name: "employees", value: "120" },
    { name: " role ", value: "Head of purchasing" },
    { name: "", value: "lost" },
    { name: "tags", value: '["a", "b"]' },
    { name: "phone", value: "12 34 56" },
  ]);
  expect(facts).toEqual({ employees: 120, role: "Head of purchasing", tags: ["a", "b"], phone: "12 34 56" });
  expect(factsOf(linesOf(facts))).toEqual(facts);
});

test("values are shown on one line", () => {
  expect(shown(1234567.5)).toBe("1,234,567.5");
  expect(shown([{ name: "Gate", amount: 10 }, "x"])).toBe("name Gate, amount 10; x");
  expect(shown(null)).toBe("–");
  expect(shown(true)).toBe("yes");
});
