import type { GraphQLError } from 'graphql';
import type { VariableValues } from './inputs.ts';

/** What a resolver threw. */
export class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** One execution of a compiled operation: what it works with, and how far it has come. */
export class Execution {
  readonly context: object;
  /** The variables of the request. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly variables: VariableValues;
  readonly errors: GraphQLError[] = [];
  /** What resolvers of root fields returned or threw, by index. */
  readonly outcomes: unknown[] = [];
  #controller: AbortController | undefined;
  #isFinished = false;

  constructor(
    context: object,
    given: Readonly<Record<string, unknown>>,
    variables: VariableValues,
  ) {
    this.context = context;
    this.given = given;
    this.variables = variables;
  }

  /** For resolvers: a signal that is aborted when the response is complete. */
  readonly getAbortSignal = (): AbortSignal => {
    this.#controller ??= new AbortController();
    if (this.#isFinished) this.#controller.abort();
    return this.#controller.signal;
  };

  /** Ends the execution: what resolvers have started for it is no longer needed. */
  finish(): void {
    this.#isFinished = true;
    this.#controller?.abort();
  }
}
