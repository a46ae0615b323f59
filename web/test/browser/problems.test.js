import assert from "node:assert/strict";
import test from "node:test";
import { account, household, open, password, phone } from "../console.js";

const today = new Date().toISOString().slice(0, 10);

/**
 * forms are the forms of the console. fill completes one so that it can be sent, and problems are the answers to its request: status,
 * code, the field of the detail, and the label of the control at which the message must appear. A code of a state has no detail. Without
 * a label, the message appears in the form, with the request id. opened is a button that the page shows before fill opens the form.
 */
const forms = [
  {
    name: "a new transaction",
    path: () => "/?entry=new",
    request: ["POST", "/api/v1/transaction"],
    async fill(form) {
      await form.getByLabel("Amount").fill("5");
      await form.getByRole("radio", { name: "Groceries" }).check();
    },
    submit: "Save",
    problems: [
      [400, "VALIDATION_ERROR", "amount", "Amount"],
      [400, "VALIDATION_ERROR", "description", "What for?"],
      [400, "VALIDATION_ERROR", "payee", "Payee"],
      [400, "VALIDATION_ERROR", "notes", "Notes"],
      [400, "VALIDATION_ERROR", "tags[0]", "Tags"],
      [409, "LIMIT_REACHED", "tags", "Tags"],
      [400, "UNSUPPORTED_CURRENCY", "currency", "Currency"],
      [400, "INVALID_TRANSACTION_DATE", "date", "Other day"],
      [400, "INVALID_TRANSACTION_TYPE", "type", "Income"],
      [400, "WALLET_NOT_FOUND", "walletId", "Wallet"],
      [404, "WALLET_NOT_FOUND", "walletId", "Wallet"],
      [400, "INVALID_CATEGORY_EXIST_PARAMS", "categoryId", "Groceries"],
      [404, "INVALID_CATEGORY_EXIST_PARAMS", "categoryId", "Groceries"],
      [409, "WALLET_CURRENCY_LIMIT_REACHED", undefined, "Currency"],
      [409, "IDEMPOTENCY_KEY_CONFLICT"],
      [400, "VALIDATION_ERROR", "Idempotency-Key"],
    ],
  },
  {
    name: "a changed transaction",
    path: ({ transactions }) => `/transactions?entry=${transactions[0].id}`,
    request: ["PATCH", "/api/v1/transaction/"],
    fill: (form) => form.getByLabel("Amount").fill("5"),
    submit: "Save",
    problems: [
      [400, "VALIDATION_ERROR", "amount", "Amount"],
      [400, "VALIDATION_ERROR", "description", "What for?"],
      [404, "WALLET_NOT_FOUND", "walletId", "Wallet"],
      [404, "TRANSACTION_NOT_FOUND"],
      [403, "TRANSACTION_OWNER_MISMATCH"],
      [400, "EMPTY_UPDATE"],
    ],
  },
  {
    name: "a split transaction",
    path: () => "/?entry=new",
    request: ["POST", "/api/v1/transaction"],
    async fill(form) {
      await form.getByLabel("Amount", { exact: true }).fill("5");
      await form.getByRole("button", { name: "Split" }).click();
      for (const [n, amount] of [[1, "2"], [2, "3"]]) {
        await form.getByLabel(`Category of part ${n}`).selectOption({ label: "Groceries" });
        await form.getByLabel(`Amount of part ${n}`).fill(amount);
      }
    },
    submit: "Save",
    problems: [
      [400, "SPLIT_SUM_MISMATCH", "splits", "Another part"],
      [400, "VALIDATION_ERROR", "splits[1].amount", "Amount of part 2"],
      [400, "INVALID_CATEGORY_EXIST_PARAMS", "splits[0].categoryId", "Category of part 1"],
      [404, "INVALID_CATEGORY_EXIST_PARAMS", "splits[1].categoryId", "Category of part 2"],
    ],
  },
  {
    name: "a new transfer",
    path: () => "/?entry=new",
    request: ["POST", "/api/v1/transfers"],
    async fill(form) {
      await form.getByRole("radio", { name: "Transfer" }).check();
      await form.getByLabel("From", { exact: true }).selectOption({ label: "Cash" });
      await form.getByLabel("To", { exact: true }).selectOption({ label: "Tokyo" });
      await form.getByLabel("Amount", { exact: true }).fill("5");
      await form.getByLabel("Amount that arrives").fill("800");
    },
    submit: "Save",
    problems: [
      [400, "VALIDATION_ERROR", "amount", "Amount"],
      [400, "VALIDATION_ERROR", "toAmount", "Amount that arrives"],
      [400, "TRANSFER_AMOUNT_MISMATCH", "toAmount", "Amount that arrives"],
      [400, "TRANSFER_SAME_WALLET", undefined, "To"],
      [404, "WALLET_NOT_FOUND", "fromWalletId", "From"],
      [404, "WALLET_NOT_FOUND", "toWalletId", "To"],
      [400, "INVALID_TRANSACTION_DATE", "date", "Other day"],
      [409, "WALLET_CURRENCY_LIMIT_REACHED", undefined, "Currency"],
      [409, "IDEMPOTENCY_KEY_CONFLICT"],
    ],
  },
  {
    name: "a tag",
    path: () => "/settings/tags",
    request: ["PATCH", "/api/v1/tags/"],
    async fill(form) {
      await form.getByRole("button", { name: "Actions for Work" }).click();
      await form.getByRole("menuitem", { name: "Edit" }).click();
      await form.page().getByLabel("Name").fill("Office");
    },
    opened: "Actions for Work",
    submit: "Save",
    problems: [[400, "VALIDATION_ERROR", "name", "Name"], [400, "VALIDATION_ERROR", "color", "Violet"], [404, "TAG_NOT_FOUND"], [409, "LIMIT_REACHED"]],
  },
  {
    name: "the preferences",
    path: () => "/settings/preferences",
    request: ["PATCH", "/api/v1/settings"],
    fill: (form) => form.getByLabel("Time zone").selectOption("Europe/Berlin"),
    submit: "Save",
    problems: [
      [400, "INVALID_TIME_ZONE", "timeZone", "Time zone"],
      [400, "VALIDATION_ERROR", "weekStart", "First day of the week"],
      [400, "VALIDATION_ERROR", "locale", "Regional format"],
      [400, "UNSUPPORTED_CURRENCY", "baseCurrency", "Main currency"],
      [404, "WALLET_NOT_FOUND", "defaultWalletId", "Usual wallet"],
      [404, "INVALID_CATEGORY_EXIST_PARAMS", "defaultCategoryId", "Usual category"],
    ],
  },
  {
    name: "a new budget",
    path: () => "/budgets?budget=new",
    request: ["POST", "/api/v1/budgets"],
    async fill(form) {
      await form.getByLabel("Name").fill("Food");
      await form.getByLabel("Limit").fill("100");
      await form.getByRole("button", { name: "Groceries" }).click();
    },
    submit: "Create budget",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "limit", "Limit"],
      [400, "VALIDATION_ERROR", "alertThresholds", "Alert 1"],
      [400, "VALIDATION_ERROR", "alertThresholds[1]", "Alert 1"],
      [400, "UNSUPPORTED_CURRENCY", "currency", "Currency"],
      [400, "INVALID_BUDGET_PERIOD", "period", "Repeats"],
      [400, "INVALID_BUDGET_TIMEFRAME", "startDate", "First day"],
      [400, "INVALID_BUDGET_TIMEFRAME", "endDate", "Last day"],
      [404, "WALLET_NOT_FOUND", "walletId", "Wallet"],
      [404, "INVALID_CATEGORY_EXIST_PARAMS", "categoryIds[0]", "Groceries"],
      [409, "BUDGET_ALREADY_EXISTS", undefined, "Name", "You have a budget with this name"],
      [409, "BUDGET_LIMIT_REACHED"],
    ],
  },
  {
    name: "an invitation",
    path: ({ budget }) => `/budgets/${budget.id}?share=new`,
    request: ["POST", "/share"],
    fill: (form) => form.getByLabel("E-mail").fill("grace@example.com"),
    submit: "Invite",
    problems: [
      [400, "VALIDATION_ERROR", "email", "E-mail"],
      [400, "VALIDATION_ERROR", "role", "Viewer"],
      [400, "VALIDATION_ERROR", "sharePercent", "Share"],
      [400, "BUDGET_SHARE_EXCEEDED", undefined, "Share", "100"],
      [400, "CANNOT_INVITE_SELF", undefined, "E-mail", ""],
      [409, "BUDGET_MEMBER_ALREADY_EXISTS", undefined, "E-mail", ""],
      [409, "INVITATION_LIMIT_REACHED", undefined, "E-mail", ""],
      [403, "INSUFFICIENT_PERMISSIONS"],
      // Last, because the button then sends a mail.
      [404, "USER_NOT_FOUND", undefined, "E-mail", "No account has this e-mail address"],
    ],
  },
  {
    name: "a new wallet",
    path: () => "/wallets?edit=new",
    request: ["POST", "/api/v1/wallet"],
    fill: (form) => form.getByLabel("Name", { exact: true }).fill("Purse"),
    submit: "Create wallet",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "balance", "Opening balance"],
      [400, "VALIDATION_ERROR", "openingDate", "Opening day"],
      [400, "VALIDATION_ERROR", "color", "Violet"],
      [400, "VALIDATION_ERROR", "icon", "Another emoji"],
      [400, "UNSUPPORTED_CURRENCY", "currency", "Currency", ""],
      [409, "WALLET_LIMIT_REACHED", undefined, undefined, ""],
    ],
  },
  {
    name: "a changed wallet",
    path: ({ wallets }) => `/wallets?edit=${wallets[0].id}`,
    request: ["PATCH", "/api/v1/wallet/"],
    fill: (form) => form.getByLabel("Name", { exact: true }).fill("Purse"),
    submit: "Save",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "initialBalance", "Opening balance"],
      [400, "VALIDATION_ERROR", "openingDate", "Opening day"],
      [400, "VALIDATION_ERROR", "color", "Violet"],
      [404, "WALLET_NOT_FOUND"],
    ],
  },
  {
    name: "a new category",
    path: () => "/categories?edit=new",
    request: ["POST", "/api/v1/categories"],
    fill: (form) => form.getByLabel("Name", { exact: true }).fill("Books"),
    submit: "Create category",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "color", "Violet"],
      [400, "VALIDATION_ERROR", "icon", "Another emoji"],
      [400, "VALIDATION_ERROR", "kind", "Both"],
      [409, "CATEGORY_ALREADY_EXISTS", undefined, "Name", "already have a category"],
      [409, "CATEGORY_LIMIT_REACHED", undefined, undefined, ""],
    ],
  },
  {
    name: "a new webhook",
    path: () => "/webhooks?edit=new",
    request: ["POST", "/api/v1/webhooks"],
    fill: (form) => form.getByLabel("URL").fill("https://example.com/"),
    submit: "Create webhook",
    problems: [
      [400, "VALIDATION_ERROR", "url", "URL"],
      [400, "INVALID_WEBHOOK_URL", "url", "URL", ""],
      [400, "VALIDATION_ERROR", "description", "Note (optional)"],
      [400, "VALIDATION_ERROR", "events[0]", "Only some"],
      [409, "WEBHOOK_LIMIT_REACHED", undefined, undefined, ""],
    ],
  },
  {
    name: "a new rule",
    path: () => "/rules",
    request: ["POST", "/api/v1/rules"],
    async fill(form) {
      await form.getByRole("button", { name: "New rule" }).click();
      await form.page().getByLabel("Name").fill("Market");
    },
    opened: "New rule",
    submit: "Create rule",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "conditions[0].op", "Condition 1: comparison"],
      [400, "VALIDATION_ERROR", "conditions[0].values", "Condition 1: value"],
      [400, "INVALID_RULE_PATTERN", "conditions[0].values", "Condition 1: value"],
      [400, "VALIDATION_ERROR", "actions[0].kind", "Action 1"],
      [404, "INVALID_CATEGORY_EXIST_PARAMS", "actions[0].value", "Action 1: value"],
      [409, "LIMIT_REACHED"],
      [409, "IDEMPOTENCY_KEY_CONFLICT"],
    ],
  },
  {
    name: "a changed rule",
    path: () => "/rules",
    request: ["PATCH", "/api/v1/rules/"],
    async fill(form) {
      await form.getByRole("button", { name: /^Bakery/ }).click();
      await form.page().getByLabel("Name").fill("Baker");
    },
    opened: "Actions for Bakery",
    submit: "Save",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "conditions[0].values[0]", "Condition 1: value"],
      [404, "RULE_NOT_FOUND"],
      [409, "RULE_RUNNING"],
    ],
  },
  {
    name: "the profile",
    path: () => "/settings/profile",
    request: ["PATCH", "/api/v1/auth/me"],
    async fill(form) {
      await form.getByLabel("E-mail", { exact: true }).fill("new@example.com");
      await form.getByLabel("Your password, because the e-mail changes").fill(password);
    },
    submit: "Save",
    problems: [
      [400, "VALIDATION_ERROR", "name", "Name"],
      [400, "VALIDATION_ERROR", "email", "E-mail"],
      [400, "VALIDATION_ERROR", "currentPassword", "Your password, because the e-mail changes"],
      [401, "INVALID_CREDENTIALS", undefined, "Your password, because the e-mail changes", "This is not your password."],
      [409, "EMAIL_ALREADY_EXISTS", undefined, "E-mail", ""],
    ],
  },
  {
    name: "a new password",
    path: () => "/settings/security",
    request: ["PATCH", "/api/v1/auth/password"],
    async fill(form) {
      await form.getByLabel("Current password", { exact: true }).fill(password);
      await form.getByLabel("New password", { exact: true }).fill("another long password");
    },
    submit: "Change the password",
    problems: [
      [400, "VALIDATION_ERROR", "newPassword", "New password"],
      [400, "VALIDATION_ERROR", "currentPassword", "Current password"],
      [401, "INVALID_CREDENTIALS", undefined, "Current password", "This is not your password."],
    ],
  },
];

