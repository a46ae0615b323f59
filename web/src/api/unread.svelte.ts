// The numbers of open invitations and of unread notifications; the bell shows the latter.
import { api } from "./api";
import { isProblem } from "./problem";
import { onChange } from "./topics";

/** most is the page size of the requests for invitations, and the highest number of them that is counted. */
const most = 50;
let total = $state(0);
let invitations = $state(0);

export const unread = {
  /** total does not add the invitations, because an invitation is also a notification. */
  get total(): number {
    return total;
  },
  get invitations(): number {
    return invitations;
  },
  /** text is the total, or "99+". */
  get text(): string {
    return total > 99 ? "99+" : String(total);
  },
};

async function load(): Promise<void> {
  try {
    const [{ unreadCount }, open] = await Promise.all([
      api.get("/api/v1/notifications", { query: { read: false, limit: 1 } }),
      api.get("/api/v1/invitations", { query: { limit: most } }),
    ]);
    total = unreadCount;
    invitations = open.invitations.length;
  } catch (error) {
    if (!isProblem(error)) throw error;
  }
}

/** startUnread loads the numbers and keeps them current until the returned function is called. */
export function startUnread(): () => void {
  void load();
  const end = onChange(["notifications", "invitations"], () => void load());
  return () => {
    end();
    total = invitations = 0;
  };
}
