import { expect, test } from "vitest";
import { choiceWords, factsOf, linesOf, listed, shown } from "./facts";

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

test("several invoices are lines of their own; names and numbers are not", () => {
  expect(listed([{ number: 1 }, { number: 2 }])).toHaveLength(2);
  expect([listed([{ number: 1 }]), listed(["a", "b"]), listed("x"), listed(null)]).toEqual([null, null, null, null]);
});

test("a CRM's choice is shown in words", () => {
  expect(choiceWords("HOSPITAL_HEALTH_CARE")).toBe("Hospital health care");
  expect(choiceWords("CONSTRUCTION")).toBe("Construction");
  expect([choiceWords("IT"), choiceWords("Steel"), choiceWords("مياه")]).toEqual(["IT", "Steel", "مياه"]);
});
