// Topics are the kinds of data that screens show. A change of one, by this page or reported by a
// live event, reloads what depends on it.

export type Topic = keyof typeof dependents;

/** dependents are the topics that change with a topic. */
const dependents = {
  transactions: ["wallets", "budgets", "summary", "goals"],
  wallets: ["summary", "goals"],
  categories: ["summary", "transactions", "budgets"],
  budgets: [],
  goals: [],
  summary: [],
  invitations: ["budgets", "goals"],
  notifications: [],
  webhooks: [],
  user: [],
  tags: ["transactions"],
  settings: ["summary", "budgets"],
  imports: [],
  rules: [],
  views: [],
} as const;

const listeners = new Map<Topic, Set<() => void>>();
const changed = new Set<Topic>();
let timer: ReturnType<typeof setTimeout> | undefined;
const delay = 120;
const later = new Set<Topic>();
let laterTimer: ReturnType<typeof setTimeout> | undefined;
const laterDelay = 2000;

/** onChange runs a function after a topic changed, and returns the function that ends this. */
export function onChange(topics: readonly Topic[], run: () => void): () => void {
  for (const topic of topics) {
    listeners.set(topic, (listeners.get(topic) ?? new Set()).add(run));
  }
  return () => topics.forEach((topic) => listeners.get(topic)?.delete(run));
}

/** announce marks topics and their dependents as changed. Changes of a batch reload once. */
export function announce(...topics: Topic[]): void {
  for (const topic of topics) {
    changed.add(topic);
    dependents[topic].forEach((dependent) => changed.add(dependent));
  }
  timer ??= setTimeout(flush, delay);
}

/** announceLater announces topics that change many times in a row, such as during an import. */
export function announceLater(...topics: Topic[]): void {
  topics.forEach((topic) => later.add(topic));
  laterTimer ??= setTimeout(() => {
    laterTimer = undefined;
    announce(...later);
    later.clear();
  }, laterDelay);
}

function flush(): void {
  timer = undefined;
  const runs = new Set<() => void>();
  for (const topic of changed) listeners.get(topic)?.forEach((run) => runs.add(run));
  changed.clear();
  runs.forEach((run) => run());
}

/** topicsOf returns the topics of an event by its type, such as ledger.v1.transaction.created. */
export function topicsOf(type: string): Topic[] {
  const kind = type.split(".")[2];
  switch (kind) {
    case "transaction":
    case "transactions":
    case "transfer":
    case "attachment": return ["transactions"];
    case "wallet": return ["wallets"];
    case "reconciliation": return ["wallets", "transactions"];
    case "category": return ["categories"];
    case "budget": return ["budgets", "notifications"];
    case "invitation":
    case "member": return ["invitations", "budgets", "goals", "notifications"];
    case "user": return ["user"];
    case "goal":
    case "assignment": return ["goals", "notifications"];
    case "tag": return ["tags"];
    case "import": return ["imports"];
    case "rule": return ["rules"];
    case "settings": return ["settings"];
    default: return [];
  }
}
