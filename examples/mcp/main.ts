import { createServer } from 'node:http';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { call } from './call.ts';
import { tools } from './tools.ts';

const { PETSTORE_API_KEY: key, PORT: port } = process.env;

/** Over HTTP, each caller sends a key of its own. Over stdio, the only caller has that of the environment. */
function createMcpServer(): McpServer {
  const server = new McpServer({ name: 'petstore', version: '0.3.0-dev' });
  for (const tool of tools) {
    server.registerTool(tool.name, tool.config, (variables, { mcpReq, http }) => {
      const own = key ? `Bearer ${key}` : null;
      const authorization = http ? (http.req?.headers.get('authorization') ?? null) : own;
      return call({ ...tool, variables, authorization, signal: mcpReq.signal });
    });
  }
  return server;
}

if (!port) {
  serveStdio(createMcpServer);
} else {
  const handle = toNodeHandler(createMcpHandler(createMcpServer));
  const [isHostValid, isOriginValid] = [localhostHostValidation(), localhostOriginValidation()];
  const server = createServer((request, response) => {
    if (isHostValid(request, response) && isOriginValid(request, response))
      handle(request, response);
  });
  server.listen(Number(port), '127.0.0.1', () => {
    const { port: bound } = server.address() as { port: number };
    process.stdout.write(`MCP  http://127.0.0.1:${bound}/mcp\n`);
  });
}
