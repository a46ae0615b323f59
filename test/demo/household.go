package demo

import "time"

// Names of the wallets of the household. All names of merchants and places are invented.
const (
	checking = "Checking"
	joint    = "Joint account"
	card     = "Everyday card"
	cash     = "Cash"
	savings  = "Savings"
	travel   = "Travel card"
)

// wallets holds the wallets with their balances in cents after the last transaction. Opening
// balances are computed from these, so that the dashboard shows plausible balances for any number
// of days.
var wallets = []struct {
	name, currency, color, icon string
	balance                     int64
}{
	{checking, "EUR", "#2E7D5B", "🏦", 648_085},
	{joint, "EUR", "#3B6FB5", "🏠", 186_240},
	{card, "EUR", "#8A4FBF", "💳", 41_215},
	{cash, "EUR", "#B7791F", "💶", 8_640},
	{savings, "EUR", "#0F766E", "🐖", 1_264_180},
	{travel, "USD", "#C2513B", "✈️", 64_075},
}

// currencyOf returns the currency of a wallet.
func currencyOf(wallet string) string {
	for _, w := range wallets {
		if w.name == wallet {
			return w.currency
		}
	}
	return ""
}

// Categories of the household.
const (
	groceries = "Groceries"
	rent      = "Rent"
	utilities = "Utilities"
	phone     = "Internet & phone"
	transport = "Transport"
	car       = "Car"
	eatingOut = "Eating out"
	coffee    = "Coffee & snacks"
	health    = "Health"
	clothes   = "Clothes"
	child     = "Children"
	leisure   = "Leisure"
	holidays  = "Holidays"
	gifts     = "Gifts"
	investing = "Investing"
	salary    = "Salary"
	sideJob   = "Side income"
)

var categories = []struct{ name, color, icon, kind string }{
	{groceries, "#2E7D5B", "🛒", "expense"},
	{rent, "#3B6FB5", "🏠", "expense"},
	{utilities, "#5B7083", "💡", "expense"},
	{phone, "#4F6BD8", "📱", "expense"},
	{transport, "#0891B2", "🚆", "expense"},
	{car, "#64748B", "🚗", "expense"},
	{eatingOut, "#D97706", "🍽️", "expense"},
	{coffee, "#92613A", "☕", "expense"},
	{health, "#DC4C64", "💊", "expense"},
	{clothes, "#A855A0", "👕", "expense"},
	{child, "#E08A3C", "🧸", "expense"},
	{leisure, "#7C5CD6", "🎬", "expense"},
	{holidays, "#C2513B", "🏖️", "expense"},
	{gifts, "#BE3F7A", "🎁", "both"},
	{investing, "#1E6F86", "📈", "expense"},
	{salary, "#15803D", "💼", "income"},
	{sideJob, "#4D7C0F", "🧾", "income"},
}

