// The round trip of a sign-in to an identity provider and back.
import { navigate, router } from "../../shell/router.svelte";

/** startOf returns the URL that leads to an identity provider, which sends the browser back to a path of the console. */
export function startOf(provider: string, returnTo: string): string {
  return `/api/v1/auth/oidc/${provider}/start?${new URLSearchParams({ returnTo })}`;
}

/** takeCode returns the code with which the browser came back, if it did. It must not stay in the history of the browser. */
export function takeCode(): string | undefined {
  const code = /^#oidc=(.+)/.exec(location.hash)?.[1];
  if (code) navigate(router.route.path + location.search, { replace: true });
  return code;
}
