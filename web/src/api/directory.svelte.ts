// The wallets, categories and settings of the user. Nearly every screen needs some of them, so they
// are loaded once and kept current.
import { SvelteMap } from "svelte/reactivity";
import { browserZone, today, useDaySettings, type Day } from "../dates/dates";
import { read, write } from "../offline/store";
import { api, fetched } from "./api";
import { isProblem, type Problem } from "./problem";
import { onChange } from "./topics";
import type { Category, Settings, Wallet } from "./types";

let wallets = $state.raw<readonly Wallet[]>([]);
let categories = $state.raw<readonly Category[]>([]);
// Sorted when a screen reads them: the first comparison of names takes the browser long, and Home
// needs none.
const sorted = $derived([...categories].sort((a, b) => a.name.localeCompare(b.name)));
let settings = $state.raw<Partial<Settings> | undefined>();
let day = $state<Day>(today());
let ready = $state(false);
let problem = $state.raw<Problem | undefined>();
/** turn changes when a user signs out, so that an answer for the previous user is dropped. */
let turn = 0;
const walletsById = new SvelteMap<string, Wallet>();
const categoriesById = new SvelteMap<string, Category>();

export const directory = {
  /** ready is true as soon as the lists are loaded, from the server or from the device. */
  get ready(): boolean {
    return ready;
  },
  /** problem is why the lists could not be loaded. */
  get problem(): Problem | undefined {
    return problem;
  },
  /** wallets has archived ones too, in the order of the API: by position, then newest first. */
  get wallets(): readonly Wallet[] {
    return wallets;
  },
  /** settings are undefined until they are loaded, and empty if they could not be loaded. */
  get settings(): Partial<Settings> | undefined {
    return settings;
  },
  /** day is today as of the last change of the settings, which may make another day today. */
  get day(): Day {
    return day;
  },
  get openWallets(): readonly Wallet[] {
    return wallets.filter((wallet) => !wallet.archived);
  },
  /** categories are sorted by name. */
  get categories(): readonly Category[] {
    return sorted;
  },
  wallet: (id: string): Wallet | undefined => walletsById.get(id),
  category: (id: string | undefined): Category | undefined =>
    id ? categoriesById.get(id) : undefined,
};

function setWallets(list: readonly Wallet[]): void {
  wallets = list;
  walletsById.clear();
  wallets.forEach((wallet) => walletsById.set(wallet.id, wallet));
}

function setCategories(list: readonly Category[]): void {
  categories = list;
  categoriesById.clear();
  categories.forEach((category) => categoriesById.set(category.id, category));
}

type Page<T> = { items: readonly T[]; pagination: { nextCursor: string } };

type Load<T> = (query: { limit: number; cursor?: string }) => Promise<Page<T>>;

/** loadAll loads all pages of a list, and stores the list on the device. */
async function loadAll<T>(
  name: string,
  load: Load<T>,
  set: (all: readonly T[]) => void,
): Promise<void> {
  const started = turn;
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const { items, pagination } = await load({ limit: 200, cursor });
    all.push(...items);
    cursor = pagination.nextCursor || undefined;
  } while (cursor);
  if (started !== turn) return;
  set(all);
  await write("snapshot", [name, all]);
}

const loadWallets = () =>
  loadAll("wallets", async (query) => {
    const { wallets: items, pagination } = await api.get("/api/v1/wallet", { query });
    return { items, pagination };
  }, setWallets);
const loadCategories = () =>
  loadAll("categories", async (query) => {
    const { categories: items, pagination } = await api.get("/api/v1/categories", { query });
    return { items, pagination };
  }, setCategories);

function setSettings(loaded: Partial<Settings> | undefined): void {
  settings = loaded;
  useDaySettings(loaded);
  day = today();
}

/** loadSettings loads the settings. If that fails, the earlier ones stay. */
async function loadSettings(): Promise<void> {
  const started = turn;
  const loaded = await currentSettings().catch((error: unknown) => {
    if (!isProblem(error)) throw error;
  });
  if (started !== turn) return;
  setSettings(loaded ?? settings ?? {});
  if (loaded) await write("snapshot", ["settings", loaded]);
}

/**
 * currentSettings returns the settings. If the user has never changed any, it first stores the time
 * zone of the browser, so that the server and all devices agree about which day is today.
 */
async function currentSettings(): Promise<Settings> {
  const { data, version } = await fetched("/api/v1/settings");
  if (data.settings.updatedAt || data.settings.timeZone === browserZone) return data.settings;
  try {
    return (await api.patch("/api/v1/settings", { body: { timeZone: browserZone }, version }))
      .settings;
  } catch (error) {
    if (!isProblem(error)) throw error;
    return data.settings;
  }
}

/** reloadDirectory loads both lists again, for a screen that needs its own change at once. */
export async function reloadDirectory(): Promise<void> {
  const started = turn;
  await Promise.all([loadWallets(), loadCategories()]);
  if (started !== turn) return;
  ready = true;
  problem = undefined;
}

/** retryDirectory loads both lists again after a problem. */
export async function retryDirectory(): Promise<void> {
  await reloadDirectory().catch(keepProblem);
}

function keepProblem(error: unknown): void {
  if (!isProblem(error)) throw error;
  problem = error;
}

/**
 * startDirectory shows the stored lists, loads the current ones, and keeps them current until the
 * returned function is called.
 */
export function startDirectory(): () => void {
  const started = turn;
  void (async () => {
    const [storedWallets, storedCategories, storedSettings] = await Promise.all([
      read<Wallet[]>("snapshot", "wallets"),
      read<Category[]>("snapshot", "categories"),
      read<Settings>("snapshot", "settings"),
    ]);
    if (started === turn) {
      setSettings(storedSettings);
      void loadSettings();
    }
    if (storedWallets && storedCategories && !ready && started === turn) {
      setWallets(storedWallets);
      setCategories(storedCategories);
      ready = true;
    }
  })();
  void retryDirectory();
  const ends = [
    onChange(["settings"], () => void loadSettings()),
    onChange(["wallets"], () => void loadWallets().catch(keepProblem)),
    onChange(["categories"], () => void loadCategories().catch(keepProblem)),
  ];
  return () => {
    ends.forEach((end) => end());
    turn++;
    ready = false;
    problem = undefined;
    setSettings(undefined);
    setWallets([]);
    setCategories([]);
  };
}
