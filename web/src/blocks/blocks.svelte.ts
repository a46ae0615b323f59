// The blocks of a list that exist at the current position of the page.
import { untrack } from "svelte";
import { blockSize, heightOf, near, partsOf, type Part } from "./blocks";

/** margin is the height above and below the visible part whose rows exist. */
const margin = 800;

interface List {
  rows: () => number;
  usual: number;
  /** element contains the rows. The first one of each block, and each space, has the attribute data-block. */
  element: () => HTMLElement | undefined;
  /** held is the block that exists wherever the page is scrolled to, or -1. */
  held: () => number;
}

/** visibleBlocks follows the position of the page. It must be called while a component is created. */
export function visibleBlocks(list: List) {
  let scrolled = $state(scrollY);
  let screen = $state(innerHeight);
  let heights = $state.raw<ReadonlyMap<number, number>>(new Map());
  const layout = $derived({ rows: list.rows(), usual: list.usual, heights });
  const range = $derived.by(() => {
    void scrolled;
    const above = -(list.element()?.getBoundingClientRect().top ?? 0);
    return near(layout, above - margin, above + screen + margin);
  });
  const first = $derived(range.first);
  const end = $derived(range.end);
  const parts: Part[] = $derived(partsOf(layout, { first, end }, list.held()));

  $effect(() => {
    const follow = () => {
      scrolled = scrollY;
      screen = innerHeight;
    };
    addEventListener("scroll", follow, { passive: true });
    addEventListener("resize", follow);
    return () => {
      removeEventListener("scroll", follow);
      removeEventListener("resize", follow);
    };
  });

  /** A block keeps its height when it is left: the distance from its first row to the next part. */
  $effect(() => {
    void [parts, screen];
    const tops = [...(list.element()?.querySelectorAll("[data-block]") ?? [])].map((item) => item.getBoundingClientRect().top);
    const bottom = list.element()?.getBoundingClientRect().bottom ?? 0;
    untrack(() => {
      const found = parts.flatMap(({ kind, block }, i) => {
        const height = (tops[i + 1] ?? bottom) - (tops[i] ?? bottom);
        return kind === "rows" && tops.length === parts.length && heightOf(layout, block) !== height ? [[block, height] as const] : [];
      });
      if (found.length) heights = new Map([...heights, ...found]);
    });
  });

  return {
    get parts() {
      return parts;
    },
    /** forget drops the heights, because the list has other rows now. */
    forget() {
      heights = new Map();
    },
    /** of returns the rows of a block. */
    of: <T>(rows: readonly T[], block: number): readonly T[] => rows.slice(block * blockSize, (block + 1) * blockSize),
  };
}
