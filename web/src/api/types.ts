// Types of requests and answers, derived from the generated OpenAPI types.
import type { components, paths } from "./coffer";
import type { Progress } from "./upload";

type Schemas = components["schemas"];
export type Transaction = Schemas["Transaction"];
export type Wallet = Schemas["Wallet"];
export type Category = Schemas["Category"];
export type Budget = Schemas["Budget"];
export type Goal = Schemas["Goal"];
export type GoalWallet = Schemas["GoalWallet"];
export type BudgetLimit = Schemas["BudgetLimit"];
export type ListedBudget = Schemas["ListedBudget"];
export type Member = Schemas["Member"];
export type Summary = Schemas["Summary"];
export type Split = Schemas["Split"];
export type Tag = Schemas["Tag"];
export type Transfer = Schemas["Transfer"];
export type Attachment = Schemas["Attachment"];
export type Settings = Schemas["Settings"];
export type User = Schemas["User"];
export type Invitation = Schemas["Invitation"];
export type GoalInvitation = Schemas["GoalInvitation"];
export type Notification = Schemas["Notification"];

export type Method = "get" | "post" | "patch" | "delete";

/** PathsWith are the paths that have a method. */
export type PathsWith<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [K in M]: { responses: unknown } } ? P : never;
}[keyof paths];

export type Operation<P extends keyof paths, M extends Method> = paths[P] extends {
  [K in M]: infer O;
}
  ? O
  : never;

type Query<O> = O extends { parameters: { query?: infer Q } }
  ? [Q] extends [undefined]
    ? undefined
    : Q
  : undefined;
type PathParameters<O> = O extends { parameters: { path: infer P } } ? P : undefined;
type Body<O> = O extends { requestBody?: { content: infer C } }
  ? C extends { "application/json": infer B }
    ? B
    : C extends { "multipart/form-data": unknown }
      ? FormData
      : undefined
  : undefined;
type Content<R> = R extends { content: { "application/json": infer B } } ? B : never;

/** Answer is the body of a successful answer. */
export type Answer<O> = O extends { responses: infer R }
  ? { [S in keyof R]: S extends 200 | 201 | 202 ? Content<R[S]> : never }[keyof R]
  : never;

/** Request holds the parts of a request that an operation has. */
export type Request<O> = (PathParameters<O> extends undefined
  ? { path?: undefined }
  : { path: PathParameters<O> }) & {
  query?: Query<O>;
  body?: Body<O>;
  /** key is the Idempotency-Key: one per form, so that a repetition has no second effect. */
  key?: string;
  /** version is the ETag for If-Match. */
  version?: string;
  signal?: AbortSignal;
  /** progress receives the part of a form that was sent. */
  progress?: Progress;
};
