import type { IncomingMessage, ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { paths } from '../../work.ts';
import { transformer } from './transform.ts';

const [packages = '', scenario = '', port, target] = process.argv.slice(2);
const require = createRequire(`${packages}/package.json`);
const transform = transformer(scenario);

const route = {
  prefix: `/bench/${scenario}`,
  prefixRewrite: paths[scenario]![0],
  pathRegex: '',
  target,
  disableQsOverwrite: true,
  ...(transform && {
    hooks: {
      onResponse: (_: IncomingMessage, response: ServerResponse, body: IncomingMessage) => transform(body, response),
    },
  }),
};
await require('fast-gateway')({ routes: [route] }).start(Number(port), '127.0.0.1');
