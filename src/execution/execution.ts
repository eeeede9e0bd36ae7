import type { GraphQLError } from 'graphql';
import type { VariableValues } from './inputs.ts';

/** The error that a resolver threw. */
export class Thrown {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

/** The inputs and the state of one execution of a compiled operation. */
export class Execution {
  readonly context: object;
  /** The variables of the request, before coercion. */
  readonly rawVariables: Readonly<Record<string, unknown>>;
  readonly variables: VariableValues;
  readonly errors: GraphQLError[] = [];
  /** What the root resolvers returned, by index; a `Thrown` if they threw. */
  readonly rootResults: unknown[] = [];
  #controller: AbortController | undefined;
  #isFinished = false;

  constructor(
    context: object,
    rawVariables: Readonly<Record<string, unknown>>,
    variables: VariableValues,
  ) {
    this.context = context;
    this.rawVariables = rawVariables;
    this.variables = variables;
  }

  /** Returns a signal for resolvers; it is aborted when the response is complete. */
  readonly getAbortSignal = (): AbortSignal => {
    this.#controller ??= new AbortController();
    if (this.#isFinished) this.#controller.abort();
    return this.#controller.signal;
  };

  /** Ends the execution and aborts the signal, so that resolvers can stop their work. */
  finish(): void {
    this.#isFinished = true;
    this.#controller?.abort();
  }
}
