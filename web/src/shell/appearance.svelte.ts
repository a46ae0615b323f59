// Light and dark mode. The system decides unless the user has chosen one.

export type Appearance = "system" | "light" | "dark";

const key = "coffer.appearance";
const stored = localStorage.getItem(key);
let chosen = $state<Appearance>(stored === "light" || stored === "dark" ? stored : "system");

export const appearance = {
  get chosen(): Appearance {
    return chosen;
  },
};

/** setAppearance switches the colors, and stores the choice on this device. */
export function setAppearance(to: Appearance): void {
  chosen = to;
  localStorage.setItem(key, to);
  apply();
}

/** startAppearance applies the stored choice. */
export function startAppearance(): void {
  apply();
}

function apply(): void {
  if (chosen === "system") delete document.documentElement.dataset.appearance;
  else document.documentElement.dataset.appearance = chosen;
}
