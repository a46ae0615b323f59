package receipt

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/coffer-budget/coffer/services/ocr/receipt/printed"
)

func TestFindMerchantsJoinsLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, want string }{
		{
			"OLD HARBOUR HARDWARE\nENTERPRISE (NORTH\nQUAY) SDN BHD\n(123456-X)",
			"OLD HARBOUR HARDWARE ENTERPRISE (NORTH QUAY) SDN BHD",
		},
		{
			"OLD HARBOUR HARDWARE\nENTERPRISE CNORTH\nQUAY) SDN BHD\n(123456-X)",
			"OLD HARBOUR HARDWARE ENTERPRISE CNORTH QUAY) SDN BHD",
		},
		{
			"OLD HARBOUR HARDWARE\nENTERFRISE (NORTH\nQUAY) SDN BHD\n(123456-X)",
			"OLD HARBOUR HARDWARE ENTERFRISE (NORTH QUAY) SDN BHD",
		},
		{
			"OLD HARBOUR HARDWARE\nENTERPRISE (NORTH\nQUAY) SUM BHF\n123456-X",
			"OLD HARBOUR HARDWARE ENTERPRISE (NORTH QUAY) SDN BHD",
		},
		{
			"OLD HARBOUR HARDWARE\nENTERFRISE TNORTH\nQUAY SDN BHI\n123456-X",
			"OLD HARBOUR HARDWARE ENTERFRISE TNORTH QUAY SDN BHD",
		},
		{"OLD HARBOUR\nENTERPRISE\nBLUE DOOR SDN BHD", "OLD HARBOUR ENTERPRISE"},
		{
			"REDEEM VOUCHER BEFORE POINTS EXPIRE\nGREEN & CO SDN BHD\n12 Mill Road",
			"GREEN & CO SDN BHD",
		},
		{
			"There is always something to do.\nFERN GARDEN CENTRE\n12 Mill Street",
			"FERN GARDEN CENTRE",
		},
		{
			"OLD HARBOUR HARDWARE\nCO. (M) SDN BHD\n12 Mill Street",
			"OLD HARBOUR HARDWARE CO. (M) SDN BHD",
		},
		{"OLD HARBOUR\n(M) SDN BHD\n12 Mill Street", "OLD HARBOUR (M) SDN BHD"},
		{"OLD HARBOUR AND\nDAUGHTERS LTD\n12 Mill Street", "OLD HARBOUR AND DAUGHTERS LTD"},
		{"OLD HARBOUR &\nSONS LTD\n12 Mill Street", "OLD HARBOUR & SONS LTD"},
		{"BLUE DOOR\nTRADING\n12 Mill Street\nTel 555 0142", "BLUE DOOR TRADING"},
		{"Shopping that is fun.\nBLUE DOOR GmbH\n12 Mill Street", "BLUE DOOR GmbH"},
	} {
		require.Equal(t, tc.want, readText(tc.text+"\nTotal 5.00").Merchant)
	}
}