// household lists the merchants by frequency. An entry with a day of the month is monthly. The
// others occur perWeek times in a week, multiplied by the season of the month.
var household = []source{
	{category: salary, wallet: checking, merchants: []string{
		"Northwind Software, Salary",
	}, day: 1, cents: 215_000, kind: income},
	{category: salary, wallet: joint, merchants: []string{
		"Sam, Share of the household",
	}, day: 2, cents: 215_000, kind: income},
	{category: sideJob, wallet: checking, merchants: []string{
		"Evening course, Fee", "Article for Harbor Magazine",
	}, perWeek: 0.25, cents: 24_000, spread: 0.5, kind: income, tags: []string{"Tax return"}},
	{category: sideJob, wallet: savings, merchants: []string{
		"Harbor Bank, Interest",
	}, day: 28, cents: 2_110, spread: 0.05, kind: income},
	{category: investing, wallet: checking, merchants: []string{
		"Harbor Bank, Index fund",
	}, day: 4, cents: 75_000},
	{category: rent, wallet: joint, merchants: []string{
		"Lindenhof Housing, Rent",
	}, day: 1, cents: 118_000},
	{category: utilities, wallet: joint, merchants: []string{
		"City Works, Electricity",
	}, day: 3, cents: 7_200, spread: 0.1, season: winter},
	{category: utilities, wallet: joint, merchants: []string{
		"City Works, Heating",
	}, day: 3, cents: 8_400, spread: 0.1, season: heating},
	{category: phone, wallet: joint, merchants: []string{
		"Fiberlane, Internet",
	}, day: 5, cents: 3_999},
	{category: phone, wallet: checking, merchants: []string{"Halo Mobile"}, day: 12, cents: 1_799},
	{category: leisure, wallet: card, merchants: []string{
		"Streamly, Monthly plan",
	}, day: 9, cents: 1_399},
	{category: leisure, wallet: card, merchants: []string{
		"Tempo Music, Family plan",
	}, day: 17, cents: 1_699},
	{category: child, wallet: joint, merchants: []string{
		"Sunflower Kindergarten",
	}, day: 2, cents: 14_800},
	{category: car, wallet: joint, merchants: []string{
		"Meridian Insurance, Car",
	}, day: 15, cents: 4_630},
	{category: transport, wallet: checking, merchants: []string{
		"Metro Transit, Monthly pass",
	}, day: 1, cents: 5_800},
	{category: groceries, wallet: joint, merchants: []string{
		"Green Valley Market", "Bio Corner", "Harvest & Co", "Saturday farmers' market",
	}, perWeek: 2.8, cents: 3_650, spread: 0.55},
	{category: groceries, part: child, wallet: joint, merchants: []string{
		"Discount Depot, Food and diapers", "Discount Depot, Food and crayons",
	}, perWeek: 0.6, cents: 4_400, spread: 0.4},
	{category: groceries, wallet: cash, merchants: []string{
		"Corner Bakery", "Mill Lane Bakery", "Kiosk am Park",
	}, perWeek: 3.2, cents: 610, spread: 0.5},
	{category: coffee, wallet: cash, merchants: []string{
		"Blue Door Coffee", "Espresso Lab", "Station Kiosk", "Gelato Nino",
	}, perWeek: 4.6, cents: 390, spread: 0.35, season: iceCream},
	{category: eatingOut, wallet: checking, merchants: []string{
		"Trattoria Lucia", "Saigon Garden", "The Copper Pot", "Burger Yard", "Taverna Nikos",
		"Sushi Kawa",
	}, perWeek: 1.9, cents: 3_480, spread: 0.5},
	{category: eatingOut, wallet: checking, merchants: []string{
		"Canteen", "Lunchbox", "Falafel House",
	}, perWeek: 2.8, cents: 980, spread: 0.25, tags: []string{"Work"}},
	{category: transport, wallet: checking, merchants: []string{
		"Metro Transit, Ticket", "Rail Direct", "CityBike", "Night Taxi",
	}, perWeek: 1.6, cents: 1_150, spread: 0.7},
	{category: car, wallet: checking, merchants: []string{
		"Orbit Fuel", "Route 7 Fuel", "Parkhaus Mitte",
	}, perWeek: 1.1, cents: 4_100, spread: 0.6},
	{category: health, wallet: checking, merchants: []string{
		"Linden Pharmacy", "Dr. Weber, Dentist", "Optics Klar", "Physio am Platz",
	}, perWeek: 0.6, cents: 2_450, spread: 0.8},
	{category: clothes, wallet: checking, merchants: []string{
		"Nordic Thread", "Shoe Loft", "Little Sprout", "Second Chance",
	}, perWeek: 0.6, cents: 5_600, spread: 0.6, season: wardrobe},
	{category: child, wallet: joint, merchants: []string{
		"Toy Harbor", "Swimming lesson", "Zoo", "Paper Moon Books",
	}, perWeek: 1.1, cents: 1_480, spread: 0.6},
	{category: leisure, wallet: card, merchants: []string{
		"Roxy Cinema", "Climbing Hall 8a", "Philharmonic", "Paper Moon Books", "Board Game Café",
	}, perWeek: 1.2, cents: 2_150, spread: 0.6},
	{category: gifts, wallet: card, merchants: []string{
		"Bloom & Stem", "Paper Moon Books", "Ceramics by Ines",
	}, perWeek: 0.35, cents: 3_300, spread: 0.5, season: presents},
	{category: holidays, wallet: travel, merchants: []string{
		"Pacific Rail", "Cliff House Inn", "Bayside Diner", "Redwood Park entry", "Harbor Ferry",
	}, perWeek: 1.4, cents: 5_400, spread: 0.8, season: summerTrip, tags: []string{"California"}},
	{category: holidays, wallet: checking, merchants: []string{
		"Rail Direct, Weekend", "Seeblick Guesthouse", "Hut on the ridge",
	}, perWeek: 0.3, cents: 13_500, spread: 0.5, tags: []string{"Weekend trip"}},
	{kind: transfer, wallet: checking, to: savings, merchants: []string{
		", Standing order",
	}, day: 3, cents: 20_000},
	{kind: transfer, wallet: checking, to: card, merchants: []string{
		", Card settlement",
	}, day: 18, cents: 16_000, spread: 0.2},
	{kind: transfer, wallet: checking, to: cash, merchants: []string{
		", Cash machine",
	}, perWeek: 0.8, cents: 5_000},
	{kind: transfer, wallet: checking, to: travel, merchants: []string{
		", Dollars for the trip",
	}, perWeek: 0.12, cents: 25_000, season: summerTrip, rate: 1.08, tags: []string{"California"}},
}

