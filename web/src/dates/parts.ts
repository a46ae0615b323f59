// Times of day for greetings.

type PartOfDay = "morning" | "afternoon" | "evening";

export function partOfDay(now = new Date()): PartOfDay {
  const hour = now.getHours();
  if (hour >= 5 && hour < 12) return "morning";
  return hour >= 12 && hour < 18 ? "afternoon" : "evening";
}
