import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';

const statuses = ['available', 'pending', 'sold', undefined];
const pets = [{ id: 1, name: 'Shrimp', categoryId: 7, status: 'available' }];

const service = createServer(async (request, response) => {
  const send = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  const fail = (status, code, message) => send(status, { code, message, status });

  if (request.headers.authorization !== 'Bearer demo-key') {
    return fail(401, 'unauthenticated', 'Send the API key "demo-key".');
  }
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (request.method === 'GET' && pathname === '/v1/pets') {
    const status = searchParams.get('status');
    const found = pets.filter((pet) => status === null || pet.status === status);
    return send(200, found.slice(0, Number(searchParams.get('limit') ?? 20)));
  }
  const [, id] = /^\/v1\/pets\/(\d+)$/.exec(pathname) ?? [];
  const pet = pets.find((candidate) => String(candidate.id) === id);
  if (request.method === 'GET' && pet) return send(200, pet);
  if (request.method !== 'POST' || pathname !== '/v1/pets') {
    return fail(404, 'not_found', 'There is no such pet.');
  }

  const { name, categoryId, status } = (await json(request).catch(() => null)) ?? {};
  if (typeof name !== 'string' || !Number.isInteger(categoryId) || !statuses.includes(status)) {
    return fail(400, 'invalid', 'Send a name, a category and, optionally, a status.');
  }
  if (categoryId < 1 || categoryId > 9) {
    return fail(400, 'unknown_category', 'This shop has the categories 1 to 9.');
  }
  const added = { id: pets.length + 1, name, categoryId, status };
  pets.push(added);
  send(201, added);
});

service.listen(Number(process.env.PORT ?? 4010), '127.0.0.1', () => {
  console.log(`Service http://127.0.0.1:${service.address().port}/v1`);
});
