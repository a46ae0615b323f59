// The loaded pages of the transaction list.
import { untrack } from "svelte";
import { SvelteMap } from "svelte/reactivity";
import { api } from "../../api/api";
import { Problem } from "../../api/problem";
import { keepRecent, kept, recentTransactions } from "../../api/recent";
import { withoutRemoved } from "../../api/removals.svelte";
import { onChange } from "../../api/topics";
import type { Transaction, Transfer } from "../../api/types";
import { dayOf } from "../../dates/dates";
import { money, type Money } from "../../money/money";
import { isFiltered, requestOf, type Filters } from "./filters";

export interface Totals {
  readonly count: number;
  readonly capped: boolean;
  readonly sums: readonly { readonly income: Money; readonly expense: Money }[];
}

const firstPage = 60;
const nextPage = 200;
/** mostReloaded is the number of rows that a change reloads at once. Below them the user is told that there are changes. */
const mostReloaded = 600;

/** transactionList loads the transactions that match the filters, page by page. It must be called while a component is created. */
export function transactionList(filters: () => Filters) {
  let rows = $state.raw<readonly Transaction[]>([]);
  let cursor = $state("");
  let totals = $state.raw<Totals | undefined>();
  let problem = $state.raw<Problem | undefined>();
  let ready = $state(false);
  let loading = $state(false);
  let outdated = $state(false);
  let controller = new AbortController();
  /** transfers are those whose legs are listed: a leg does not contain the wallet of the other one. */
  const transfers = new SvelteMap<string, Transfer>();

  const shown = $derived(withoutRemoved(rows));

  async function page(of: Filters, limit: number, after: string | undefined, signal: AbortSignal) {
    const wanted = requestOf(of);
    const request = { ...wanted, walletId: [...wanted.walletId], categoryId: [...wanted.categoryId], tag: [...wanted.tag] };
    const include: "totals"[] | undefined = after ? undefined : ["totals"];
    const answer = await api.get("/api/v1/transaction", { query: { ...request, limit, cursor: after, include }, signal });
    await findTransfers(answer.transactions, after !== undefined, signal);
    return answer;
  }

  /** findTransfers loads the transfers of the legs in a page. Those of earlier pages are loaded again if the list starts again. */
  async function findTransfers(page: readonly Transaction[], known: boolean, signal: AbortSignal) {
    const missing = new Set(page.map(({ transferId }) => transferId).filter((id) => id && !(known && transfers.has(id))));
    const days = page.filter(({ transferId }) => missing.has(transferId)).map(({ date }) => dayOf(date)).sort();
    for (let cursor: string | undefined; missing.size; ) {
      const answer = await api.get("/api/v1/transfers", { query: { from: days[0], to: days.at(-1), limit: nextPage, cursor }, signal });
      for (const transfer of answer.transfers) {
        transfers.set(transfer.id, transfer);
        missing.delete(transfer.id);
      }
      cursor = answer.pagination.nextCursor || undefined;
      if (!cursor) return;
    }
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
      cursor = next;
      totals = totalsOf(first);
      problem = undefined;
      outdated = false;
      ready = true;
      if (!isFiltered(of)) void keepRecent(list);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      problem = error;
    } finally {
      if (!signal.aborted) loading = false;
    }
  }

  async function more(): Promise<void> {
    if (loading || !cursor) return;
    loading = true;
    const { signal } = controller;
    try {
      const answer = await page(filters(), nextPage, cursor, signal);
      if (signal.aborted) return;
      rows = [...rows, ...answer.transactions];
      cursor = answer.pagination.nextCursor;
      problem = undefined;
      if (!isFiltered(filters()) && rows.length < kept + nextPage) void keepRecent(rows);
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
      // The stored rows are on the screen before the first answer, and stay there without a connection.
      if (!isFiltered(wanted)) void recentTransactions().then((stored) => !ready && filters() === wanted && (rows = stored));
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
    /** transferOf returns the transfer of a leg, undefined until it is loaded and without a connection. */
    transferOf: ({ transferId }: Transaction) => (transferId ? transfers.get(transferId) : undefined),
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
    /** outdated is true if there are changes and too many rows are loaded to load them again unasked. */
    get outdated() {
      return outdated;
    },
    more,
    reload: () => load(filters(), 0),
    /** replace shows a changed transaction until the list is loaded again. */
    replace(changed: Transaction) {
      rows = rows.map((row) => (row.id === changed.id ? changed : row));
    },
  };
}

export type TransactionList = ReturnType<typeof transactionList>;

function totalsOf(answer: { totals?: readonly { currency: string; count: number; income: string; expense: string }[]; capped?: boolean }): Totals | undefined {
  if (!answer.totals) return undefined;
  return {
    count: answer.totals.reduce((sum, { count }) => sum + count, 0),
    capped: answer.capped ?? false,
    sums: answer.totals.map(({ currency, income, expense }) => ({ income: money(income, currency), expense: money(expense, currency) })),
  };
}
