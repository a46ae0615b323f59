// Languages. Messages are objects of texts and functions. Each screen has its own en.ts and de.ts.
// All languages have the type of en.ts, so a missing text is a type error.
import type commonMessages from "./en";

export type Language = "en" | "de";

/** languages are the names of the languages, each in itself. */
export const languages: Record<Language, string> = { en: "English", de: "Deutsch" };

const chunks = {
  ...import.meta.glob<object>("../screens/*/{en,de}.ts", { import: "default" }),
  ...import.meta.glob<object>("./{en,de}.ts", { import: "default" }),
};

const key = "coffer.language";
const loaded = $state.raw<{ texts: Record<string, object> }>({ texts: {} });
let language = $state<Language>(preferred());
const locale = $derived(navigator.languages.find((tag) => tag.startsWith(`${language}-`)) ?? (language === "de" ? "de-DE" : "en-US"));
const open = new Set<string>();

function preferred(): Language {
  const stored = localStorage.getItem(key);
  if (stored === "en" || stored === "de") return stored;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find((tag): tag is Language => tag in languages) ?? "en";
}

function path(screen: string, of: Language): string {
  return screen === "common" ? `./${of}.ts` : `../screens/${screen}/${of}.ts`;
}

async function load(screen: string, of: Language): Promise<void> {
  const at = path(screen, of);
  if (loaded.texts[at]) return;
  const texts = await chunks[at]!();
  loaded.texts = { ...loaded.texts, [at]: texts };
}

/** loadMessages loads the texts of a screen. The router calls it with the screen's code. */
export async function loadMessages(screen: string): Promise<void> {
  open.add(screen);
  await load(screen, language);
}

/** messages returns the texts of a loaded screen: messages<typeof en>("home"). */
export function messages<Texts>(screen: string): Texts {
  return loaded.texts[path(screen, language)] as Texts;
}

/** common returns the texts that several screens use. */
export function common(): typeof commonMessages {
  return messages("common");
}

export const i18n = {
  get language(): Language {
    return language;
  },
  /** locale is the tag for Intl: the browser's own of the language if it has one, such as de-AT. */
  get locale(): string {
    return locale;
  },
};

/** setLanguage switches to another language, in all tabs, and stores the choice on this device. */
export async function setLanguage(to: Language): Promise<void> {
  await show(to);
  localStorage.setItem(key, to);
}

/** show loads the texts of all open screens in another language, and then switches. */
async function show(to: Language): Promise<void> {
  await Promise.all([...open].map((screen) => load(screen, to)));
  language = to;
  document.documentElement.lang = to;
}

/** startLanguage loads the common texts, and follows a choice of the language in another tab. */
export async function startLanguage(): Promise<void> {
  document.documentElement.lang = language;
  window.addEventListener("storage", (event) => {
    if (event.key === key && (event.newValue === "en" || event.newValue === "de")) void show(event.newValue);
  });
  await loadMessages("common");
}

const rules = new Map<string, Intl.PluralRules>();

/** plural selects a form by a number: plural(n, { one: "# day", other: "# days" }). */
export function plural(n: number, forms: { one: string; other: string }): string {
  const locale = i18n.locale;
  const rule = rules.get(locale) ?? new Intl.PluralRules(locale);
  rules.set(locale, rule);
  const form = rule.select(n) === "one" ? forms.one : forms.other;
  return form.replace("#", new Intl.NumberFormat(locale).format(n));
}
