// The categories that a new user can start with.

export interface Starter {
  readonly key: "groceries" | "eating" | "home" | "transport" | "health" | "leisure" | "clothes" | "subscriptions" | "travel" | "gifts" | "salary" | "otherIncome";
  readonly icon: string;
  readonly color: string;
  readonly kind: "expense" | "income";
  readonly chosen: boolean;
}

export const starters: readonly Starter[] = [
  { key: "groceries", icon: "🛒", color: "#2f8f63", kind: "expense", chosen: true },
  { key: "eating", icon: "🍽️", color: "#b9772e", kind: "expense", chosen: true },
  { key: "home", icon: "🏠", color: "#4a76b5", kind: "expense", chosen: true },
  { key: "transport", icon: "🚲", color: "#2c93a0", kind: "expense", chosen: true },
  { key: "health", icon: "💊", color: "#c05a52", kind: "expense", chosen: true },
  { key: "leisure", icon: "🎟️", color: "#8a63ad", kind: "expense", chosen: true },
  { key: "clothes", icon: "👕", color: "#b25487", kind: "expense", chosen: false },
  { key: "subscriptions", icon: "🔁", color: "#7d8a3a", kind: "expense", chosen: false },
  { key: "travel", icon: "✈️", color: "#3f87b8", kind: "expense", chosen: false },
  { key: "gifts", icon: "🎁", color: "#c2603f", kind: "expense", chosen: false },
  { key: "salary", icon: "💼", color: "#2f8f63", kind: "income", chosen: true },
  { key: "otherIncome", icon: "💶", color: "#7d8a3a", kind: "income", chosen: false },
];
