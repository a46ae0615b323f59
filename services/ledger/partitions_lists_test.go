package ledger

// acrossOwners has the statements that read rows of several owners, or of an owner that the planner
// cannot derive from the parameters, and the reason.
var acrossOwners = map[string]string{
	// Background statements, which only read.
	"accounts.selectExpired":    "finds what has expired, of all owners",
	"attachments.selectStopped": "finds what has expired, of all owners",
	"erasure.selectDue":         "finds what is to be erased, of all owners",
	"erasure.selectPublishing":  "the owner is the user_id of the outbox",
	"files.selectExpired":       "finds what has expired, of all owners",
	"staging.selectAbandoned":   "finds what has expired, of all owners",
	"idem.selectExpired":        "finds what has expired, of all owners",
	"staging.emptyUndone":       "finds the next import that was undone, of all owners",
	"rules.selectApplications":  "finds the changes that have expired, of all owners",
	"sync.selectSwept":          "finds what has expired, of all owners",
	"jobs.selectWaiting":        "finds the next jobs, of all owners",

	// Requests.
	"posting.selectOfOthers": "without a lock, for ids that the owner does not have",
}

// unrecorded has the statements that the test does not run, and the reason.
var unrecorded = map[string]string{
	"booking.selectDerivations":   "reports which jobs of any owner still run, in the background",
	"distribution.distribute":     "distributes the tables on Citus, see package distribution",
	"distribution.replaceActions": "alters foreign keys on Citus, see package distribution",
	"distribution.selectTables":   "reads the catalog, see package distribution",
	"jobs.selectUnfinished":       "counts the jobs of all owners, for metrics",
	"sync.numberRows":             "numbers rows of a release before ADR 83",
	"verify.selectOwnerAfter":     "finds the next owner of all, in the background",

	// The relay of the outbox, which needs NATS.
	"outbox.deleteByUser": "needs NATS; its user is a parameter",
	"outbox.oldestAge":    "finds the oldest event of all users, for a metric",
	"outbox.relay":        "reads no table",
	"outbox.relayOnce":    "finds the next events of all users, in the background",

	// Moves of files, which need a store.
	"files.selectEmbeddedAttachments": "finds the next files of all owners, in the background",
	"files.selectEmbeddedImages":      "finds the next files of all owners, in the background",
	"files.selectStoredAttachments":   "finds the next files of all owners, for a command",
	"files.selectStoredImages":        "finds the next files of all owners, for a command",
	"files.selectAttachmentContent":   "needs a store; its owner is a parameter",
	"files.selectImageContent":        "needs a store; its owner is a parameter",
	"files.storeAttachment":           "needs a store; its owner is a parameter",
	"files.storeImage":                "needs a store; its owner is a parameter",
	"files.embedAttachment":           "needs a store; its owner is a parameter",
	"files.embedImage":                "needs a store; its owner is a parameter",
	"files.insertChunks":              "needs a store; its owner is a parameter",
	"files.deleteChunks":              "needs a store; its owner is a parameter",
	"files.insertUnreferenced":        "needs a store; its owner is a parameter",
	"files.insertUnknown":             "needs a store; its owner is a parameter",
	"files.deleteListed":              "needs a store; its owner is a parameter",
	"files.deleteRemoved":             "needs a store; its owner is a parameter",
}

// undistributed has the statements of shared packages that do not run on a distributed database,
// and the reason.
var undistributed = map[string]string{
	"idem.Expire":             "of services whose tables have no owners",
	"jobs.Due":                "of the budget service",
	"jobstest.Leases":         "for tests only",
	"outbox.advanceWatermark": "of an outbox on one server, see outbox.RelayDistributed",
	"outbox.deleteEvents":     "of an outbox on one server, see outbox.RelayDistributed",
}
