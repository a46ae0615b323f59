import assert from "node:assert/strict";
import test from "node:test";
import { addDays, addMonths, dayOf, daysBetween, formatDay, formatMonth, isDay, monthDays, today } from "../../src/dates/dates.ts";

test("days and months are civil dates", () => {
  assert.equal(addDays("2026-02-28", 1), "2026-03-01");
  assert.equal(addDays("2026-03-29", 1), "2026-03-30");
  assert.equal(daysBetween("2026-03-28", "2026-03-30"), 2);
  assert.equal(addMonths("2026-11", 2), "2027-01");
  assert.equal(addMonths("2026-01", -1), "2025-12");
  assert.deepEqual(monthDays("2028-02"), { from: "2028-02-01", to: "2028-02-29" });
  assert.equal(dayOf("2026-11-22T23:59:59.999Z"), "2026-11-22");
  assert.equal(today(new Date(2026, 0, 5, 23, 59)), "2026-01-05");
  assert.ok(isDay("2026-02-28"));
  for (const text of ["2026-02-30", "2026-2-3", "", "x"]) assert.ok(!isDay(text), text);
});

test("days are formatted in the user's language", () => {
  assert.equal(formatDay("2026-11-22", "en-US", "2026-11-22"), "Today");
  assert.equal(formatDay("2026-11-21", "de-DE", "2026-11-22"), "Gestern");
  assert.equal(formatDay("2026-11-16", "en-US", "2026-11-22"), "Mon, November 16");
  assert.equal(formatDay("2025-11-16", "de-DE", "2026-11-22"), "So., 16. November 2025");
  assert.equal(formatMonth("2026-11", "de-DE", "2026-11-22"), "November");
  assert.equal(formatMonth("2025-11", "en-US", "2026-11-22"), "November 2025");
});
