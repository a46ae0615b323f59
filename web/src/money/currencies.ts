// The active ISO 4217 currencies, as in internal/money/currencies.go. A unit test compares the two
// lists.

const byDecimals: Record<number, string> = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  2:
    "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP " +
    "CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD " +
    "KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR " +
    "PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU " +
    "UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW",
};

const decimalsOf = new Map(Object.entries(byDecimals).flatMap(([n, codes]) => codes.split(" ").map((code) => [code, Number(n)] as const)));

/** currencies are all codes in alphabetical order. */
export const currencies = [...decimalsOf.keys()].sort();

/** decimals returns the number of decimals of a currency, 2 if it is unknown. */
export function decimals(currency: string): number {
  return decimalsOf.get(currency) ?? 2;
}

const currencyOfRegion: Record<string, string> = {
  US: "USD", GB: "GBP", CH: "CHF", LI: "CHF", JP: "JPY", CA: "CAD", AU: "AUD", NZ: "NZD", SE: "SEK", NO: "NOK", DK: "DKK", PL: "PLN",
  CZ: "CZK", HU: "HUF", RO: "RON", TR: "TRY", IN: "INR", CN: "CNY", BR: "BRL", MX: "MXN", ZA: "ZAR", KR: "KRW", SG: "SGD", HK: "HKD",
  IL: "ILS", AE: "AED", IS: "ISK", UA: "UAH", TH: "THB", ID: "IDR", MY: "MYR", PH: "PHP",
};

/** likelyCurrency guesses the currency of a user from the locale of the browser. */
export function likelyCurrency(locale: string): string {
  return currencyOfRegion[new Intl.Locale(locale).maximize().region ?? ""] ?? "EUR";
}
