import type { ServiceCall } from '../contract/caller.ts';
import type { Operation } from '../contract/operation.ts';

/** An error of a result, as clients see it. */
export interface TypedError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[];
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>> & {
    readonly code: string;
    readonly requestId: string;
  };
}

/** A deprecated field that an operation uses, as `extensions.deprecations` lists it. */
export interface Deprecation {
  /** Its schema coordinate, such as `Query.owner`. */
  readonly field: string;
  /** The date of its removal, such as `2030-12-05`. */
  readonly removal: string;
  readonly replacement: string;
}

/** The extensions of a result. Both members are absent unless they apply. */
export interface ResultExtensions {
  /** The deprecated fields that the operation uses. */
  readonly deprecations?: readonly Deprecation[];
  /** The REST calls, if the caller asks for them; in parts, those that have ended. */
  readonly calls?: readonly ExplainedCall[];
}

/** The REST call of a field, as `extensions.calls` lists it. Times are in milliseconds. */
export interface ExplainedCall
  extends Pick<ServiceCall, 'status' | 'retries'>,
    Partial<Pick<ServiceCall, 'bytes'>> {
  /** The response key of the field. */
  readonly path: readonly (string | number)[];
  readonly operation: string;
  readonly method: Operation['method'];
  /** Below the base URL, with the names of parameters: `/owners/{ownerId}`. */
  readonly pathTemplate: string;
  /** The path with its values, as a service at `/v1` receives it: `/v1/owners?limit=3`. */
  readonly target: string;
  /** Present if the built-in backend has served the call. The size of its response is not known. */
  readonly builtin?: true;
  /** From the start of the operation until the field started. */
  readonly startMs: number;
  /** Until the field had its data or its error. */
  readonly durationMs: number;
  /** Whether the field joined the call of another field, or of another request with the same key. */
  readonly shared: boolean;
}
