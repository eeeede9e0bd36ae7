/** The Error body of the REST service, verbatim. Which codes there are is the service's business. */
export interface RestErrorBody {
  readonly code: string;
  readonly message: string;
  /** The HTTP status code that the body states. */
  readonly status: number;
}

/** The REST response behind a field's error. */
interface RestResponse {
  /** The HTTP status of the REST response. */
  readonly status: number;
  /** Present for a 4xx response with an Error body. */
  readonly error?: RestErrorBody;
  /** How long to wait before the next request, in milliseconds, when the service says so. */
  readonly retryAfterMs?: number;
}

/** The errors of a field, which have a `path`, with the extensions of each besides its code. */
interface FieldErrors {
  /** A value was refused: by the gateway, or by the service, which then has a `status`. */
  BAD_USER_INPUT: Partial<RestResponse>;
  /** No key, a malformed `Authorization` header, or a key that the service refused. */
  UNAUTHENTICATED: Partial<RestResponse>;
  FORBIDDEN: RestResponse;
  NOT_FOUND: RestResponse;
  CONFLICT: RestResponse;
  RATE_LIMITED: RestResponse;
  /** Any other REST status that is not a success. */
  UPSTREAM_ERROR: RestResponse;
  /** No complete response in time. The outcome of a mutation is unknown. */
  UPSTREAM_TIMEOUT: object;
  /** No connection, or a broken one. The outcome of a mutation is unknown. */
  UPSTREAM_UNAVAILABLE: Pick<RestResponse, 'retryAfterMs'>;
  /** A success whose body breaks the contract. */
  UPSTREAM_INVALID_RESPONSE: object;
  /** The field would make the response too large; fields before it are there. */
  RESPONSE_TOO_LARGE: object;
  /** The request was aborted by its caller, who sees this in the gateway's own process only. */
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
  UNSUPPORTED_MEDIA_TYPE: object;
  BODY_TOO_LARGE: object;
  /** The gateway accepts only the documents of its manifest. */
  PERSISTED_DOCUMENT_REQUIRED: object;
  /** Send the document along with its hash, once. */
  PERSISTED_QUERY_NOT_FOUND: object;
  /** The gateway accepts no hashes: send the document. */
  PERSISTED_QUERY_NOT_SUPPORTED: object;
  PERSISTED_QUERY_MISMATCH: object;
  /** The gateway is too busy; `Retry-After` says when to come back. */
  OVERLOADED: object;
}

interface Errors extends FieldErrors, RequestErrors {}

/** The codes of a field's errors; the other fields have their data. */
export type FieldErrorCode = keyof FieldErrors;

/** Every `extensions.code` of the gateway. */
export type GatewayErrorCode = keyof Errors;

/**
 * An entry of `errors` in a response of the gateway: a union discriminated by `extensions.code`.
 * The gateway's log has the `requestId`; a request that was refused early may have none.
 */
export type GatewayError<Code extends GatewayErrorCode = GatewayErrorCode> = {
  [C in Code]: {
    readonly message: string;
    /** The field that failed: names as in the response, indexes in lists. */
    readonly path?: readonly (string | number)[];
    readonly extensions: { readonly code: C; readonly requestId?: string } & Readonly<Errors[C]>;
  };
}[Code];

const isCode: Readonly<Record<GatewayErrorCode, true>> = {
  BAD_USER_INPUT: true,
  UNAUTHENTICATED: true,
  FORBIDDEN: true,
  NOT_FOUND: true,
  CONFLICT: true,
  RATE_LIMITED: true,
  UPSTREAM_ERROR: true,
  UPSTREAM_TIMEOUT: true,
  UPSTREAM_UNAVAILABLE: true,
  UPSTREAM_INVALID_RESPONSE: true,
  RESPONSE_TOO_LARGE: true,
  CANCELLED: true,
  INTERNAL_SERVER_ERROR: true,
  GRAPHQL_PARSE_FAILED: true,
  GRAPHQL_VALIDATION_FAILED: true,
  OPERATION_RESOLUTION_FAILURE: true,
  OPERATION_TOO_LARGE: true,
  BAD_REQUEST: true,
  UNSUPPORTED_MEDIA_TYPE: true,
  BODY_TOO_LARGE: true,
  PERSISTED_DOCUMENT_REQUIRED: true,
  PERSISTED_QUERY_NOT_FOUND: true,
  PERSISTED_QUERY_NOT_SUPPORTED: true,
  PERSISTED_QUERY_MISMATCH: true,
  OVERLOADED: true,
};

/** Every code that `isGatewayError` accepts. */
export const gatewayErrorCodes = Object.keys(isCode) as readonly GatewayErrorCode[];

/**
 * Whether this is an entry of `errors` with one of these codes, or with any code of the gateway
 * when none is named. Accepts plain entries and the `GraphQLError` objects of clients.
 */
export function isGatewayError<Code extends GatewayErrorCode = GatewayErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is GatewayError<Code> {
  const code = (error as GatewayError | null | undefined)?.extensions?.code;
  const accepted: readonly string[] = codes.length > 0 ? codes : gatewayErrorCodes;
  return typeof code === 'string' && accepted.includes(code);
}
