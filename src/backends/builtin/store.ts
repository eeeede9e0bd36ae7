import type { Kysely } from 'kysely';
import type { Operations, ResultOf, ValueOf } from '../../contract/operation.ts';
import type { Log } from '../../telemetry/log.ts';
import type { DemoKey } from './demo-keys.ts';
import type { RecordTable } from './table.ts';
import type { Engine, Tables } from './tables.ts';

/** The query of an operation. */
export interface Statement<Schema, Value, Result> {
  /** The name of its span: a verb of SQL and a table. */
  readonly title: string;
  /** Refuses a value that can't be stored, which needs no connection. @throws ErrorResponse */
  check?(value: Value): void;
  /** @param call whether a demo key has it find nothing, and what the log calls its request */
  run(connection: Kysely<Schema>, value: Value, call: StatementCall): Promise<Result>;
}

/** What a statement knows of its call. */
export interface StatementCall {
  readonly isEmpty: boolean;
  readonly requestId: string;
}

/** The query of each operation. */
export type Statements<Schema, All extends Operations> = {
  readonly [Id in keyof All]: Statement<Schema, ValueOf<All[Id]>, ResultOf<All[Id]>>;
};

/** What the built-in backend stores, and how, for one contract. */
export interface Store<Schema extends Tables, All extends Operations> {
  /** Its statements that create the tables in the first migration, which never changes. */
  createTables(id: string): readonly string[];
  /** The statements of its later migrations, by names that sort after `0003-…`; released ones never change. */
  readonly migrations: Readonly<Record<string, readonly string[]>>;
  /** The table that shows whether the database can be read, and where the tables are. */
  readonly mainTable: string;
  /** The kinds of records that can be imported and exported, by their tables; `document` is opaque JSON. */
  readonly recordKinds: Readonly<Record<string, RecordTable | 'document'>>;
  open(database: Kysely<Schema>, engine: Engine, log: Log): Statements<Schema, All>;
  /** Fills the empty tables of a demo. */
  insertDemoData(transaction: Kysely<Schema>): Promise<void>;
  /** The demo keys that behave in its own ways, by key. */
  readonly demoKeys: Readonly<Record<string, DemoKey>>;
}

/** The store of any contract. */
// biome-ignore lint/suspicious/noExplicitAny: its statements are typed where it is declared.
export type AnyStore = Store<any, any>;
