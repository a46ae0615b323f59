// Live events of the server. EventSource cannot send a bearer token, so the stream is read with
// fetch. It continues after the last event that it read, also after the device slept.
import { accessToken, clientHeader, expiresSoon, renewAfter } from "./token";
import { announce, announceLater, topicsOf } from "./topics";

let connected = $state(true);
let lastId = "";
let controller: AbortController | undefined;

export const live = {
  /** connected is false while the stream is interrupted. */
  get connected(): boolean {
    return connected;
  },
};

/** startLive reads events until stopLive. */
export function startLive(): void {
  stopLive();
  controller = new AbortController();
  void run(controller.signal);
}

export function stopLive(): void {
  controller?.abort();
  controller = undefined;
}

/** forgetEvents makes the next stream start with new events, for another user. */
export function forgetEvents(): void {
  lastId = "";
}

async function run(signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const read = await readStream(signal).catch(() => false);
    if (signal.aborted) return;
    failures = read ? 0 : failures + 1;
    // One failure may be the regular end of a stream. The line "not connected" should not flicker.
    connected = failures < 2;
    await pause(backoff(failures), signal);
  }
}

/** backoff returns up to 30 s, with jitter so that clients of a restarted server spread out. */
function backoff(failures: number, random = Math.random()): number {
  return Math.min(30_000, 500 * 2 ** failures) * (0.5 + random / 2);
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      window.removeEventListener("online", finish);
      document.removeEventListener("visibilitychange", finish);
      resolve();
    };
    const timer = setTimeout(finish, milliseconds);
    window.addEventListener("online", finish);
    document.addEventListener("visibilitychange", finish);
    signal.addEventListener("abort", finish, { once: true });
  });
}

/** readStream reads one stream to its end, and reports whether the server accepted it. */
async function readStream(signal: AbortSignal): Promise<boolean> {
  const rejected = accessToken();
  if (expiresSoon() && !(await renewAfter(rejected))) return false;
  const response = await fetch("/api/v1/events", {
    headers: {
      ...clientHeader,
      Authorization: `Bearer ${accessToken()}`,
      ...(lastId && { "Last-Event-ID": lastId }),
    },
    cache: "no-store",
    signal,
  });
  if (response.status === 401) {
    await renewAfter(accessToken());
    return false;
  }
  if (response.status === 400) lastId = "";
  if (!response.ok || !response.body) return false;
  connected = true;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    blocks.forEach(receive);
  }
}

function receive(block: string): void {
  let type = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id:")) lastId = line.slice(3).trim();
    if (line.startsWith("event:")) type = line.slice(6).trim();
  }
  // Imports send an event for each 500 rows.
  if (type) (type.includes(".transactions.") ? announceLater : announce)(...topicsOf(type));
}
