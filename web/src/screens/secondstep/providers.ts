// Sign-in with identity providers (OpenID Connect).
import { api, newKey } from "../../api/api";
import type { Challenge, SignedIn } from "../../api/session.svelte";
import { explained } from "./problems";

/** Exchanged starts a session, asks for the second step, or tells with neither that an identity is linked. */
type Exchanged = (SignedIn & { mfaToken?: undefined }) | (Challenge & { accessToken?: undefined }) | { accessToken?: undefined; mfaToken?: undefined };

/** exchange ends a sign-in with an identity provider by its code. */
export function exchange(code: string): Promise<Exchanged> {
  return explained(async () => (await api.post("/api/v1/auth/oidc/exchange", { query: { session: "cookie" }, body: { code }, key: newKey() })) as Exchanged);
}
