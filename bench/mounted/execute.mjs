import { createServer } from 'node:http';
import { createGateway, loadConfig } from '../../dist/index.js';

// A BFF that executes the operation of each request in process.
const gateway = await createGateway(loadConfig(process.env));

createServer((request, response) => {
  const { authorization } = request.headers;
  let text = '';
  request.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  request.once('end', async () => {
    const { query, variables } = JSON.parse(text);
    const body = JSON.stringify(await gateway.execute(query, variables, { authorization }));
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  });
}).listen(process.env.PORT, '127.0.0.1');
