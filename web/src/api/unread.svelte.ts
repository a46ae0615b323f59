// The number of unread notifications, which the bell shows.
import { api } from "./api";
import { isProblem } from "./problem";
import { onChange } from "./topics";

let total = $state(0);

export const unread = {
  get total(): number {
    return total;
  },
  /** text is the total, or "99+". */
  get text(): string {
    return total > 99 ? "99+" : String(total);
  },
};

async function load(): Promise<void> {
  try {
    total = (await api.get("/api/v1/notifications", { query: { read: false, limit: 1 } }))
      .unreadCount;
  } catch (error) {
    if (!isProblem(error)) throw error;
  }
}

/** startUnread loads the number and keeps it current until the returned function is called. */
export function startUnread(): () => void {
  void load();
  const end = onChange(["notifications"], () => void load());
  return () => {
    end();
    total = 0;
  };
}
