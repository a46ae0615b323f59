package test

import (
	"sync"
)

// exercised has the key "operation code" for each response that a test received.
var exercised sync.Map

// testedElsewhere maps the error codes that a healthy stack does not return, or only after many
// requests, to the tests that cover them.
var testedElsewhere = map[string]string{
	"INTERNAL":            "gateway: an error without a reason",
	"SERVICE_UNAVAILABLE": "TestUnavailableServices",
	"DEADLINE_EXCEEDED":   "gateway: a service that hangs",
	"RATE_LIMITED":        "auth; it would block the address that all tests share",
	"TOKEN_EXPIRED":       "internal/caller",
	"REPORT_TOO_LARGE":    "TestGetSeriesTooLarge",
	// These take hundreds of requests.
	"WALLET_LIMIT_REACHED":                              "TestCreateWalletLimit",
	"WALLET_CURRENCY_LIMIT_REACHED":                     "TestWalletCurrencyLimit",
	"CATEGORY_LIMIT_REACHED":                            "TestCreateCategoryLimit",
	"BUDGET_LIMIT_REACHED":                              "TestCreateBudgetLimit",
	"INVITATION_LIMIT_REACHED":                          "TestShareBudgetPendingLimit",
	"createAttachment TRANSACTION_IS_TRANSFER":          "TestCreateAttachmentOfTransfer",
	"createGoal LIMIT_REACHED":                          "TestCreateGoalLimit",
	"createAssignment LIMIT_REACHED":                    "TestCreateAssignmentLimit",
	"createImport LIMIT_REACHED":                        "TestCreateImport",
	"createRule LIMIT_REACHED":                          "TestCreateRule",
	"updateRule LIMIT_REACHED":                          "TestUpdateRuleSteps",
	"applyRule LIMIT_REACHED":                           "TestApplyRulePreviewSteps",
	"suggestRules LIMIT_REACHED":                        "TestSuggestRulesSteps",
	"suggestCategories LIMIT_REACHED":                   "TestSuggestCategoriesSteps",
	"updateImport LIMIT_REACHED":                        "TestCreateImportSteps",
	"updateImportRows LIMIT_REACHED":                    "TestCreateImportSteps",
	"updateRule RULE_RUNNING":                           "TestApplyRule",
	"applyRule RULE_RUNNING":                            "TestApplyRule",
	"undoRule RULE_RUNNING":                             "TestUndoRuleKilled",
	"STORAGE_FULL":                                      "TestUploadsRejectedWithoutSpace",
	"createImport PAYLOAD_TOO_LARGE":                    "TestOpenBombs",
	"createTransaction LIMIT_REACHED":                   "TestCreateTransactionTagLimit",
	"createTransactions LIMIT_REACHED":                  "TestCreateTransactionTagLimit",
	"updateTransaction LIMIT_REACHED":                   "TestCreateTransactionTagLimit",
	"updateTransactions LIMIT_REACHED":                  "TestCreateTransactionTagLimit",
	"deleteTag LIMIT_REACHED":                           "TestTagErrors",
	"createTransactionsFromReceipt RECEIPT_TOO_COMPLEX": "TestReadLimitsProcessorTime",
	"createTransactionsFromReceipt LIMIT_REACHED":       "TestCreateTransactionsFromReceiptSteps",
	"updateTag LIMIT_REACHED":                           "TestTagErrors",
	"reconcileWallet LIMIT_REACHED":                     "TestReconcileWallet",
	"listChanges SYNC_CURSOR_EXPIRED":                   "TestChangesExpiredCursor",
	"REAUTHENTICATION_REQUIRED":                         "TestAdmitStepUp",
	"EMAIL_NOT_VERIFIED":                                "TestEmailVerification",
	"OIDC_UNAVAILABLE":                                  "TestOidcUnavailable",
	"exchangeOidc LIMIT_REACHED":                        "TestLinkOidc",
	"deletePasskey LAST_FACTOR":                         "TestDeleteOidcIdentity",
	"exchangeOidc ACCOUNT_DELETION_PENDING":             "TestExchangeOidcDuringDeletion",
	"MAIL_UNAVAILABLE":                                  "TestForgotPassword",
	"deleteImport IMPORT_STATE":                         "TestDeleteImport",
	// Keys are stored per refresh token. The token is the whole request, so a key never meets
	// another request.
	"refresh IDEMPOTENCY_KEY_CONFLICT": "cannot occur",
	// So are the keys of links.
	"verifyEmail IDEMPOTENCY_KEY_CONFLICT": "cannot occur",
	"revertEmail IDEMPOTENCY_KEY_CONFLICT": "cannot occur",
	// The session ends with the first request, and the token is the whole request.
	"deleteAccount IDEMPOTENCY_KEY_CONFLICT":         "cannot occur",
	"cancelAccountDeletion IDEMPOTENCY_KEY_CONFLICT": "cannot occur",
	// Their requests have no fields.
	"sendVerification IDEMPOTENCY_KEY_CONFLICT":     "cannot occur",
	"createRecoveryCodes IDEMPOTENCY_KEY_CONFLICT":  "cannot occur",
	"createPasskeyOptions IDEMPOTENCY_KEY_CONFLICT": "cannot occur",
	"PASSKEYS_UNAVAILABLE":                          "TestPasskeysUnavailable",
	"createPasskey LIMIT_REACHED":                   "TestCreatePasskey",
	"loginMfa PASSKEY_CLONED":                       "TestLoginPasskey",
	"loginMfa ACCOUNT_DELETION_PENDING":             "TestLoginPasskeyDuringDeletion",
	"loginPasskey ACCOUNT_DELETION_PENDING":         "TestLoginPasskeyDuringDeletion",
	"reauthenticate PASSKEY_CLONED":                 "TestLoginPasskey",
	"verifyEmail EMAIL_ALREADY_EXISTS":              "TestUpdateMeWithVerification",
}

// untested returns the errors that the OpenAPI document lists and no test has received.
func untested() []string {
	var missing []string
	for _, o := range operations() {
		for _, code := range o.codes() {
			name := o.OperationID + " " + code
			_, ok := exercised.Load(name)
			if !ok && testedElsewhere[code] == "" && testedElsewhere[name] == "" {
				missing = append(missing, name)
			}
		}
	}
	return missing
}
