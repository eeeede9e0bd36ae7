import { expect, it } from 'vitest';
import { engineOf, openDatabase } from '../../../src/backends/builtin/database.ts';
import { addDemoData } from '../../../src/backends/builtin/demo.ts';
import { whenFree } from '../../../src/backends/builtin/locks.ts';
import { describeOnEveryDatabase } from '../../support/databases.ts';
import { quiet } from '../../support/log.ts';

describeOnEveryDatabase('demo data', (createDatabase) => {
  it('is added once if ten servers start on the same empty database', async () => {
    const databaseUrl = await createDatabase();
    const open = () =>
      openDatabase(databaseUrl, quiet.log, { poolSize: 10, metrics: quiet.metrics });
    const databases = await Promise.all(Array.from({ length: 10 }, open));
    const add = (database: Awaited<ReturnType<typeof open>>) =>
      whenFree(() => addDemoData(database, engineOf(databaseUrl)), quiet.log);
    await Promise.all(databases.map(add));
    const [first] = databases;
    const pets = await first?.selectFrom('pets').select('name').execute();
    const orders = await first?.selectFrom('orders').select('document').execute();
    await Promise.all(databases.map((database) => database.destroy()));
    expect([pets?.length, orders?.length]).toEqual([12, 2]);
  });
});
