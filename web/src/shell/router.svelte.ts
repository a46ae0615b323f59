// The router of the console on the History API. Links are ordinary <a href>; sheets are query
// parameters, so that Back closes them.

/** Route is the current location, split into what the screens need. */
export interface Route {
  readonly path: string;
  readonly screen: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

let patterns: readonly (readonly [pattern: RegExp, screen: string])[] = [];
let current = $state.raw<Route>({ path: "/", screen: "", parameters: {}, query: new URLSearchParams() });

export const router = {
  get route(): Route {
    return current;
  },
};

function match(path: string): Pick<Route, "screen" | "parameters"> {
  for (const [pattern, screen] of patterns) {
    const found = pattern.exec(path);
    if (found) return { screen, parameters: { ...found.groups } };
  }
  return { screen: "missing", parameters: {} };
}

function update(): void {
  const path = location.pathname.replace(/(.)\/+$/, "$1");
  current = { path, ...match(path), query: new URLSearchParams(location.search) };
}

/** navigate shows a location of the console. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace) history.replaceState(history.state, "", to);
  else history.pushState({ inside: true }, "", to);
  const from = current.path;
  update();
  if (current.path !== from) window.scrollTo(0, 0);
}

/** back goes to the previous location if it was in the console, otherwise to the fallback. */
export function back(fallback: string): void {
  if (history.state?.inside) history.back();
  else navigate(fallback, { replace: true });
}

/** withQuery returns the current location with changed query parameters; undefined removes one. */
export function withQuery(changes: Record<string, string | undefined>): string {
  const query = new URLSearchParams(current.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return text ? `${current.path}?${text}` : current.path;
}

/** startRouter reads the location and follows links. routes maps patterns to names of screens. */
export function startRouter(routes: Record<string, string>): void {
  patterns = Object.entries(routes).map(([path, screen]) => [
    new RegExp(`^${path.replace(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
    screen,
  ]);
  update();
  window.addEventListener("popstate", update);
  document.addEventListener("click", follow);
}

/** follow navigates for a plain click on a link into the console. Other links load a page. */
function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin)
    return;
  if (match(link.pathname).screen === "missing") return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
