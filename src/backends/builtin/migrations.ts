import { type Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';

/** In the order of their names; one that was released is never changed, only followed. */
const migrations: Record<string, Migration> = {
  '0001-pet-store': {
    async up(db: Kysely<unknown>) {
      await db.schema
        .createTable('pets')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('category_id', 'bigint', (column) => column.notNull())
        .addColumn('status', 'text', (column) =>
          column.check(sql`status in ('available', 'pending', 'sold')`),
        )
        .execute();
      await db.schema.createIndex('pets_by_status').on('pets').columns(['status', 'id']).execute();
      await db.schema
        .createTable('orders')
        .addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
        .addColumn('document', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('messages')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('message', 'text', (column) => column.notNull())
        .addColumn('status', 'text', (column) => column.notNull())
        .addColumn('created_at', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('accounts')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .addColumn('name', 'text', (column) => column.notNull())
        .addColumn('created_at', 'text', (column) => column.notNull())
        .execute();
      await db.schema
        .createTable('api_keys')
        .addColumn('key_hash', 'text', (column) => column.primaryKey())
        .addColumn('account_id', 'text', (column) => column.notNull().references('accounts.id'))
        .addColumn('created_at', 'text', (column) => column.notNull())
        .addColumn('revoked_at', 'text')
        .execute();
    },
  },
};

/** Brings the tables up to date. @throws the error of the migration that failed. */
export async function migrate<T>(database: Kysely<T>): Promise<void> {
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
