// Errors of the API.

interface Detail {
  field: string;
  message: string;
}

/** networkCode is the code of a request that got no answer. */
export const networkCode = "NETWORK";

/** Problem is a failed request: an error of the API, or one with networkCode. */
export class Problem extends Error {
  readonly code: string;
  readonly status: number;
  readonly details: readonly Detail[];
  readonly requestId: string;

  constructor(code: string, message: string, status = 0, details: readonly Detail[] = [], requestId = "") {
    super(message);
    this.code = code;
    this.status = status;
    this.details = details;
    this.requestId = requestId;
  }

  /** field returns the message for a field, also if the detail names a part: lines[2].amount. */
  field(name: string): string | undefined {
    return this.details.find(
      ({ field }) => field === name || field.startsWith(`${name}[`) || field.startsWith(`${name}.`),
    )?.message;
  }
}

/** problemOf converts the body of a failed answer. Without a code it gets one by its status. */
export function problemOf(status: number, body: unknown): Problem {
  const {
    code = `HTTP_${status}`,
    message = `The server answered with status ${status}`,
    details,
    requestId,
  } = (body ?? {}) as Partial<Problem>;
  return new Problem(code, message, status, details, requestId);
}

export function isProblem(error: unknown, code?: string): error is Problem {
  return error instanceof Problem && (code === undefined || error.code === code);
}
