import { expect, it } from 'vitest';
import { openDatabase } from '../../support/database.ts';
import { describeOnEveryDatabase } from '../../support/databases.ts';
import { openBuiltin } from '../../support/gateway.ts';
import { quiet } from '../../support/log.ts';

describeOnEveryDatabase('demo data', (createDatabase) => {
  it('is added once if ten servers start on the same empty database', async () => {
    const databaseUrl = await createDatabase();
    const open = () => openBuiltin(databaseUrl);
    const stores = await Promise.all(Array.from({ length: 10 }, open));
    for (const store of stores) await store[Symbol.asyncDispose]();
    const database = await openDatabase(databaseUrl, quiet.log);
    const pets = await database.selectFrom('pets').selectAll().execute();
    const orders = await database.selectFrom('orders').select('document').execute();
    await database.destroy();
    expect([pets.length, orders.length]).toEqual([12, 2]);
    // What clients may not expect.
    expect(pets.filter(({ status }) => status === null)).toHaveLength(1);
    expect(pets.filter(({ category_id: id }) => BigInt(id ?? 0) > 2n ** 53n)).toHaveLength(1);
  });
});
