// The tags of the user, and their colors.
import { SvelteMap } from "svelte/reactivity";
import { hue } from "../components/color";
import { api } from "./api";
import { resource, type Resource } from "./resource.svelte";
import type { Tag } from "./types";

const colors = new SvelteMap<string, string>();

/** tagColor returns a tag's color as a CSS value: the chosen one, or one that the name gives. */
export function tagColor(name: string): string {
  return colors.get(name) || hue(name);
}

/** tagList loads the tags. It must be called while a component is created. */
export function tagList(): Resource<readonly Tag[]> {
  return resource(
    async (signal) => {
      const { tags } = await api.get("/api/v1/tags", { signal });
      colors.clear();
      for (const { name, color } of tags) if (color) colors.set(name, color);
      return tags;
    },
    ["tags", "transactions"],
  );
}
