// Light and dark mode. The system decides unless the user has chosen one.

export type Appearance = "system" | "light" | "dark";

const key = "coffer.appearance";
let chosen = $state<Appearance>(parsed(localStorage.getItem(key)));

function parsed(stored: string | null): Appearance {
  return stored === "light" || stored === "dark" ? stored : "system";
}

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

/** startAppearance applies the stored choice, and follows a choice in another tab. */
export function startAppearance(): void {
  apply();
  window.addEventListener("storage", (event) => {
    if (event.key !== key) return;
    chosen = parsed(event.newValue);
    apply();
  });
}

function apply(): void {
  if (chosen === "system") delete document.documentElement.dataset.appearance;
  else document.documentElement.dataset.appearance = chosen;
}
