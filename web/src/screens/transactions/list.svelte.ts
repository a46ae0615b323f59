// The loaded pages of the transaction list.
import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { api } from "../../api/api";
import { Problem } from "../../api/problem";
import { keepRecent, kept, recentTransactions } from "../../api/recent";
import { withoutRemoved } from "../../api/removals.svelte";
import { onChange } from "../../api/topics";
import type { Transaction, Transfer } from "../../api/types";
import { addDays, dayOf } from "../../dates/dates";
import { money, type Money } from "../../money/money";
import { isFiltered, requestOf, type Filters } from "./filters";

export interface Totals {
  readonly count: number;
  /**
   * newest is the number of the newest transactions that the sums cover, if they do not cover all.
   * Of these, count match the filters.
   */
  readonly newest?: number;
  readonly sums: readonly { readonly income: Money; readonly expense: Money }[];
}

/** isNewest reports whether a list begins with the newest of all transactions. */
const isNewest = (filters: Filters) => !isFiltered(filters) && !filters.sort;

const firstPage = 60;
const nextPage = 200;
/** mostReloaded is the number of rows that a change reloads at once. With more, a notice does. */
const mostReloaded = 600;
/** mostTransferPages is the number of pages of transfers that one page of rows may load. */
const mostTransferPages = 2;
/**
 * matchedDays is the number of days between the legs of most matched transfers. The date of a
 * transfer is that of its leg out.
 */
const matchedDays = 4;

/** Route has the wallets of a transfer. */
export type Route = Pick<Transfer, "fromWalletId" | "toWalletId">;

/**
 * Listed is a transaction with its ETag, for conditional changes. A map of the ETags by id takes the garbage collector 15 ms for 100 000
 * rows, because its keys are internalized.
 */
export type Listed = Transaction & { readonly etag?: string };

