// Registration of the service worker.

/** startWorker registers the service worker of the build. The development server has none. */
export async function startWorker(): Promise<void> {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  await navigator.serviceWorker.register(trustedURL("/sw.js") as string).catch(() => undefined);
}

interface PolicyFactory {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): unknown };
}

/** trustedURL marks a URL as a script: the Content Security Policy requires trusted types. */
function trustedURL(url: string): unknown {
  const types = (window as { trustedTypes?: PolicyFactory }).trustedTypes;
  return types
    ? types.createPolicy("coffer-worker", { createScriptURL: (text) => text }).createScriptURL(url)
    : url;
}
