import assert from "node:assert/strict";
import test from "node:test";
import { addDays, addMonths, dayOf, daysBetween, formatDay, formatMonth, formatTime, isDay, monthDays, today, useDaySettings, weekDays } from "../../src/dates/dates.ts";

test("days and months are civil dates", () => {
  assert.equal(addDays("2026-02-28", 1), "2026-03-01");
  assert.equal(addDays("2026-03-29", 1), "2026-03-30");
  assert.equal(daysBetween("2026-03-28", "2026-03-30"), 2);
  assert.equal(addMonths("2026-11", 2), "2027-01");
  assert.equal(addMonths("2026-01", -1), "2025-12");
  assert.deepEqual(monthDays("2028-02"), { from: "2028-02-01", to: "2028-02-29" });
  assert.equal(dayOf("2026-11-22T23:59:59.999Z"), "2026-11-22");
  assert.equal(today(new Date(2026, 0, 5, 23, 59)), "2026-01-05", "the day of the browser, without settings");
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

test("today is the day in the time zone of the settings", (t) => {
  t.after(() => useDaySettings(undefined));
  const cases = [
    ["Pacific/Auckland", "2026-01-31T10:59:59Z", "2026-01-31"],
    ["Pacific/Auckland", "2026-01-31T11:00:00Z", "2026-02-01"],
    ["Pacific/Auckland", "2026-06-30T12:00:00Z", "2026-07-01"],
    ["America/Los_Angeles", "2026-02-01T07:59:59Z", "2026-01-31"],
    ["America/Los_Angeles", "2026-02-01T08:00:00Z", "2026-02-01"],
    ["America/Los_Angeles", "2026-07-01T06:59:59Z", "2026-06-30"],
    ["UTC", "2026-01-31T23:59:59Z", "2026-01-31"],
  ];
  for (const [timeZone, now, day] of cases) {
    useDaySettings({ timeZone });
    assert.equal(today(new Date(now)), day, `${now} in ${timeZone}`);
  }
  useDaySettings({ timeZone: "Pacific/Auckland" });
  assert.match(formatTime("2026-01-31T11:00:00Z", "en-US"), /Feb 1, 12:00 AM/);
  useDaySettings({ timeZone: "Mars/Olympus" });
  assert.equal(today(new Date(2026, 0, 5, 23, 59)), "2026-01-05", "the browser does not know the zone");
});

test("weeks begin on the day of the settings", (t) => {
  t.after(() => useDaySettings(undefined));
  const cases = [["monday", "2026-11-30", "2026-12-06"], ["sunday", "2026-11-29", "2026-12-05"], ["saturday", "2026-11-28", "2026-12-04"]];
  for (const [weekStart, from, to] of cases) {
    useDaySettings({ weekStart });
    assert.deepEqual(weekDays("2026-12-01"), { from, to });
    assert.deepEqual(weekDays(from), { from, to });
    assert.deepEqual(weekDays(to), { from, to });
  }
});
