export default {
  title: "Welcome",
  hello: (name: string) => `Welcome, ${name}`,
  intro: "Three short steps, and you can book your first transaction.",
  walletStep: "Your first wallet",
  walletText: "An account, a card or cash. You can add more later.",
  walletName: "Name",
  walletDefault: "Checking account",
  balance: "Balance today",
  balanceHint: "May be 0 or negative. Everything you book is added to it.",
  categoryStep: "Your categories",
  categoryText: "Choose what fits. You can rename them at any time.",
  start: "Start",
  skip: "Not now",
  starters: {
    groceries: "Groceries", eating: "Eating out", home: "Home", transport: "Transport", health: "Health", leisure: "Leisure",
    clothes: "Clothes", subscriptions: "Subscriptions", travel: "Travel", gifts: "Gifts", salary: "Salary", otherIncome: "Other income",
  },
};
