// The access token, in memory only. The refresh token is in a cookie that scripts cannot read.

/** clientHeader marks requests of the console. The refresh by cookie requires it. */
export const clientHeader = { "X-Coffer-Client": "web" };

interface Token {
  value: string;
  expires: number;
}

type Message = { type: "token"; token: Token } | { type: "signed-out" };

let current: Token | undefined;
let onSignedOut: () => void = () => {};
const channel = new BroadcastChannel("coffer-session");

channel.onmessage = ({ data }: MessageEvent<Message>) => {
  if (data.type === "token") current = data.token;
  else {
    current = undefined;
    onSignedOut();
  }
};

export function accessToken(): string | undefined {
  return current?.value;
}

/** setToken stores the token of a sign-in or refresh, and shares it with the other tabs. */
export function setToken(value: string, expiresIn: number): void {
  current = { value, expires: Date.now() + expiresIn * 1000 };
  channel.postMessage({ type: "token", token: current } satisfies Message);
}

/** dropToken forgets the token in all tabs. */
export function dropToken(): void {
  current = undefined;
  channel.postMessage({ type: "signed-out" } satisfies Message);
}

/** whenSignedOut registers the function that runs when the session ended, in this tab or another one. */
export function whenSignedOut(run: () => void): void {
  onSignedOut = run;
}

/** expiresSoon reports whether the token should be renewed before a long request, such as the stream of events. */
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
 * renewAfter gets another access token after one was rejected, and reports whether the session continues. Only one tab at a time sends
 * a refresh; the others wait for the lock and then find its token.
 */
export async function renewAfter(rejected: string | undefined): Promise<boolean> {
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
    const { accessToken: value, expiresIn } = (await response.json()) as { accessToken: string; expiresIn: number };
    setToken(value, expiresIn);
    return "renewed";
  });
  if (outcome === "ended") {
    current = undefined;
    onSignedOut();
  }
  return outcome === "renewed";
}
