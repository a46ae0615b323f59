// The rows of the table that exist at the current position of the page.
import { untrack } from "svelte";
import type { Transaction } from "../../api/types";
import { shownOf, type Shown } from "./shown";

/** margin is the number of rows above and below the visible part of the page that exist. */
const margin = 6;
/** pause is the time without a movement of the page after which it has stopped, in milliseconds. */
const pause = 150;

interface Table {
  rows: () => readonly Transaction[];
  /** rowHeight is the height of each row in pixels. */
  rowHeight: number;
  /** element contains the rows. */
  element: () => HTMLElement | undefined;
  /** held is the number of the row that exists wherever the page is scrolled to, because it has the focus. */
  held: () => number;
  /** lost is called after the row with the focus was deleted. */
  lost: () => void;
}

/** existingRows follows the position of the page. It must be called while a component is created. */
export function existingRows({ rows, rowHeight, element, held, lost }: Table) {
  /** above is the distance from the first row to the visible part of the page. */
  let above = $state(0);
  let height = $state(innerHeight);
  let moving = $state(false);
  /** jumped is true after a movement by more than a screen, which passes by the rows outside of the visible part. */
  let jumped = $state(false);
  let stop: ReturnType<typeof setTimeout> | undefined;
  const around = $derived(jumped ? 0 : margin);
  /** count is the same at each position, so that elements are reused and not created. */
  const count = $derived(Math.min(rows().length, Math.ceil(height / rowHeight) + 1 + 2 * around));
  const first = $derived(Math.max(0, Math.min(rows().length - count, Math.floor(above / rowHeight) - around)));
  const end = $derived(first + count);
  let former: readonly Shown[] = [];
  const shown = $derived((former = shownOf(rows(), { first, end }, held(), former, moving)));
  let focused: HTMLElement | undefined;
  /** focusedId is the id of the row with the focus. */
  let focusedId: string | undefined;

  /** follow reads the position before anything is written, so that it does not cause a layout. */
  function follow() {
    above = -(element()?.getBoundingClientRect().top ?? 0);
    height = innerHeight;
  }

  function move() {
    const before = above;
    follow();
    moving = true;
    jumped = Math.abs(above - before) > height;
    clearTimeout(stop);
    stop = setTimeout(() => (moving = jumped = false), pause);
  }

  $effect(() => {
    addEventListener("scroll", move, { passive: true });
    addEventListener("resize", follow);
    return () => {
      clearTimeout(stop);
      removeEventListener("scroll", move);
      removeEventListener("resize", follow);
    };
  });
  $effect(() => {
    void rows();
    follow();
  });
  // An element that is moved among the others loses the focus.
  $effect.pre(() => {
    void shown;
    const { activeElement } = document;
    focused = activeElement instanceof HTMLElement && element()?.contains(activeElement) ? activeElement : undefined;
    focusedId = focused?.closest<HTMLElement>("[data-id]")?.dataset.id;
  });
  $effect(() => {
    void shown;
    const exists = focusedId === undefined || shown.some(({ row }) => row.id === focusedId) || rows().some(({ id }) => id === focusedId);
    // The element of a deleted row shows another row.
    if (!exists) untrack(lost);
    else if (document.activeElement === document.body) focused?.focus({ preventScroll: true });
  });

  return {
    get shown() {
      return shown;
    },
    /** end is the number of the first row below those that exist. */
    get end() {
      return end;
    },
  };
}
