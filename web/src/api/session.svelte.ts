// The session of the user: sign-in, sign-out, and the user's profile.
import { commitAll } from "../components/toasts.svelte";
import { startStore, wipe } from "../offline/store";
import { api, forgetAnswers } from "./api";
import { forgetEvents, startLive, stopLive } from "./live.svelte";
import { isProblem } from "./problem";
import { onChange } from "./topics";
import { dropToken, setToken, startToken, whenSignedOut } from "./token";
import type { User } from "./types";

type Status = "starting" | "signed-out" | "signed-in";

let status = $state<Status>("starting");
let user = $state.raw<User | undefined>();
const userKey = "coffer.user";

export const session = {
  get status(): Status {
    return status;
  },
  /** user is the profile; without a connection it is the stored one. */
  get user(): User | undefined {
    return user;
  },
};

/** startSession continues the session of the cookie. Without a connection the stored data of the last user are shown. */
export async function startSession(): Promise<void> {
  whenSignedOut(() => void leave());
  onChange(["user"], () => void loadUser().catch(quietly));
  await continueSession();
}

/**
 * continueSession gets an access token by the cookie, if a user has signed in on this device. Without a connection it is called again
 * when the connection returns.
 */
async function continueSession(): Promise<void> {
  const stored = localStorage.getItem(userKey);
  if (!stored) {
    status = "signed-out";
    return;
  }
  // The screens open at once from the stored snapshot; their requests wait for the refresh.
  user = JSON.parse(stored) as User;
  status = "signed-in";
  if (await startToken()) {
    startLive();
    await loadUser().catch(quietly);
  } else if (status === "signed-in") {
    window.addEventListener("online", () => void continueSession(), { once: true });
  }
}

/** quietly ignores a failed request whose result is shown later or again. */
function quietly(error: unknown): void {
  if (!isProblem(error)) throw error;
}

async function loadUser(): Promise<void> {
  const { user: loaded } = await api.get("/api/v1/auth/me");
  keepUser(loaded);
}

function keepUser(loaded: User): void {
  user = loaded;
  localStorage.setItem(userKey, JSON.stringify(loaded));
}

/** signIn starts a session whose refresh token is in a cookie. */
export async function signIn(email: string, password: string, key: string): Promise<void> {
  const answer = await api.post("/api/v1/auth/login", { query: { session: "cookie" }, body: { email, password }, key });
  startStore();
  forgetEvents();
  setToken(answer.accessToken, answer.expiresIn);
  keepUser(answer.user);
  status = "signed-in";
  startLive();
}

/** signOut ends the session on the server and deletes everything that is stored on the device. */
export async function signOut(): Promise<void> {
  commitAll();
  // Without a connection the session stays in the list of sessions, and ends when its refresh token expires.
  await api.post("/api/v1/auth/logout", { body: {} }).catch(quietly);
  dropToken();
  await leave();
}

/** leave shows the sign-in screen after the session ended, and deletes the stored data. */
async function leave(): Promise<void> {
  stopLive();
  forgetEvents();
  forgetAnswers();
  user = undefined;
  status = "signed-out";
  await wipe();
}
