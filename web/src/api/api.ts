// Typed requests to the API. openapi-fetch is not used, because it parses JSON numbers to doubles;
// the types are generated from the same OpenAPI document (build/types.js).
import { parseJSON, stringifyJSON } from "../money/json";
import type { paths } from "./coffer";
import { confirmed } from "./confirmation.svelte";
import { isProblem, networkCode, Problem, problemOf } from "./problem";
import { accessToken, clientHeader, renewAfter, untilStarted } from "./token";
import type { Answer, Method, Operation, PathsWith, Request } from "./types";
import { upload } from "./upload";

/** Fetched is an answer with its version, the ETag for a later PATCH. */
export interface Fetched<T> {
  data: T;
  version: string;
}

/** cached holds the last answers with an ETag by URL, for requests that are answered with 304. */
const cached = new Map<string, Fetched<unknown>>();
const cacheSize = 60;

/** forgetAnswers empties the cache when a user signs out. */
export function forgetAnswers(): void {
  cached.clear();
}

function url(template: string, path: object | undefined, query: object | undefined): string {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((path as Record<string, unknown>)[name])),
  );
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value === undefined || value === "" || value === null) continue;
    for (const item of Array.isArray(value) ? value : [value])
      parameters.append(name, String(item));
  }
  const text = parameters.toString();
  return text ? `${filled}?${text}` : filled;
}

type Options = Request<unknown> & { body?: unknown };

async function send(method: Method, at: string, options: Options): Promise<Response> {
  const headers = new Headers({ Accept: "application/json", ...clientHeader });
  const token = accessToken();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  if (options.key) headers.set("Idempotency-Key", options.key);
  if (options.version) headers.set("If-Match", options.version);
  const known = method === "get" ? cached.get(at) : undefined;
  if (known) headers.set("If-None-Match", known.version);
  let body: BodyInit | undefined;
  const given: unknown = options.body;
  if (given instanceof FormData) body = given;
  else if (given !== undefined) {
    headers.set("Content-Type", "application/json");
    body = stringifyJSON(given);
  }
  try {
    const init = { method: method.toUpperCase(), headers, signal: options.signal };
    if (body instanceof FormData && options.progress)
      return await upload(at, { ...init, body }, options.progress);
    // A deletion is also sent while the page is left, when the time for Undo ends early.
    const keepalive = method === "delete" || at.endsWith("/delete");
    return await fetch(at, { ...init, body, cache: "no-store", keepalive });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    return unreachable();
  }
}

/** unreachable throws the problem of a request without an answer, or whose answer breaks off. */
function unreachable(): never {
  throw new Problem(networkCode, "The server cannot be reached");
}

type Read<T> = (response: Response) => Promise<T>;

/**
 * request sends a request, and once more after a refresh if the access token has expired, or after
 * the user has confirmed the identity. It returns the result of read.
 */
async function request<T>(method: Method, at: string, options: Options, read: Read<T>): Promise<T> {
  await untilStarted();
  const token = accessToken();
  try {
    return await read(await send(method, at, options));
  } catch (error) {
    if (isProblem(error, "REAUTHENTICATION_REQUIRED") && (await confirmed()))
      return await read(await send(method, at, options));
    const ended = isProblem(error, "TOKEN_EXPIRED") || isProblem(error, "UNAUTHORIZED");
    if (!ended || !token || !(await renewAfter(token))) throw error;
    return await read(await send(method, at, options));
  }
}

/** parsed returns the answer of a response, from the cache for 304, or throws its problem. */
async function parsed(method: Method, at: string, response: Response): Promise<Fetched<unknown>> {
  const known = cached.get(at);
  if (response.status === 304 && known) return known;
  const text = await response.text().catch(unreachable);
  const data = parseBody(text);
  if (!response.ok) throw problemOf(response.status, data);
  const answer = { data, version: response.headers.get("ETag") ?? "" };
  if (method === "get" && answer.version) remember(at, answer);
  return answer;
}

function parseBody(text: string): unknown {
  try {
    return parseJSON(text);
  } catch {
    return undefined;
  }
}

/** remember adds an answer to the cache, and removes the oldest one if the cache is full. */
function remember(at: string, answer: Fetched<unknown>): void {
  cached.delete(at);
  cached.set(at, answer);
  const [oldest = at] = cached.keys();
  if (cached.size > cacheSize) cached.delete(oldest);
}

/** call sends a request of an operation. Without read, the answer is JSON. */
function call<T = Fetched<unknown>>(method: Method, path: string, options: object = {}, read?: Read<T>) {
  const given = options as Request<unknown>;
  const at = url(path, given.path, given.query);
  return request(method, at, given, read ?? (((response: Response) => parsed(method, at, response)) as never));
}

function caller<M extends Method>(method: M) {
  return async <P extends PathsWith<M>>(
    path: P,
    options?: Request<Operation<P, M>>,
  ): Promise<Answer<Operation<P, M>>> =>
    (await call(method, path, options)).data as Answer<Operation<P, M>>;
}

function versioned<M extends Method>(method: M) {
  return <P extends PathsWith<M>>(path: P, options?: Request<Operation<P, M>>) =>
    call(method, path, options) as Promise<Fetched<Answer<Operation<P, M>>>>;
}

/** fetched returns a single resource together with its version. */
export const fetched = versioned("get");

/** patched changes a resource, and returns it together with its new version. */
export const patched = versioned("patch");

/**
 * versionSeen returns the version of a resource that the user saw in a list, because lists contain
 * no versions. If the resource has changed since, it throws the same problem as a PATCH with an old
 * version.
 */
export async function versionSeen<P extends PathsWith<"get">>(
  path: P,
  { id, updatedAt }: { id: string; updatedAt: string },
): Promise<string> {
  const { data, version } = await call("get", path, { path: { id } });
  const changed = Object.values(data as object).some(
    (of: { updatedAt?: string }) => of.updatedAt && of.updatedAt !== updatedAt,
  );
  if (changed) throw new Problem("VERSION_MISMATCH", "The resource has changed", 412);
  return version;
}

/** download returns a file without a type, so that the browser never opens it as a page. */
export function download<P extends PathsWith<"get">>(
  path: P,
  options?: Request<Operation<P, "get">>,
): Promise<Blob> {
  return call("get", path, options, async (response) => {
    if (!response.ok) throw problemOf(response.status, parseBody(await response.text().catch(unreachable)));
    return new Blob([await response.blob().catch(unreachable)]);
  });
}

/** api sends requests and returns the bodies of answers. A failed request throws a Problem. */
export const api = { get: caller("get"), post: caller("post"), patch: caller("patch"), delete: caller("delete") };

/** newKey returns an Idempotency-Key. A form generates one when it opens. */
export function newKey(): string {
  return crypto.randomUUID();
}

/**
 * nextKey returns the Idempotency-Key for the next attempt after a problem. An attempt without an
 * answer, or with a failure of the server, may have succeeded: its key prevents a second resource.
 * After all other problems, such as the conflict of a form that was changed since, the key is new.
 */
export function nextKey(key: string, { status }: Problem): string {
  return status && status < 500 ? newKey() : key;
}

export type { paths };
