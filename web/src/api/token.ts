// The access token, in memory only. The refresh token is in a cookie that scripts cannot read. All
// tabs of the browser share the cookie, so a refresh may return a token of another user, who signed
// in in another tab. A tab uses tokens of its own user only.
import { keepKey } from "../offline/seal";
import type { Answer, Operation } from "./types";

/** clientHeader marks requests of the console. The refresh by cookie requires it. */
export const clientHeader = { "X-Coffer-Client": "web" };

type Refreshed = Answer<Operation<"/api/v1/auth/refresh", "post">>;

interface Token {
  value: string;
  expires: number;
}

/** owner is the id of the user of this tab. */
let owner = "";
let current: Token | undefined;
let onEnded: () => void = () => {};
/** channel shares the tokens of the user with the user's other tabs. */
let channel: BroadcastChannel | undefined;

export function accessToken(): string | undefined {
  return current?.value;
}

/** startTokens accepts tokens of a user from now on. */
export function startTokens(user: string): void {
  dropTokens();
  owner = user;
  channel = new BroadcastChannel(`coffer-token-${user}`);
  channel.onmessage = ({ data }: MessageEvent<Token>) => (current = data);
}

/** dropTokens forgets the token and the user of this tab. */
export function dropTokens(): void {
  channel?.close();
  channel = current = undefined;
  owner = "";
}

/** setToken stores the token of a sign-in or refresh, and shares it with the user's other tabs. */
export function setToken(value: string, expiresIn: number): void {
  current = { value, expires: Date.now() + expiresIn * 1000 };
  channel?.postMessage(current);
}

/** whenEnded registers the function that runs when the session of this tab's user has ended. */
export function whenEnded(run: () => void): void {
  onEnded = run;
}

/** expiresSoon reports whether to renew the token before a long request, such as the events. */
export function expiresSoon(): boolean {
  return !current || current.expires - Date.now() < 60_000;
}

let started: Promise<unknown> = Promise.resolve();

/** startToken gets the first token of a page by the cookie. Requests wait for it. */
export function startToken(): Promise<boolean> {
  const renewed = renewAfter(undefined);
  started = renewed;
  return renewed;
}

/** untilStarted resolves when the first refresh of the page has ended. */
export function untilStarted(): Promise<unknown> {
  return started;
}

/**
 * renewAfter gets another access token after one was rejected, and reports whether the session
 * continues. Only one tab at a time sends a refresh; the others wait for the lock and then find its
 * token. The lock is the same for all users, as the cookie is.
 */
export async function renewAfter(rejected: string | undefined): Promise<boolean> {
  const user = owner;
  const outcome = await navigator.locks.request("coffer-refresh", async () => {
    if (current && current.value !== rejected) return "renewed";
    let response: Response;
    try {
      response = await fetch("/api/v1/auth/refresh?session=cookie", {
        method: "POST",
        headers: { ...clientHeader, "Content-Type": "application/json" },
        body: "{}",
        cache: "no-store",
      });
    } catch {
      return "unreachable";
    }
    if (response.status >= 500 || response.status === 429) return "unreachable";
    if (!response.ok) return "ended";
    const answer = (await response.json()) as Refreshed;
    if (answer.user.id !== user) return "ended";
    if (owner !== user) return "left";
    setToken(answer.accessToken, answer.expiresIn);
    await keepKey(answer.deviceKey);
    return "renewed";
  });
  if (outcome === "ended" && owner === user) onEnded();
  return outcome === "renewed" && owner === user;
}
