// Module hooks that find imports without an extension, remove the types, and compile the runes of Svelte, as the build does.
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transformSync } from "rolldown/utils";
import { compileModule } from "svelte/compiler";

export function resolve(specifier, context, next) {
  if (specifier.startsWith(".") && context.parentURL?.endsWith(".ts")) {
    const url = new URL(`${specifier}.ts`, context.parentURL);
    if (existsSync(fileURLToPath(url))) return next(url.href, context);
  }
  return next(specifier, context);
}

export function load(url, context, next) {
  if (!url.endsWith(".ts")) return next(url, context);
  const path = fileURLToPath(url);
  const { code, errors } = transformSync(path, readFileSync(path, "utf8"));
  if (errors.length) throw errors[0];
  const source = path.endsWith(".svelte.ts") ? compileModule(code, { filename: path, generate: "client" }).js.code : code;
  return { format: "module", source, shortCircuit: true };
}
