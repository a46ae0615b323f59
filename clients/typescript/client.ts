// This module is a client of Coffer's REST API. The OpenAPI document defines the types of paths, parameters, bodies and responses.
import createClient from "openapi-fetch";
import type { paths } from "./coffer.js";

/** client returns a client for the Coffer at url. Its requests act for the user of the token, if there is one. */
export function client(url: string, token?: string) {
  return createClient<paths>({ baseUrl: url, headers: token ? { Authorization: `Bearer ${token}` } : {} });
}

/** successful returns the data of a response, or throws an error with the code and message of a failed request. */
export function successful<T, E extends { code: string; message: string }>(answer: { data?: T; error?: E }): T {
  if (answer.data === undefined) {
    throw new Error(`${answer.error?.code}: ${answer.error?.message}`);
  }
  return answer.data;
}
