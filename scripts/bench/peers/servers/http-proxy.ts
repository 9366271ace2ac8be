import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { paths } from '../../work.ts';
import { transformer } from './transform.ts';

const [packages = '', scenario = '', port, upstream = ''] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const transform = transformer(scenario);

const proxy = require('http-proxy').createProxyServer({
  target: upstream + paths[scenario]![0],
  ignorePath: true,
  agent: new Agent({ keepAlive: true }),
  selfHandleResponse: transform !== undefined,
});
if (transform) {
  proxy.on('proxyRes', (from: IncomingMessage, _: IncomingMessage, response: ServerResponse) =>
    transform(from, response),
  );
}
proxy.on('error', (_error: Error, _: IncomingMessage, response: ServerResponse) => response.writeHead(502).end());
createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1');
