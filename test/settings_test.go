package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	me := newUser(t)
	defaults := me.get("/api/v1/settings").ok("SETTINGS_FETCHED")
	require.Equal(t, object{"timeZone": "UTC", "weekStart": "monday"}, defaults.at("settings"))
	require.Equal(t, `"0"`, defaults.header.Get("ETag"))

	wallet, category := me.wallet("EUR", "0"), me.category("Food")
	changed := me.patch("/api/v1/settings", object{
		"timeZone": "Europe/Berlin", "weekStart": "sunday", "locale": "de-DE",
		"baseCurrency":    "EUR",
		"defaultWalletId": wallet, "defaultCategoryId": category,
	}, "If-Match", `"0"`).ok("SETTINGS_UPDATED")
	require.Equal(t, `"1"`, changed.header.Get("ETag"))
	require.Equal(t, changed.at("settings"), me.get("/api/v1/settings").at("settings"))
	me.patch("/api/v1/settings", object{"weekStart": "saturday"}, "If-Match", `"0"`).
		fails(412, "VERSION_MISMATCH")

	me.del("/api/v1/wallet/" + wallet).ok("WALLET_DELETED")
	left := me.patch("/api/v1/settings", object{"defaultCategoryId": nil, "locale": nil}).
		ok("SETTINGS_UPDATED").at("settings")
	for _, field := range []string{"defaultWalletId", "defaultCategoryId", "locale"} {
		require.NotContains(t, left, field)
	}

	stranger := newUser(t)
	me.patch("/api/v1/settings", object{}).fails(400, "EMPTY_UPDATE")
	me.patch("/api/v1/settings", object{"timeZone": "Mars/Base"}).fails(400, "INVALID_TIME_ZONE").
		blames("timeZone")
	me.patch("/api/v1/settings", object{"weekStart": "friday"}).invalid("weekStart")
	me.patch("/api/v1/settings", object{"locale": "x y"}).invalid("locale")
	me.patch("/api/v1/settings", object{"baseCurrency": "XXQ"}).fails(400, "UNSUPPORTED_CURRENCY").
		blames("baseCurrency")
	me.patch("/api/v1/settings", object{"defaultWalletId": "x"}).fails(400, "WALLET_NOT_FOUND").
		blames("defaultWalletId")
	me.patch("/api/v1/settings", object{"defaultWalletId": stranger.wallet("EUR", "0")}).
		fails(404, "WALLET_NOT_FOUND").blames("defaultWalletId")
	me.patch("/api/v1/settings", object{"defaultCategoryId": "x"}).
		fails(400, "INVALID_CATEGORY_EXIST_PARAMS").blames("defaultCategoryId")
	me.patch("/api/v1/settings", object{"defaultCategoryId": stranger.category("Fun")}).
		fails(404, "INVALID_CATEGORY_EXIST_PARAMS").blames("defaultCategoryId")
}
