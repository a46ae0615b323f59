package test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettings(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	defaults := u.get("/api/v1/settings").ok("SETTINGS_FETCHED")
	require.Equal(t, object{"timeZone": "UTC", "weekStart": "monday"}, defaults.at("settings"))
	require.Equal(t, `"0"`, defaults.header.Get("ETag"))

	wallet, category := u.wallet("EUR", "0"), u.category("Food")
	changed := u.patch("/api/v1/settings", object{
		"timeZone": "Europe/Berlin", "weekStart": "sunday", "locale": "de-DE",
		"baseCurrency":    "EUR",
		"defaultWalletId": wallet, "defaultCategoryId": category,
	}, "If-Match", `"0"`).ok("SETTINGS_UPDATED")
	require.Equal(t, `"1"`, changed.header.Get("ETag"))
	require.Equal(t, changed.at("settings"), u.get("/api/v1/settings").at("settings"))
	u.patch("/api/v1/settings", object{"weekStart": "saturday"}, "If-Match", `"0"`).
		fails(412, "VERSION_MISMATCH")

	u.del("/api/v1/wallet/" + wallet).ok("WALLET_DELETED")
	left := u.patch("/api/v1/settings", object{"defaultCategoryId": nil, "locale": nil}).
		ok("SETTINGS_UPDATED").at("settings")
	for _, field := range []string{"defaultWalletId", "defaultCategoryId", "locale"} {
		require.NotContains(t, left, field)
	}

	stranger := newUser(t)
	u.patch("/api/v1/settings", object{}).fails(400, "EMPTY_UPDATE")
	u.patch("/api/v1/settings", object{"timeZone": "Mars/Base"}).fails(400, "INVALID_TIME_ZONE").
		blames("timeZone")
	u.patch("/api/v1/settings", object{"weekStart": "friday"}).invalid("weekStart")
	u.patch("/api/v1/settings", object{"locale": "x y"}).invalid("locale")
	u.patch("/api/v1/settings", object{"baseCurrency": "XXQ"}).fails(400, "UNSUPPORTED_CURRENCY").
		blames("baseCurrency")
	u.patch("/api/v1/settings", object{"defaultWalletId": "x"}).fails(400, "WALLET_NOT_FOUND").
		blames("defaultWalletId")
	u.patch("/api/v1/settings", object{"defaultWalletId": stranger.wallet("EUR", "0")}).
		fails(404, "WALLET_NOT_FOUND").blames("defaultWalletId")
	u.patch("/api/v1/settings", object{"defaultCategoryId": "x"}).
		fails(400, "INVALID_CATEGORY_EXIST_PARAMS").blames("defaultCategoryId")
	u.patch("/api/v1/settings", object{"defaultCategoryId": stranger.category("Fun")}).
		fails(404, "INVALID_CATEGORY_EXIST_PARAMS").blames("defaultCategoryId")
}
