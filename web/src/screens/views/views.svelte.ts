// The saved views of the user.
import { api, type paths } from "../../api/api";
import { resource, type Resource } from "../../api/resource.svelte";

export type View = paths["/api/v1/views"]["get"]["responses"][200]["content"]["application/json"]["views"][number];

/** viewList loads the views. It must be called while a component is created. */
export function viewList(): Resource<readonly View[]> {
  return resource(async (signal) => (await api.get("/api/v1/views", { signal })).views, ["views"]);
}