// Seasons are factors by month. A month without a factor has 1.
var (
	winter = season{
		time.January: 1.3, time.February: 1.25, time.June: 0.8, time.July: 0.75, time.August: 0.75,
		time.December: 1.3,
	}
	heating = season{
		time.January: 1.9, time.February: 1.8, time.March: 1.3, time.April: 0.8, time.May: 0.4,
		time.June: 0.2, time.July: 0.2, time.August: 0.2, time.September: 0.3, time.November: 1.4,
		time.December: 1.8,
	}
	iceCream = season{time.January: 0.8, time.June: 1.3, time.July: 1.5, time.August: 1.4}
	wardrobe = season{
		time.March: 2, time.April: 1.6, time.September: 2.2, time.October: 1.6, time.July: 0.5,
	}
	presents   = season{time.December: 5, time.November: 1.6, time.January: 0.3}
	summerTrip = season{
		time.January: 0, time.February: 0, time.March: 0, time.April: 0.2, time.May: 0.3,
		time.June: 0.6, time.July: 1.2, time.August: 5,
		time.September: 0.8, time.October: 0.2, time.November: 0.1, time.December: 0,
	}
)

// budgets are the budgets with their limits in cents. Usual months nearly reach the limit. The year
// exceeds the limit of the travel card.
var budgets = []struct {
	name, wallet, period string
	categories           []string
	limit                int64
}{
	{groceries, joint, "monthly", []string{groceries}, 60_000},
	{"Eating out", checking, "monthly", []string{eatingOut}, 45_000},
	{"Coffee", cash, "monthly", []string{coffee}, 8_000},
	{"Getting around", checking, "monthly", []string{transport}, 17_000},
	{"Fun", card, "quarterly", []string{leisure, gifts}, 56_000},
	{"California", travel, "yearly", []string{holidays}, 250_000},
}

// receipts are the texts of receipts, with the place of the date.
var receipts = []struct{ wallet, category, text string }{
	{joint, groceries, `GREEN VALLEY MARKET
12 Mill Lane, Dublin
%s 18:41

2 x Oat milk        1.95    3.90
Sourdough bread             4.20
Tomatoes 1 kg               3.49
Mountain cheese             6.80
Apples 1.5 kg               4.35
Total EUR                  22.74
Card                       22.74
`},
	{cash, groceries, `CORNER BAKERY
3 Park Street, Dublin
%s 08:41

2 x Croissant       2.40    4.80
Rye bread                   5.60
Coffee                      3.10
Total EUR                  13.50
Cash                       20.00
Change                      6.50
`},
	{checking, eatingOut, `THE COPPER POT
Harbour Road 8, Dublin
%s 20:12

Soup of the day             7.50
2 x Fish pie       16.90   33.80
Lemonade                    4.20
Total EUR                  45.50
Visa                       45.50
`},
}

// papers are the texts of photographs to attach to transactions.
var papers = []struct{ category, name, text string }{
	{utilities, "heating-bill.jpg", `CITY WORKS
Heating and electricity
Customer 4471 0093

Invoice for the month
Electricity                72.00
Heating                    84.00
Payable by direct debit
`},
	{clothes, "warranty.jpg", `WARRANTY CARD
Keep this card with the receipt

Two years from the day of purchase
Seams, zips and buttons
Bring the garment to any of our shops
`},
	{health, "prescription.jpg", `DR. WEBER, DENTIST
Linden Square 4, Dublin

Invoice to your insurance
Check-up
Cleaning
Please return it within 30 days
`},
}
