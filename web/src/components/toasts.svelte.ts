// Toasts: short messages at the bottom of the page, with an action such as Undo.
import { common } from "../i18n/i18n.svelte";
import { networkCode, Problem } from "../api/problem";

export interface Action {
  readonly label: string;
  readonly run: () => void;
}

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly note?: string;
  readonly failed?: boolean;
  readonly action?: Action;
}

const shownFor = 6000;
/** grace is the time between the end of a hover or focus and the end of an overdue toast. */
const grace = 1000;
let list = $state.raw<readonly Toast[]>([]);
let next = 1;
const endings = new Map<number, { timer?: ReturnType<typeof setTimeout>; commit?: () => void }>();

export const toasts = {
  get list(): readonly Toast[] {
    return list;
  },
};

function show(toast: Omit<Toast, "id">, commit?: () => void): number {
  const id = next++;
  list = [...list.slice(-2), { ...toast, id }];
  endings.set(id, { timer: setTimeout(() => expire(id), shownFor), commit });
  return id;
}

/** expire dismisses a toast. While the pointer or the focus is on the toasts, resume does. */
function expire(id: number): void {
  const ending = endings.get(id);
  if (ending && document.querySelector(".toasts:is(:hover, :focus-within)"))
    ending.timer = undefined;
  else dismiss(id);
}

/** resume sets the timers of overdue toasts again, after the pointer or the focus left. */
function resume(): void {
  for (const [id, ending] of endings) ending.timer ??= setTimeout(() => expire(id), grace);
}

/** toast shows a text. */
export function toast(text: string): void {
  show({ text });
}

/** offer shows a text with an action, and the question that it answers if there is one. */
export function offer(text: string, note: string | undefined, action: Action): void {
  show({ text, note, action });
}

/** fail shows the message of a problem with its request id, which helps the operator. */
export function fail(error: unknown): void {
  if (!(error instanceof Problem)) throw error;
  show({ text: problemText(error), note: error.requestId ? common().requestId(error.requestId) : undefined, failed: true });
}

/** problemText returns a problem's message, in the user's language if its code is known. */
export function problemText(problem: Problem): string {
  if (problem.code === networkCode) return common().unreachable;
  if (problem.code === "RATE_LIMITED") return common().rateLimited;
  if (problem.code === "VERSION_MISMATCH") return common().conflictTitle;
  if (problem.code === "EMAIL_NOT_VERIFIED") return common().emailNotVerified;
  if (problem.code === "STORAGE_FULL") return common().storageFull;
  return problem.message;
}

/**
 * undoable shows a text with Undo. commit runs when the toast closes or the page is left, undo if
 * the user takes the change back: the API cannot restore what it deleted, so the request waits.
 */
export function undoable(text: string, commit: () => void, undo: () => void): void {
  show({ text, action: { label: common().undo, run: undo } }, commit);
}

/** act runs the action of a toast, and closes the toast without its commit. */
export function act({ id, action }: Toast): void {
  end(id);
  action?.run();
}

/** dismiss closes a toast, and commits its change. */
export function dismiss(id: number): void {
  end(id)?.();
}

function end(id: number): (() => void) | undefined {
  const ending = endings.get(id);
  endings.delete(id);
  clearTimeout(ending?.timer);
  list = list.filter((toast) => toast.id !== id);
  // A removed element may have had the focus, and reports no end of it.
  resume();
  return ending?.commit;
}

/** commitAll commits the changes that wait for their toast, before the page or session ends. */
export function commitAll(): void {
  for (const id of [...endings.keys()]) dismiss(id);
}

window.addEventListener("pagehide", commitAll);
document.addEventListener("pointerout", resume);
document.addEventListener("focusout", resume);
