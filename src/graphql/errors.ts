import { type ASTNode, GraphQLError, isValueNode, Kind } from 'graphql';
import {
  ErrorResponse,
  isShown,
  PetStoreError,
  type WriteOutcome,
  withOutcome,
} from '../contract/error.ts';
import { serviceName } from '../contract/service-name.ts';
import { type InputIssue, InvalidValuesError } from './invalid-input.ts';
import type { TypedError } from './result-types.ts';

/** The part of an error that is shown to clients. All other errors are masked. */
interface Description {
  readonly message: string;
  readonly extensions: Readonly<Record<string, unknown>> & { readonly code: string };
}

/** The request that an error belongs to. */
export interface FailedRequest {
  readonly scope: { readonly requestId: string };
  readonly report: { readonly isMutation: boolean };
  /** Reports an unexpected error. Returns what is shown instead. */
  reportError(error: unknown): { readonly message: string; readonly code: string };
}

/**
 * Gives an error its code and keeps its message, path and locations (docs/errors.md). The error
 * of a mutation's field also gets what became of the write. An unexpected error is masked and reported.
 */
export function typedError(error: GraphQLError, request: FailedRequest): TypedError {
  const { requestId } = request.scope;
  const { isMutation } = request.report;
  const described = describe(error);
  const { message, extensions } = described ?? mask(error, request);
  const { locations, path } = error;
  const outcome = isMutation && path ? writeOutcomeOf(error, path, extensions.code) : undefined;
  // The message of a resolver's own error stays as it is.
  const isOwn = described !== undefined && rootCause(error) instanceof GraphQLError;
  return {
    message: isOwn ? message : withOutcome(message, outcome),
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: { ...extensions, ...(outcome && !extensions['outcome'] && { outcome }), requestId },
  };
}

function writeOutcomeOf(error: GraphQLError, path: readonly unknown[], code: string): WriteOutcome {
  // Fields below a mutation's field are resolved after the write.
  if (path.length > 1) return 'DONE';
  const cause = rootCause(error);
  if (cause instanceof PetStoreError) return cause.writeOutcome;
  // An argument, which is refused before the resolver is called: the code is not a resolver's own.
  const isArgument = code === 'BAD_USER_INPUT' && error.extensions['code'] === undefined;
  return isArgument ? 'NOT_DONE' : 'UNKNOWN';
}

function describe(error: GraphQLError): Description | undefined {
  const cause = rootCause(error);
  if (!(cause instanceof GraphQLError)) return describeContractError(cause);
  const [node] = error.nodes ?? [];
  // A plugin or a resolver may throw a GraphQLError, which is shown with its extensions.
  const { http, code, ...details } = error.extensions as { http?: unknown; code?: string };
  const found = cause instanceof InvalidValuesError ? cause.issues : undefined;
  const isOfValue = code === undefined && node !== undefined && isValueNode(node);
  // Errors of the request have no path: syntax, validation, variables.
  const isOfInput = error.path === undefined || isOfValue || found !== undefined;
  const message = shorten(error.message);
  const issues =
    isOfValue && node.kind === Kind.VARIABLE
      ? [{ path: [node.name.value], message }]
      : found?.map((issue) => ({
          path: pathInVariables(issue.path, node),
          message: shorten(issue.message),
        }));
  return {
    message,
    extensions: {
      ...details,
      code: code ?? (isOfInput ? 'BAD_USER_INPUT' : 'INTERNAL_SERVER_ERROR'),
      ...(issues && { issues }),
    },
  };
}

/** Returns the path from the variable that a field uses, or else the one from its argument. */
function pathInVariables(path: InputIssue['path'], node: ASTNode | undefined): InputIssue['path'] {
  let at = node;
  for (const [index, name] of path.entries()) {
    const members =
      at?.kind === Kind.FIELD ? at.arguments : at?.kind === Kind.OBJECT ? at.fields : [];
    at = members?.find((member) => member.name.value === name)?.value;
    if (at?.kind === Kind.VARIABLE) return [at.name.value, ...path.slice(index + 1)];
  }
  return path;
}

/** Maximum length of a message that may quote input of the client. */
const maxMessageLength = 500;

function shorten(message: string): string {
  // Show a number that was kept as text as the number. Cut first: it may be as long as a body.
  const shown = message
    .slice(0, 2 * maxMessageLength)
    .replaceAll(/\{ rawJSON: "([^"]*)(?:" \}|$)/g, '$1');
  return shown.length > maxMessageLength ? `${shown.slice(0, maxMessageLength)}…` : shown;
}

function describeContractError(cause: unknown): Description | undefined {
  if (!isShown(cause)) return undefined;
  const { code, retryAfterMs, isFinal } = cause;
  const isInvalid = code === 'UPSTREAM_INVALID_RESPONSE';
  const problem = isInvalid ? `The ${serviceName} sent a response that breaks its contract. ` : '';
  const { status, body } = cause instanceof ErrorResponse ? cause : {};
  return {
    message: problem + cause.message,
    extensions: {
      code,
      ...(status !== undefined && { status }),
      ...(body && Number(status) < 500 && { error: body }),
      ...(retryAfterMs !== undefined && { retryAfterMs }),
      ...(isFinal && { retryable: false }),
    },
  };
}

function mask(error: GraphQLError, request: FailedRequest): Description {
  const { message, code } = request.reportError(rootCause(error));
  return { message, extensions: { code } };
}

/**
 * Types an error of a call, or of an argument that a resolver of the pet store has refused. It has no
 * `originalError` then, so that others do not mask it. Returns any other error as it is.
 */
export function typeOwnError(error: GraphQLError, request: FailedRequest): GraphQLError {
  const cause = rootCause(error);
  if (!(cause instanceof PetStoreError || cause instanceof InvalidValuesError)) return error;
  const { source, positions, path } = error;
  const { message, extensions } = typedError(error, request);
  // Without its nodes, from which it would be typed once more.
  return new GraphQLError(message, { source, positions, path, extensions });
}

function rootCause(error: unknown): unknown {
  return error instanceof GraphQLError && error.originalError
    ? rootCause(error.originalError)
    : error;
}
