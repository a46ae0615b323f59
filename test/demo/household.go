package demo

// Names of the wallets of the household. All names of merchants and places are invented.
const (
	checking = "Checking"
	joint    = "Joint account"
	card     = "Everyday card"
	cash     = "Cash"
	savings  = "Savings"
	travel   = "Travel card"
	fund     = "Index fund"
)

// wallets holds the wallets with their balances in cents after the last transaction, and that of
// the fund before its adjustments. Opening balances are computed from these, so that the dashboard
// shows plausible balances for any number of days.
var wallets = []struct {
	name, currency, kind, color, icon string
	balance                           int64
}{
	{checking, "EUR", "checking", "#2E7D5B", "🏦", 648_085},
	{joint, "EUR", "checking", "#3B6FB5", "🏠", 186_240},
	{card, "EUR", "card", "#8A4FBF", "💳", 41_215},
	{cash, "EUR", "cash", "#B7791F", "💶", 8_640},
	{savings, "EUR", "savings", "#0F766E", "🐖", 1_264_180},
	{travel, "USD", "other", "#C2513B", "✈️", 64_075},
	{fund, "EUR", "investment", "#64748B", "📈", 850_000},
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
	{
		category: salary, wallet: checking, payees: "Northwind Software, Salary", day: 1,
		cents: 215_000, kind: income,
	},
	{
		category: salary, wallet: joint, payees: "Sam, Share of the household", day: 2,
		cents: 215_000, kind: income,
	},
	{
		category: sideJob, wallet: checking,
		payees: "Evening course, Fee; Article for Harbor Magazine", perWeek: 0.25, cents: 24_000,
		spread: 0.5, kind: income, tags: []string{"Tax return"},
	},
	{
		category: sideJob, wallet: savings, payees: "Harbor Bank, Interest", day: 28, cents: 2_110,
		spread: 0.05, kind: income,
	},
	{
		category: investing, wallet: checking, payees: "Harbor Bank, Index fund", day: 4,
		cents: 75_000,
	},
	{category: rent, wallet: joint, payees: "Lindenhof Housing, Rent", day: 1, cents: 118_000},
	{
		category: utilities, wallet: joint, payees: "City Works, Electricity", day: 3, cents: 7_200,
		spread: 0.1, season: winter,
	},
	{
		category: utilities, wallet: joint, payees: "City Works, Heating", day: 3, cents: 8_400,
		spread: 0.1, season: heating,
	},
	{category: phone, wallet: joint, payees: "Fiberlane, Internet", day: 5, cents: 3_999},
	{category: phone, wallet: checking, payees: "Halo Mobile", day: 12, cents: 1_799},
	{category: leisure, wallet: card, payees: "Streamly, Monthly plan", day: 9, cents: 1_399},
	{category: leisure, wallet: card, payees: "Tempo Music, Family plan", day: 17, cents: 1_699},
	{category: child, wallet: joint, payees: "Sunflower Kindergarten", day: 2, cents: 14_800},
	{category: car, wallet: joint, payees: "Meridian Insurance, Car", day: 15, cents: 4_630},
	{
		category: transport, wallet: checking, payees: "Metro Transit, Monthly pass", day: 1,
		cents: 5_800,
	},
	{
		category: groceries, wallet: joint,
		payees:  "Green Valley Market; Bio Corner; Harvest & Co; Saturday farmers' market",
		perWeek: 2.8, cents: 3_650, spread: 0.55,
	},
	{
		category: groceries, part: child, wallet: joint,
		payees: "Discount Depot, Food and diapers; Discount Depot, Food and crayons", perWeek: 0.6,
		cents: 4_400, spread: 0.4,
	},
	{
		category: groceries, wallet: cash, payees: "Corner Bakery; Mill Lane Bakery; Kiosk am Park",
		perWeek: 3.2, cents: 610, spread: 0.5,
	},
	{
		category: coffee, wallet: cash,
		payees: "Blue Door Coffee; Espresso Lab; Station Kiosk; Gelato Nino", perWeek: 4.6,
		cents: 390, spread: 0.35, season: iceCream,
	},
	{
		category: eatingOut, wallet: checking,
		payees: "Trattoria Lucia; Saigon Garden; The Copper Pot; Burger Yard; " +
			"Taverna Nikos; Sushi Kawa",
		perWeek: 1.9, cents: 3_480, spread: 0.5,
	},
	{
		category: eatingOut, wallet: checking, payees: "Canteen; Lunchbox; Falafel House",
		perWeek: 2.8, cents: 980, spread: 0.25, tags: []string{"Work"},
	},
	{
		category: transport, wallet: checking,
		payees: "Metro Transit, Ticket; Rail Direct; CityBike; Night Taxi", perWeek: 1.6,
		cents: 1_150, spread: 0.7,
	},
	{
		category: car, wallet: checking, payees: "Orbit Fuel; Route 7 Fuel; Parkhaus Mitte",
		perWeek: 1.1, cents: 4_100, spread: 0.6,
	},
	{
		category: health, wallet: checking,
		payees: "Linden Pharmacy; Dr. Weber, Dentist; Optics Klar; Physio am Platz", perWeek: 0.6,
		cents: 2_450, spread: 0.8,
	},
	{
		category: clothes, wallet: checking,
		payees: "Nordic Thread; Shoe Loft; Little Sprout; Second Chance", perWeek: 0.6,
		cents: 5_600, spread: 0.6, season: wardrobe,
	},
	{
		category: child, wallet: joint,
		payees: "Toy Harbor; Swimming lesson; Zoo; Paper Moon Books", perWeek: 1.1, cents: 1_480,
		spread: 0.6,
	},
	{
		category: leisure, wallet: card,
		payees:  "Roxy Cinema; Climbing Hall 8a; Philharmonic; Paper Moon Books; Board Game Café",
		perWeek: 1.2, cents: 2_150, spread: 0.6,
	},
	{
		category: gifts, wallet: card, payees: "Bloom & Stem; Paper Moon Books; Ceramics by Ines",
		perWeek: 0.35, cents: 3_300, spread: 0.5, season: presents,
	},
	{
		category: holidays, wallet: travel,
		payees:  "Pacific Rail; Cliff House Inn; Bayside Diner; Redwood Park entry; Harbor Ferry",
		perWeek: 1.4, cents: 5_400, spread: 0.8, season: summerTrip, tags: []string{"California"},
	},
	{
		category: holidays, wallet: checking,
		payees: "Rail Direct, Weekend; Seeblick Guesthouse; Hut on the ridge", perWeek: 0.3,
		cents: 13_500, spread: 0.5, tags: []string{"Weekend trip"},
	},
	{
		kind: transfer, wallet: checking, to: savings, payees: ", Standing order", day: 3,
		cents: 20_000,
	},
	{
		kind: transfer, wallet: checking, to: card, payees: ", Card settlement", day: 18,
		cents: 16_000, spread: 0.2,
	},
	{
		kind: transfer, wallet: checking, to: cash, payees: ", Cash machine", perWeek: 0.8,
		cents: 5_000,
	},
	{
		kind: transfer, wallet: checking, to: travel, payees: ", Dollars for the trip",
		perWeek: 0.12, cents: 25_000, season: summerTrip, rate: 1.08, tags: []string{"California"},
	},
}

// Seasons are factors from January to December.
var (
	winter     = season{1.3, 1.25, 1, 1, 1, 0.8, 0.75, 0.75, 1, 1, 1, 1.3}
	heating    = season{1.9, 1.8, 1.3, 0.8, 0.4, 0.2, 0.2, 0.2, 0.3, 1, 1.4, 1.8}
	iceCream   = season{0.8, 1, 1, 1, 1, 1.3, 1.5, 1.4, 1, 1, 1, 1}
	wardrobe   = season{1, 1, 2, 1.6, 1, 1, 0.5, 1, 2.2, 1.6, 1, 1}
	presents   = season{0.3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1.6, 5}
	summerTrip = season{0, 0, 0, 0.2, 0.3, 0.6, 1.2, 5, 0.8, 0.2, 0.1, 0}
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
