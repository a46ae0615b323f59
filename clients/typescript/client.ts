// A client of Coffer's REST API. Paths, parameters, bodies and answers are typed by the OpenAPI document.
import createClient from "openapi-fetch";
import type { paths } from "./coffer.js";

/** client speaks to the Coffer at url, for whoever the token belongs to. */
export function client(url: string, token?: string) {
  return createClient<paths>({ baseUrl: url, headers: token ? { Authorization: `Bearer ${token}` } : {} });
}

/** successful returns the data of an answer, or throws what was refused. */
export function successful<T, E extends { code: string; message: string }>(answer: { data?: T; error?: E }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.error?.code}: ${answer.error?.message}`);
  }
  return answer.data;
}
