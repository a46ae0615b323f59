// The session of the user: sign-in, sign-out, and the user's profile. localStorage has the profile
// of the user who is signed in in this browser, and all tabs follow it. A tab whose user was
// replaced by another one loads the page again, so that nothing of the former user stays in its
// memory.
import { commitAll } from "../components/toasts.svelte";
import { keepKey } from "../offline/seal";
import { endStore, startStore, write } from "../offline/store";
import { api, forgetAnswers } from "./api";
import { forgetEvents, startLive, stopLive } from "./live.svelte";
import { isProblem } from "./problem";
import { onChange } from "./topics";
import { dropTokens, setToken, startToken, startTokens, whenEnded } from "./token";
import type { Answer, Operation, User } from "./types";

type Status = "starting" | "signed-out" | "signed-in";

let status = $state<Status>("starting");
let user = $state.raw<User | undefined>();
let ended = $state(false);
/** last is the id of the last user of this tab. */
let last = "";
const userKey = "coffer.user";

export const session = {
  get status(): Status {
    return status;
  },
  /** user is the profile; without a connection it is the stored one. */
  get user(): User | undefined {
    return user;
  },
  /** ended is true if the session ended without a sign-out in this browser. */
  get ended(): boolean {
    return ended;
  },
};

/** ownKey returns the key in localStorage of a setting of the signed-in user, not of the device. */
export function ownKey(name: string): string {
  return `coffer.${name}.${user?.id}`;
}

function storedUser(): User | undefined {
  const stored = localStorage.getItem(userKey);
  return stored ? (JSON.parse(stored) as User) : undefined;
}

/** startSession continues the session of the cookie. Offline, it shows the stored data. */
export async function startSession(): Promise<void> {
  whenEnded(() => void leave({ byServer: true }));
  window.addEventListener("storage", follow);
  onChange(["user"], () => void loadUser().catch(quietly));
  const stored = storedUser();
  if (!stored) {
    status = "signed-out";
    return;
  }
  // The screens open at once from the stored snapshot; their requests wait for the refresh.
  begin(stored);
  await connect();
}

/** begin makes this tab the one of a user. */
function begin(of: User): void {
  startStore(of.id);
  startTokens(of.id);
  user = of;
  last = of.id;
  ended = false;
  status = "signed-in";
}

/** connect gets an access token by the cookie. Offline, it runs again with the connection. */
async function connect(): Promise<void> {
  if (!user) return;
  if (await startToken()) {
    startLive();
    await loadUser().catch(quietly);
  } else if (user) {
    window.addEventListener("online", () => void connect(), { once: true });
  }
}

/** follow leaves the session after another tab has signed the user out, or another one in. */
function follow({ key }: StorageEvent): void {
  const changed = key === userKey || key === null;
  if (changed && user && storedUser()?.id !== user.id) void leave();
}

/** quietly ignores a failed request whose result is shown later or again. */
function quietly(error: unknown): void {
  if (!isProblem(error)) throw error;
}

async function loadUser(): Promise<void> {
  const { user: loaded } = await api.get("/api/v1/auth/me");
  // The user may have signed out before the answer.
  if (loaded.id !== user?.id) return;
  user = loaded;
  keepUser(loaded);
}

function keepUser(of: User): void {
  localStorage.setItem(userKey, JSON.stringify(of));
}

/** SignedIn is the answer that starts a session. */
export type SignedIn = Answer<Operation<"/api/v1/auth/login/mfa", "post">>;

/** Challenge is the first step of a sign-in with a second factor. */
export interface Challenge {
  mfaToken: string;
  methods: readonly string[];
}

/**
 * signIn starts a session whose refresh token is in a cookie, or returns the challenge of the second
 * step.
 */
export async function signIn(email: string, password: string, key: string, address?: string): Promise<Challenge | undefined> {
  const answer = await api.post("/api/v1/auth/login", {
    query: { session: "cookie" },
    body: { email, password },
    key,
  });
  if (answer.mfaToken) return answer as Challenge;
  await enter(answer as SignedIn, address);
  return undefined;
}

/**
 * enter makes this tab the one of a user who has signed in. A tab in which another user was signed
 * in before loads the page of the address, so that its memory has nothing of the former user.
 */
export async function enter(answer: SignedIn, address = location.href): Promise<void> {
  const before = storedUser();
  keepUser(answer.user);
  if (before && before.id !== answer.user.id) await forget(before.id, true);
  startStore(answer.user.id);
  await keepKey(answer.deviceKey);
  await write("device", ["signedIn", Date.now()]);
  if (last && last !== answer.user.id) return location.replace(address);
  begin(answer.user);
  setToken(answer.accessToken, answer.expiresIn);
  startLive();
}

/** signOut ends the session on the server and deletes all that the device stores of the user. */
export async function signOut(): Promise<void> {
  commitAll();
  // Without a connection the session stays in the list of sessions, and ends when its refresh token
  // expires.
  await api.post("/api/v1/auth/logout", { body: {} }).catch(quietly);
  await leave({ keep: false });
}

/**
 * leave shows the sign-in screen, or starts again as the user who signed in in another tab. Unsent
 * entries stay on the device with keep; byServer is true if the session ended without a sign-out in
 * this browser.
 */
async function leave({ keep = true, byServer = false } = {}): Promise<void> {
  if (!user) return;
  const { id } = user;
  user = undefined;
  status = "starting";
  stopLive();
  commitAll();
  await forget(id, keep);
  // The removals above still need the token.
  dropTokens();
  forgetEvents();
  forgetAnswers();
  if (storedUser()) return location.replace("/");
  ended = byServer;
  status = "signed-out";
}

/** forget deletes what this browser stores of a user, but not the settings of the device. */
async function forget(id: string, keep: boolean): Promise<void> {
  await endStore(id, keep);
  if ((storedUser()?.id ?? id) !== id) {
    Object.keys(localStorage)
      .filter((key) => key.endsWith(id))
      .forEach((key) => localStorage.removeItem(key));
    return;
  }
  localStorage.clear();
  sessionStorage.clear();
  // The service worker stores files of the build only.
  if (!keep) await Promise.all((await caches.keys()).map((key) => caches.delete(key)));
}
