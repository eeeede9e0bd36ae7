import { createServer } from 'node:http';
import { createGateway, loadConfig } from '../../dist/index.js';

const gateway = await createGateway(loadConfig(process.env));
createServer(gateway.nodeListener).listen(process.env.PORT, '127.0.0.1');
