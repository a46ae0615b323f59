import { fly } from "svelte/transition";

/** rise is a transition that moves an element up by y pixels. It takes no time for users who prefer reduced motion. */
export function rise(node: Element, { y, duration }: { y: number; duration: number }) {
  return fly(node, matchMedia("(prefers-reduced-motion: reduce)").matches ? { duration: 0 } : { y, duration });
}