const ada = await account();
const home = await household(ada, 1);
await ada.post("/wallet", { name: "Tokyo", currency: "JPY", balance: 0 });
await ada.patch(`/transaction/${home.transactions[0].id}`, { tags: ["Work"] });
await ada.post("/rules", { name: "Bakery", conditions: [{ field: "payee", op: "is", values: ["Bakery"] }], actions: [{ kind: "setCategory", value: home.categories[0].id }] });
const { budget } = await ada.post("/budgets", { name: "Rent", currency: "EUR", limit: 100, period: "monthly", startDate: `${today.slice(0, 7)}-01`, walletId: home.wallets[0].id, categoryIds: [home.categories[1].id] });

for (const { name, path, request, fill, opened, submit, problems } of forms) {
  test(`each problem of ${name} appears at its field`, async (t) => {
    const page = await open(t, ada, path({ ...home, budget }), phone);
    const form = page.locator("dialog, main").last();
    await form.getByRole("button", { name: opened ?? submit, exact: true }).first().waitFor();
    await fill(form);
    let answer;
    await page.route(({ pathname }) => pathname.includes(request[1]), (route) => {
      if (route.request().method() !== request[0]) return route.continue();
      return route.fulfill({ status: answer.status, contentType: "application/json", body: JSON.stringify(answer) });
    });
    for (const [i, [status, code, field, label, text]] of problems.entries()) {
      const message = `rejected ${i}`;
      answer = { status, code, message, error: message, requestId: `request-${i}`, ...(field && { details: [{ field, message }] }) };
      const answered = page.waitForResponse((response) => response.request().method() === request[0] && response.url().includes(request[1]));
      await form.getByRole("button", { name: submit, exact: true }).first().click();
      await answered;
      const alert = form.getByRole("alert").filter({ hasText: text ?? message });
      await alert.waitFor();
      assert.equal(await form.getByRole("alert").count(), 1, `${code}: the message of another problem is shown`);
      if (label) {
        const id = await alert.getAttribute("id");
        const at = form.getByLabel(label, { exact: true }).or(form.getByRole("button", { name: label, exact: true })).or(form.getByRole("radio", { name: label })).first();
        assert.ok(await at.evaluate((control, note) => control.closest(`[aria-describedby~="${note}"]`) !== null, id), `${code} does not appear at ${label}`);
      } else if (text === undefined) {
        await alert.getByText(`request-${i}`).waitFor();
      }
    }
  });
}
