// Archiving and deletion of wallets.
import { SvelteSet } from "svelte/reactivity";
import { api, fetched, versionSeen } from "../../api/api";
import { isProblem } from "../../api/problem";
import { announce } from "../../api/topics";
import type { Wallet } from "../../api/types";
import { fail, undoable } from "../../components/toasts.svelte";
import type texts from "./en";

type Texts = typeof texts;

export interface Asked {
  readonly wallet: Wallet;
  /** used is true if transactions use the wallet, so that it cannot be deleted. */
  readonly used: boolean;
  /** budgets are the names of the budgets that count only this wallet. */
  readonly budgets: readonly string[];
}

let asked = $state.raw<Asked | undefined>();
const removed = new SvelteSet<string>();

/** isRemoved reports whether a wallet is deleted as soon as its toast closes. */
export function isRemoved(id: string): boolean {
  return removed.has(id);
}

/** deletion is the question that is open, if any. */
export const deletion = {
  get asked(): Asked | undefined {
    return asked;
  },
  close(): void {
    asked = undefined;
  },
};

/** change updates one field of a wallet, and returns the wallet after it. */
async function change(
  id: string,
  body: { archived?: boolean; position?: number },
  version: string,
): Promise<Wallet> {
  return (await api.patch("/api/v1/wallet/{id}", { path: { id }, body, version })).wallet;
}

/** reposition saves the positions of wallets. Only the latest version of them matters. */
export async function reposition(changes: readonly { id: string; position: number }[]): Promise<void> {
  try {
    // A few at a time: a list of 500 wallets must not exceed the rate limit of a user.
    for (let i = 0; i < changes.length; i += 4) await Promise.all(changes.slice(i, i + 4).map(async ({ id, position }) => change(id, { position }, (await fetched("/api/v1/wallet/{id}", { path: { id } })).version)));
  } catch (error) {
    fail(error);
  }
  announce("wallets");
}

/** archive archives or restores a wallet at once. Undo does the opposite. */
export async function archive(wallet: Wallet, archived: boolean, t: Texts): Promise<void> {
  const set = async (to: boolean) => {
    try {
      wallet = await change(
        wallet.id,
        { archived: to },
        await versionSeen("/api/v1/wallet/{id}", wallet),
      );
      announce("wallets");
      return true;
    } catch (error) {
      fail(error);
      announce("wallets");
      return false;
    }
  };
  if (await set(archived)) undoable(archived ? t.wasArchived(wallet.name) : t.wasRestored(wallet.name), () => {}, () => void set(!archived));
}

/** askToDelete deletes an unused wallet, with Undo, and otherwise opens the dialog. */
export async function askToDelete(wallet: Wallet, t: Texts): Promise<void> {
  try {
    const [{ transactions }, budgets] = await Promise.all([
      api.get("/api/v1/transaction", { query: { walletId: [wallet.id], limit: 1 } }),
      budgetsOf(wallet.id),
    ]);
    if (transactions.length || budgets.length)
      asked = { wallet, used: transactions.length > 0, budgets };
    else remove(wallet, t);
  } catch (error) {
    fail(error);
  }
}

async function budgetsOf(walletId: string): Promise<string[]> {
  const { budgets } = await api.get("/api/v1/budgets", { query: { limit: 200 } });
  return budgets.filter((budget) => budget.walletId === walletId).map(({ name }) => name);
}

/** remove hides a wallet and deletes it when the toast closes. */
export function remove(wallet: Wallet, t: Texts): void {
  asked = undefined;
  removed.add(wallet.id);
  undoable(t.wasDeleted(wallet.name), () => void commit(wallet), () => removed.delete(wallet.id));
}

async function commit(wallet: Wallet): Promise<void> {
  try {
    await api.delete("/api/v1/wallet/{id}", { path: { id: wallet.id } });
  } catch (error) {
    removed.delete(wallet.id);
    // A transaction was added while the toast was open.
    if (isProblem(error, "WALLET_IN_USE")) asked = { wallet, used: true, budgets: [] };
    else if (!isProblem(error, "WALLET_NOT_FOUND")) fail(error);
  }
  announce("wallets");
}
