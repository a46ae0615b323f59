// The number of unread notifications and of open invitations, for the bell.
import { api } from "./api";
import { isProblem } from "./problem";
import { onChange } from "./topics";

/** most is the page size of the requests, and the highest number that the bell shows. */
const most = 50;
let notifications = $state(0);
let invitations = $state(0);

export const unread = {
  get total(): number {
    return notifications + invitations;
  },
  get invitations(): number {
    return invitations;
  },
  /** text is the number, or "50+". */
  get text(): string {
    return notifications >= most ? `${most}+` : String(notifications + invitations);
  },
};

async function load(): Promise<void> {
  try {
    const [unreadPage, invitationPage] = await Promise.all([
      api.get("/api/v1/notifications", { query: { read: false, limit: most } }),
      api.get("/api/v1/invitations", { query: { limit: most } }),
    ]);
    notifications = unreadPage.notifications.length;
    invitations = invitationPage.invitations.length;
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
    notifications = invitations = 0;
  };
}
