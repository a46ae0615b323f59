// Names of devices from User-Agent headers.

interface Device {
  /** name is the program and the system, such as "Chrome, Windows", or empty. */
  readonly name: string;
  readonly phone: boolean;
}

const browsers = [
  [/Edg(?:A|iOS)?\//, "Edge"], [/OPR\//, "Opera"], [/SamsungBrowser\//, "Samsung Internet"],
  [/FxiOS\/|Firefox\//, "Firefox"], [/CriOS\/|Chrome\//, "Chrome"], [/Safari\//, "Safari"],
] as const;
const systems = [
  [/iPhone/, "iPhone"], [/iPad/, "iPad"], [/Android/, "Android"], [/Windows/, "Windows"],
  [/CrOS/, "ChromeOS"], [/Macintosh|Mac OS X/, "macOS"], [/Linux/, "Linux"],
] as const;

/** deviceOf describes the device of a User-Agent header. Other programs show their name. */
export function deviceOf(userAgent: string): Device {
  const find = (list: readonly (readonly [RegExp, string])[]) =>
    list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  const name = browser
    ? [browser, system].filter(Boolean).join(", ")
    : (userAgent.split(" ")[0] ?? "");
  return { name, phone: /iPhone|iPad|Android/.test(userAgent) };
}