func TestFindMerchantsChoosesSeller(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ text, want string }{
		"name above the registration number": {
			"Open From Dawn To Dusk\nFern & Moss Garden Centre\n(123456-X)\nMill Road",
			"Fern & Moss Garden Centre",
		},
		"registration number first on the next line": {
			"Open From Dawn To Dusk\nFern & Moss Garden Centre\n" +
				"(Co. No. 123456-X) GST No. 000123456789\nMill Road",
			"Fern & Moss Garden Centre",
		},
		"address that names a company": {
			"FERN & MOSS\nLOT 12,\nNORTH QUAY SERVICES,\nHIGHWAYS BERHAD\nTel 555 0142",
			"FERN & MOSS",
		},
		"street above the name": {"Mühlenstraße 12\n12345 Neustadt\nFern Blumen", "Fern Blumen"},
		"customer above the name": {
			"Bill to:\nBlue Door Ltd\nFern Flowers\n12 Mill Road", "Fern Flowers",
		},
		"person to whom the invoice is addressed": {
			"T.a.v. Anna Fakestreet\nFern Blumen\nRheinstraße 3", "Fern Blumen",
		},
		"former name below the name": {
			"Fern Flowers\nformerly known as\nOld Harbour Ltd", "Fern Flowers",
		},
		"owner at the bottom": {"TAX INVOICE\nFern's\n12 Mill Road\n\nTea 5.00\nTotal 5.00\n" +
			"Owned by\nGreen Field Services Ltd", "Green Field Services Ltd"},
		"brand of a company": {
			"Blue Door Trading Ltd\ntrading as Fern Café\n12 Mill Road", "Fern Café",
		},
		"brand of a company on the same line": {
			"BLUE DOOR TRADING SDN BHD T/A FERN CAFE\n(123456-X)\nMill Road", "FERN CAFE",
		},
		"brand above its owner": {
			"Fern Café\nbetrieben von Blaue Tür GmbH\nRheinstraße 3", "Fern Café",
		},
		"brand above its operator": {
			"FERN CAFE\nOperated by Blue Door Ltd\n12 Mill Road", "FERN CAFE",
		},
		"former name in brackets": {"FERN'S\nFERN RESTAURANTS SDN BHD (65351-M)\n" +
			"(FORMERLY KNOWN AS OLD FERN\nHOLDINGS SDN BHD)", "FERN RESTAURANTS SDN BHD"},
		"name of the shopkeeper": {
			"MARKTHALLE Huber\nInh. Petra Huber e.K.\nBahnhofstraße 3", "MARKTHALLE Huber",
		},
		"legal form on two lines": {
			"Kaufpark\nVertrieb 12 GmbH & Co. KG\nRheinstraße 3",
			"Kaufpark Vertrieb 12 GmbH & Co. KG",
		},
		"number after the legal form": {
			"FRUTERÍA DEL MAR, S.A. A-46103834\nC/ VALENCIA 5", "FRUTERÍA DEL MAR, S.A.",
		},
		"title of an Italian receipt": {
			"DOCUMENTO COMMERCIALE\nBAR CENTRALE SNC\nPIAZZA DUOMO 3", "BAR CENTRALE SNC",
		},
		"name of the waiter": {"Es bediente Sie: Anna\nCafé Linde\nMarkt 3", "Café Linde"},
		"title of the document before the name": {
			"INVOICE Fern Flowers B.V.\n12 Mill Road", "Fern Flowers B.V.",
		},
		"misread title of the document": {
			"STRPLIFIED TAX INVOTCE\nfern flowers\n12 Mill Road", "fern flowers",
		},
		"line that matches the web address": {
			"Opposite The Old Mill Pond\nfernflowers\n12 Mill Road\nwww.fernflowers.com",
			"fernflowers",
		},
		"web address of a card terminal maker": {
			"12345\nTea 5.00\nTotal 5.00\nwww.ingenico.de", "",
		},
		"thanks without a name": {
			"12345\nTea 5.00\nTotal 5.00\nThank you for shopping with us. please come again", "",
		},
		"name with spaces between its letters": {"F E R N\nRheinstraße 3\n12345 Neustadt", "FERN"},
		"opening hours above the name": {
			"Mo-Sa 8-20 Uhr\nGeöffnet ab 8:00 Uhr\nFern Blumen\nRheinstraße 3", "Fern Blumen",
		},
		"greeting and slogan above the name": {
			"Herzlich willkommen\nEinfach besser. Immer Frisch\nFern Blumen\nRheinstraße 3",
			"Fern Blumen",
		},
		"slogan in lower case above the name": {
			"Flowers that are always fresh\nFern Blumen\nRheinstraße 3", "Fern Blumen",
		},
		"postal code and town without a name": {"123\n33100 Neustadt", ""},
		"place in the address": {
			"FERN&MOSS\nLOT 12 NORTH\nRESTAURANT NORTH QUAY,\n12345 QUAY", "FERN&MOSS",
		},
		"thanks with a name": {
			"12345\nTea 5.00\nTotal 5.00\nVielen Dank für Ihren Einkauf bei Fern Blumen",
			"Fern Blumen",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tc.want, readText(tc.text+"\nTotal 5.00").Merchant)
		})
	}
}

func TestPickMerchantChoosesCommonSpelling(t *testing.T) {
	t.Parallel()
	head := func(name string) Reading {
		return Read(recognized(name + "\n12 Mill Road\nTotal 5.00"))
	}
	r := Join(today, head("teal- Warehouse Ltd"), head("real, Warehouse Ltd"),
		head("real, Warehouse Ltd"))
	require.Equal(t, "real, Warehouse Ltd", r.Merchant)
	r = Join(today, head("FACE TO FACE HOUSE\nFTOF HOUSE\n(123456-X)"),
		head("FACE TO FACE HOUSE\nFTOF HOUSE\n(123456-X)"))
	require.Equal(t, "FTOF HOUSE", r.Merchant, "another line is not another spelling")
}

func TestPickMerchantDoubtsSpelling(t *testing.T) {
	t.Parallel()
	confidence := func(name string) float64 {
		head := Read(recognized(name + "\n(123456-X)\n12 Mill Road\nTotal 5.00"))
		return Join(today, head, head).Confidence["merchant"]
	}
	require.GreaterOrEqual(t, confidence("FERN & MOSS (NORTH) SDN BHD"), 0.9)
	for _, name := range []string{
		"FERN ¥ MOSS (NORTH) SDN BHD", "FERN & MOSS NORTH) SDN BHD", "FERN & {MOSS SDN BHD",
	} {
		require.LessOrEqual(t, confidence(name), 0.8, name)
	}
}

func TestReadDateRowsKeepsOneLinePerRow(t *testing.T) {
	t.Parallel()
	row := printed.Box{X: 10, Y: 100, W: 300, H: 30}
	page := printed.Page{Width: 600, Height: 800}
	for i, text := range []string{"Date:", "25/12/2023", "18:00"} {
		box := row
		box.X, box.W = 10+i*40, 90
		page.Words = append(page.Words, printed.Word{Text: text, Box: box, Confidence: 0.9})
	}
	r := ReadDateRows([]printed.Page{page})
	require.Len(t, r.lines, 1)
	require.Equal(t, "Date: 25/12/2023 18:00", r.lines[0].Text)
}
