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
  /** Its schema coordinate, such as `Query.pet`. */
  readonly field: string;
  /** The date of its removal, such as `2030-12-05`. */
  readonly removal: string;
  readonly replacement: string;
}
