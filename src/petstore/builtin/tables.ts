import type { Generated, Kysely } from 'kysely';
import { createTable, type RowOf } from '../../backends/builtin/table.ts';
import type { Tables } from '../../backends/builtin/tables.ts';
import { pet } from '../records.ts';

/** The columns of pets. */
export const pets = createTable(pet);

/** The tables of the pet store, beside those of any. */
export interface PetStoreTables extends Tables {
  pets: RowOf<(typeof pet)['fields']> & { id: Generated<bigint> };
  /** An order is an opaque JSON document, because the contract does not specify its fields. */
  orders: { id: Generated<bigint>; document: string };
  messages: { id: string; message: string; status: string; created_at: string };
}

/** A database of the pet store. */
export type Database = Kysely<PetStoreTables>;

/** The statements of later migrations, by names such as `0004-pet-breed`; released ones never change. */
export const migrations: Readonly<Record<string, readonly string[]>> = {};

/** Returns the statements that create the tables in the first migration, which never changes. */
export const createTables = (id: string): readonly string[] => [
  `create table pets (${id}, name text not null, category_id bigint not null,
    status text check (status in ('available', 'pending', 'sold')))`,
  'create index pets_by_status on pets (status, id)',
  `create table orders (${id}, document text not null)`,
  `create table messages (id text primary key, message text not null, status text not null,
    created_at text not null)`,
];
