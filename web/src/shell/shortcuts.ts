// Keyboard shortcuts. A shortcut is one key, or two keys one after the other such as "g h". Keys
// typed into a field are no shortcuts.

type Run = () => void;

const registered = new Map<string, Run[]>();
const sequenceTime = 1200;
let first = "";
let firstAt = 0;

/** shortcuts registers functions by keys until its result is called. The latest of a key wins. */
export function shortcuts(runs: Record<string, Run>): () => void {
  for (const [keys, run] of Object.entries(runs))
    registered.set(keys, [run, ...(registered.get(keys) ?? [])]);
  return () => {
    for (const [keys, run] of Object.entries(runs)) registered.set(keys, (registered.get(keys) ?? []).filter((other) => other !== run));
  };
}

export function startShortcuts(): void {
  document.addEventListener("keydown", press);
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
  const target = event.target as HTMLElement;
  if (target.closest("input, textarea, select, [contenteditable]") || document.querySelector("dialog[open]")) return;
  const sequence = Date.now() - firstAt < sequenceTime ? `${first} ${event.key}` : "";
  const run = registered.get(sequence)?.[0] ?? registered.get(event.key)?.[0];
  if (run) {
    event.preventDefault();
    first = "";
    run();
    return;
  }
  first = event.key;
  firstAt = Date.now();
}
