import assert from "node:assert/strict";
import test from "node:test";
import { proposed } from "../../src/screens/goals/proposed.ts";

test("the proposed amount is that of a month, and at most the remaining one", () => {
  const of = (progress) => proposed({ currency: "EUR", progress: { saved: "0.00", percentage: 0, state: "onTrack", averagePerMonth: "0.00", ...progress } })?.minor;
  assert.equal(of({ remaining: "300.00", neededPerMonth: "25.50", averagePerMonth: "10.00" }), 2550n);
  assert.equal(of({ remaining: "300.00", averagePerMonth: "10.00" }), 1000n);
  assert.equal(of({ remaining: "3.00", averagePerMonth: "10.00" }), 300n);
  assert.equal(of({ remaining: "0.00", averagePerMonth: "10.00" }), undefined);
  assert.equal(of({ remaining: "300.00" }), undefined);
});
