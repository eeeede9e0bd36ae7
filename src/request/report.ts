import type { ServiceCall } from '../contract/pet-store.ts';
import type { ClientName } from './client-name.ts';

/** How an operation is reported. Its name is truncated, because clients choose it. */
export interface OperationLabel {
  readonly type: string;
  readonly name: string | undefined;
  /** Both, as the log shows them. */
  readonly title: string;
}

/** A call of a field, as `extensions.calls` lists it. */
interface ExplainedCall extends Pick<ServiceCall, 'operation' | 'status'> {
  readonly durationMs: number;
  readonly shared: boolean;
  readonly builtin?: true;
}

/** What is reported of a request, besides its calls. Each part of the gateway sets what it knows. */
export class Report {
  /** The HTTP status of the response. */
  status = 500;
  /** The GraphQL operation; undefined for other requests and until it is known. */
  operation: OperationLabel | undefined;
  /** The operation of the contract, if the request is for `/v1` or `/quickstart`. */
  v1Operation: string | undefined;
  /** The template of the path, such as `/v1/pets/{petId}`, if it is known. */
  route: string | undefined;
  /** The codes of the errors in the result, one per error. */
  codes: string[] = [];
  /** The deprecated fields of the operation. They are counted if a field needed the key. */
  deprecatedFields: readonly string[] = [];
  /** The origin of a preflight request that was refused. */
  refusedOrigin: string | undefined;
  /** The time to the first part of a response in parts, in milliseconds. */
  firstPartMs: number | undefined;
  /** The calls that have ended, if the request asks for them. */
  explained: { list(): readonly ExplainedCall[] } | undefined;
  /** Where its document is from, if that is reported. */
  documentSource: 'manifest' | 'sent' | undefined;
  /** The application that sent it, from the headers. */
  client: ClientName | undefined;
  /** The application's GraphQL library, from the parameters. */
  clientLibrary: ClientName | undefined;

  /** Whether the operation is a mutation, whose errors report what became of the write. */
  get isMutation(): boolean {
    return this.operation?.type === 'mutation';
  }

  /** The name of the application that sent it, or else of its GraphQL library. */
  get clientName(): string | undefined {
    return (this.client ?? this.clientLibrary)?.name;
  }
}