/** transactionList loads the matching transactions by pages. Call it while creating a component. */
export function transactionList(filters: () => Filters) {
  let rows = $state.raw<readonly Listed[]>([]);
  let cursor = $state("");
  let totals = $state.raw<Totals | undefined>();
  let problem = $state.raw<Problem | undefined>();
  let ready = $state(false);
  let loading = $state(false);
  let outdated = $state(false);
  let controller = new AbortController();
  /** sending has the rows with changes that are being sent, which a list that is loaded meanwhile may lack. */
  let sending: readonly Listed[] = [];
  /** routes are the known wallets of the listed transfers. A leg has only its own wallet. */
  const routes = new SvelteMap<string, Partial<Route>>();

  const shown = $derived(withoutRemoved(rows));

  async function page(of: Filters, limit: number, after: string | undefined, signal: AbortSignal) {
    const wanted = requestOf(of);
    const copied = (list: readonly string[] = []) => [...list];
    const { walletId, categoryId, tag, exceptWalletId, exceptCategoryId, exceptPayee } = wanted;
    const request = {
      ...wanted,
      walletId: copied(walletId),
      categoryId: copied(categoryId),
      tag: copied(tag),
      exceptWalletId: copied(exceptWalletId),
      exceptCategoryId: copied(exceptCategoryId),
      exceptPayee: copied(exceptPayee),
    };
    const include: ("totals" | "etags")[] = after ? ["etags"] : ["totals", "etags"];
    const answer = await api.get("/api/v1/transaction", {
      query: { ...request, limit, cursor: after, include },
      signal,
    });
    const transactions: Listed[] = answer.transactions.map((row, i) => Object.assign(row, { etag: answer.etags?.[i] }));
    return { ...answer, transactions };
  }

  /** addRoutes adds the wallets of the legs among rows, and returns those without the other leg. */
  function addRoutes(rows: readonly Transaction[]): Transaction[] {
    const single = new Map<string, Transaction>();
    for (const row of rows) {
      const { transferId, walletId, amount } = row;
      if (!transferId) continue;
      routes.set(transferId, {
        ...routes.get(transferId),
        [amount.startsWith("-") ? "fromWalletId" : "toWalletId"]: walletId,
      });
      if (!single.delete(transferId)) single.set(transferId, row);
    }
    return [...single.values()];
  }

  /**
   * findTransfers shows the wallets of the transfers among rows. Where only one leg is listed, as
   * in a list of one wallet, it loads the transfers of these days. The rows do not wait for it. A
   * row whose transfer is not in the loaded pages shows only its description.
   */
  async function findTransfers(rows: readonly Transaction[], again: boolean, signal: AbortSignal): Promise<void> {
    const legs = addRoutes(rows).filter((leg) => again || !routeOf(leg));
    const missing = new Set(legs.map(({ transferId }) => transferId));
    const days = legs.map(({ date }) => dayOf(date)).sort();
    const [first, last] = [days[0], days.at(-1)];
    if (!first || !last) return;
    const { walletId: [walletId, another] } = filters();
    const from = addDays(first, -matchedDays);
    const to = addDays(last, matchedDays);
    try {
      for (let left = mostTransferPages, cursor: string | undefined; missing.size && left > 0; left--) {
        const query = { walletId: another ? undefined : walletId, from, to, limit: nextPage, cursor };
        const answer = await api.get("/api/v1/transfers", { query, signal });
        for (const transfer of answer.transfers) {
          if (missing.delete(transfer.id)) routes.set(transfer.id, transfer);
        }
        cursor = answer.pagination.nextCursor || undefined;
        if (!cursor) return;
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof Problem)) throw error;
    }
  }

  /** routeOf returns the wallets of a leg's transfer, undefined until both are known. */
  function routeOf({ transferId }: Transaction): Route | undefined {
    const { fromWalletId, toWalletId } = routes.get(transferId ?? "") ?? {};
    return fromWalletId && toWalletId ? { fromWalletId, toWalletId } : undefined;
  }

  /** load replaces the rows by the first ones, at least as many as given. */
  async function load(of: Filters, atLeast: number): Promise<void> {
    controller.abort();
    controller = new AbortController();
    const { signal } = controller;
    loading = true;
    try {
      const first = await page(of, Math.min(nextPage, Math.max(firstPage, atLeast)), undefined, signal);
      let list = first.transactions;
      let next = first.pagination.nextCursor;
      while (next && list.length < atLeast) {
        const more = await page(of, nextPage, next, signal);
        list = [...list, ...more.transactions];
        next = more.pagination.nextCursor;
      }
      rows = list;
      show(sending);
      void findTransfers(list, true, signal);
      cursor = next;
      totals = totalsOf(first);
      problem = undefined;
      outdated = false;
      ready = true;
      if (isNewest(of)) void keepRecent(list);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      problem = error;
    } finally {
      if (!signal.aborted) loading = false;
    }
  }

  /** show replaces the rows of changed transactions. Those without an ETag keep that of their rows. */
  function show(changed: readonly Listed[]): void {
    const byId = new Map(changed.map((one) => [one.id, one]));
    rows = rows.map((row) => (byId.has(row.id) ? { etag: row.etag, ...byId.get(row.id)! } : row));
  }

  async function more(): Promise<void> {
    if (loading || !cursor) return;
    loading = true;
    const { signal } = controller;
    try {
      const answer = await page(filters(), nextPage, cursor, signal);
      if (signal.aborted) return;
      rows = [...rows, ...answer.transactions];
      void findTransfers(answer.transactions, false, signal);
      cursor = answer.pagination.nextCursor;
      problem = undefined;
      if (isNewest(filters()) && rows.length < kept + nextPage) void keepRecent(rows);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      problem = error;
    } finally {
      if (!signal.aborted) loading = false;
    }
  }

  $effect(() => {
    const wanted = filters();
    untrack(() => {
      ready = false;
      rows = [];
      totals = undefined;
      void load(wanted, 0);
      // The stored rows are on the screen before the first answer, and stay there without a
      // connection.
      if (isNewest(wanted))
        void recentTransactions().then(
          (stored) => !ready && filters() === wanted && addRoutes((rows = stored)),
        );
    });
  });
  $effect(() =>
    onChange(["transactions"], () => {
      if (rows.length <= mostReloaded) void load(filters(), rows.length);
      else outdated = true;
    }),
  );
  $effect(() => () => controller.abort());

  return {
    /** rows are the loaded transactions without those that were deleted a moment ago. */
    get rows() {
      return shown;
    },
    /** loaded also has those. */
    get loaded() {
      return rows;
    },
    routeOf,
    get totals() {
      return totals;
    },
    get problem() {
      return problem;
    },
    /** ready is true after the first answer. */
    get ready() {
      return ready;
    },
    get loading() {
      return loading;
    },
    get complete() {
      return ready && !cursor;
    },
    /** outdated is true after a change if too many rows are loaded to reload them unasked. */
    get outdated() {
      return outdated;
    },
    more,
    reload: () => load(filters(), 0),
    /** replace shows changed transactions until the list is loaded again. */
    replace: (...changed: readonly Listed[]) => show(changed),
    /** send shows transactions with changes that are being sent until it is called again. */
    send(...changed: readonly Listed[]) {
      sending = changed;
      show(changed);
    },
  };
}

export type TransactionList = ReturnType<typeof transactionList>;

interface TotalsAnswer {
  totals?: readonly { currency: string; count: number; income: string; expense: string }[];
  capped?: boolean;
  cappedAt?: number;
}

function totalsOf(answer: TotalsAnswer): Totals | undefined {
  if (!answer.totals) return undefined;
  const count = answer.totals.reduce((sum, { count }) => sum + count, 0);
  return {
    count,
    // A ledger of the previous release does not say how many.
    newest: answer.capped ? (answer.cappedAt ?? count) : undefined,
    sums: answer.totals.map(({ currency, income, expense }) => ({
      income: money(income, currency),
      expense: money(expense, currency),
    })),
  };
}
