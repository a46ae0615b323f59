// This script generates src/api/coffer.d.ts from the OpenAPI document. Amounts of money get the
// type Digits, because the console reads and writes them as strings of digits and never as
// floating-point numbers (src/money/json.ts).
import { writeFileSync } from "node:fs";
import openapi, { astToString } from "openapi-typescript";
import ts from "typescript";
import { moneyFields } from "../src/money/fields.js";

const digits = ts.factory.createTypeReferenceNode("Digits");
const money = new RegExp(`/(${[...moneyFields].join("|")})$`);

const tree = await openapi(new URL("../../gateway/openapi.json", import.meta.url), {
  inject: 'import type { Digits } from "../money/json";\n',
  transform(schema, { path }) {
    if (schema.type === "number" && path && money.test(path)) return digits;
  },
});
writeFileSync(new URL("../src/api/coffer.d.ts", import.meta.url), astToString(tree));
