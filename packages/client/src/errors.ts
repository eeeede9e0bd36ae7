/** The Error body of the REST service, without the caller's API key. The service defines the codes. */
export interface RestErrorBody {
  readonly code: string;
  readonly message: string;
  /** The HTTP status in the body. */
  readonly status: number;
}

/** The REST response that caused a field's error, or the gateway's own response of this status. */
interface RestResponse {
  /** The HTTP status of the REST response. */
  readonly status: number;
  /** Present for a 4xx response with an Error body. */
  readonly error?: RestErrorBody;
  /** The time to wait before the next request, in milliseconds, if the service sent one. */
  readonly retryAfterMs?: number;
}

/**
 * What became of a write: `NOT_DONE` if it was never sent or was refused, so it can be sent again;
 * `DONE` if the service confirmed it; `UNKNOWN` if it was sent and may have been carried out.
 */
export type WriteOutcome = 'NOT_DONE' | 'DONE' | 'UNKNOWN';

/** What is wrong with one value of the input. */
export interface InputIssue {
  /** From the variable, such as `['input', 'categoryId']`, or from the argument of a literal. */
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** The errors of a field, which have a `path`: their extensions, by code. */
interface FieldErrors {
  /**
   * The service rejected a value, with a `status`, or the gateway, with at most 20 `issues`. Invalid
   * variables have no `path`, because no field was executed.
   */
  BAD_USER_INPUT: Partial<RestResponse> & { readonly issues?: readonly InputIssue[] };
  /** The `Idempotency-Key` was used before, for a write with other parameters. */
  IDEMPOTENCY_KEY_REUSED: object;
  /** No key, a malformed `Authorization` header, or a key that the service rejected. */
  UNAUTHENTICATED: Partial<RestResponse>;
  FORBIDDEN: RestResponse;
  NOT_FOUND: RestResponse;
  CONFLICT: RestResponse;
  /** The service's limit, or the gateway's own, which has no `error`. */
  RATE_LIMITED: RestResponse;
  /** The gateway lacks a setting that the field needs, so repeating the request is useless. */
  NOT_CONFIGURED: object;
  /** Any other REST status that is not a success. */
  UPSTREAM_ERROR: RestResponse;
  /** No complete response in time. */
  UPSTREAM_TIMEOUT: object;
  /** No connection, or a broken one. */
  UPSTREAM_UNAVAILABLE: Pick<RestResponse, 'retryAfterMs'>;
  /** A successful response whose body breaks the contract. */
  UPSTREAM_INVALID_RESPONSE: object;
  /** The field would make the response too large. The fields before it have their data. */
  RESPONSE_TOO_LARGE: object;
  /** The caller aborted the request. Only callers in the gateway's process receive this error. */
  CANCELLED: object;
  /** A fault of the gateway, logged under the `requestId`. */
  INTERNAL_SERVER_ERROR: object;
}

/** The errors of a request that was not executed. */
interface RequestErrors {
  GRAPHQL_PARSE_FAILED: object;
  GRAPHQL_VALIDATION_FAILED: object;
  OPERATION_RESOLUTION_FAILURE: object;
  OPERATION_TOO_LARGE: object;
  BAD_REQUEST: object;
  METHOD_NOT_ALLOWED: object;
  NOT_ACCEPTABLE: object;
  UNSUPPORTED_MEDIA_TYPE: object;
  BODY_TOO_LARGE: object;
  /** The gateway accepts only the documents of its manifest. */
  PERSISTED_DOCUMENT_REQUIRED: object;
  /** Send the document along with its hash, once. */
  PERSISTED_QUERY_NOT_FOUND: object;
  /** The gateway does not accept hashes: send the document. */
  PERSISTED_QUERY_NOT_SUPPORTED: object;
  PERSISTED_QUERY_MISMATCH: object;
  /** The gateway is too busy. */
  OVERLOADED: Required<Pick<RestResponse, 'status' | 'retryAfterMs'>>;
  /** The gateway was mounted in a server, which has disposed of it. */
  GATEWAY_CLOSED: Required<Pick<RestResponse, 'status' | 'retryAfterMs'>>;
  /** The gateway was mounted after a body parser, such as `express.json()`. */
  BODY_ALREADY_READ: object;
}

interface Errors extends FieldErrors, RequestErrors {}

/** The codes of field errors. The other fields have their data. */
export type FieldErrorCode = keyof FieldErrors;

/** Every `extensions.code` of the gateway. */
export type GatewayErrorCode = keyof Errors;

/**
 * An entry of `errors` in a response: a union discriminated by `extensions.code`. The `requestId`
 * identifies the log line. It can be missing if the request was rejected early.
 */
export type GatewayError<Code extends GatewayErrorCode = GatewayErrorCode> = {
  [C in Code]: {
    readonly message: string;
    /** The field that failed: names as in the response, indexes in lists. */
    readonly path?: readonly (string | number)[];
    readonly extensions: {
      readonly code: C;
      readonly requestId?: string;
      /**
       * What became of the write. Every error of a mutation's field has it, and every refusal due to load or time. An
       * `UPSTREAM_*` error without it is a proxy's: the mutation may have been executed.
       */
      readonly outcome?: WriteOutcome;
      /** False if the `outcome` stays `UNKNOWN` however often the mutation is sent with its `Idempotency-Key`. */
      readonly retryable?: false;
    } & Readonly<Errors[C]>;
  };
}[Code];

/** The HTTP status that fits each code, for a server that calls the gateway. */
const statuses: Readonly<Record<GatewayErrorCode, number>> = {
  BAD_USER_INPUT: 400,
  IDEMPOTENCY_KEY_REUSED: 422,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  RATE_LIMITED: 429,
  NOT_CONFIGURED: 501,
  UPSTREAM_ERROR: 502,
  UPSTREAM_TIMEOUT: 504,
  UPSTREAM_UNAVAILABLE: 503,
  UPSTREAM_INVALID_RESPONSE: 502,
  RESPONSE_TOO_LARGE: 500,
  CANCELLED: 500,
  INTERNAL_SERVER_ERROR: 500,
  GRAPHQL_PARSE_FAILED: 500,
  GRAPHQL_VALIDATION_FAILED: 500,
  OPERATION_RESOLUTION_FAILURE: 500,
  OPERATION_TOO_LARGE: 500,
  BAD_REQUEST: 500,
  METHOD_NOT_ALLOWED: 500,
  NOT_ACCEPTABLE: 500,
  UNSUPPORTED_MEDIA_TYPE: 500,
  BODY_TOO_LARGE: 500,
  PERSISTED_DOCUMENT_REQUIRED: 500,
  PERSISTED_QUERY_NOT_FOUND: 500,
  PERSISTED_QUERY_NOT_SUPPORTED: 500,
  PERSISTED_QUERY_MISMATCH: 500,
  OVERLOADED: 503,
  GATEWAY_CLOSED: 503,
  BODY_ALREADY_READ: 500,
};

/** All codes that `isGatewayError` accepts. */
export const gatewayErrorCodes = Object.keys(statuses) as readonly GatewayErrorCode[];

/**
 * Returns whether this is an entry of `errors` with one of these codes, or with any code of the
 * gateway if none is given. Accepts plain entries and the `GraphQLError` objects of clients, and can
 * narrow one again.
 */
export function isGatewayError<Code extends GatewayErrorCode = GatewayErrorCode, Entry = unknown>(
  error: Entry,
  ...codes: readonly Code[]
): error is Entry & GatewayError<Code> {
  const code = (error as GatewayError | null | undefined)?.extensions?.code;
  const accepted: readonly string[] = codes.length > 0 ? codes : gatewayErrorCodes;
  return typeof code === 'string' && accepted.includes(code);
}

/**
 * Returns the HTTP status with which a server of your own passes on an entry of `errors`: 500 for a fault
 * of its own, such as an invalid document, and for anything that is not an error of the gateway.
 */
export function httpStatusOf(error: unknown): number {
  return isGatewayError(error) ? statuses[error.extensions.code] : 500;
}
