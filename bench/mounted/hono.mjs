import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createGateway, loadConfig } from '../../dist/index.js';

const gateway = await createGateway(loadConfig(process.env));
const app = new Hono();
app.all('/graphql', (context) => gateway(context.req.raw));
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' });
