// The goals of the user with the wallets whose money is assigned to them.
import { api } from "../../api/api";
import { resource, type Resource } from "../../api/resource.svelte";
import type { Goal, GoalWallet } from "../../api/types";

export interface Goals {
  readonly goals: readonly Goal[];
  readonly wallets: readonly GoalWallet[];
}

/** goalList loads all goals. A user has at most 200. It must be called while a component is created. */
export function goalList(): Resource<Goals> {
  return resource(async (signal) => {
    const { goals, wallets } = await api.get("/api/v1/goals", { query: { limit: 200 }, signal });
    return { goals, wallets };
  }, ["goals"]);
}
