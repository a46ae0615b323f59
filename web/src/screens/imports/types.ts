// Types of the import screens.
import type { components } from "../../api/coffer";

type Schemas = components["schemas"];
/** Import is an import as the API always returns it: with counts and defaults. */
export type Import = Schemas["Import"] & Required<Pick<Schemas["Import"], "counts" | "defaults">>;
export type Account = Schemas["ImportAccount"];
export type Assumption = Schemas["ImportAssumption"];
export type Category = Schemas["ImportCategory"];
export type Defaults = Schemas["ImportDefaults"];
export type Mapping = Schemas["ImportMapping"];
export type Row = Schemas["ImportRow"];
export type Change = Schemas["UpdateImportRequest"];
export type RowChange = Schemas["ImportRowChange"];
