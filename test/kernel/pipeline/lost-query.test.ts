import { deepEqual, match } from 'node:assert/strict';
import { toolServices } from '../../../kernel/cli/tools.ts';
import { Registry } from '../../../kernel/registry/registry.ts';
import { examine } from '../../../kernel/runtime/build/build.ts';
import { catalogue } from '../../../plugins/index.ts';

/** Warnings about the query of `url_pattern`, with their pointers. */
async function warningsOf(...endpoints: object[]): Promise<[pointer: string, message: string][]> {
  const registry = new Registry(catalogue, toolServices());
  try {
    const { errors, warnings } = await examine({ version: 3, endpoints }, {}, registry, true);
    deepEqual(errors, []);
    return warnings.filter(({ code }) => code === 'PATTERN_QUERY').map(({ pointer, message }) => [pointer, message]);
  } finally {
    await registry.close();
  }
}

const host = ['http://127.0.0.1:9'];
const endpoint = (pattern: string, names: string[], more: object = {}, fields: object = {}) => ({
  endpoint: '/a',
  input_query_strings: names,
  backend: [{ host, url_pattern: pattern, ...more }],
  ...fields,
});

describe('a query parameter in url_pattern', () => {
  it('causes a warning if forwarded parameters replace it', async () => {
    const [[pointer, message] = [], ...others] = await warningsOf(endpoint('/b?key=fixed&lang=en', ['lang', 'page']));
    deepEqual([pointer, others], ['/endpoints/0/backend/0/url_pattern', []]);
    match(message!, /^"key" of url_pattern is lost if a request has forwarded query parameters/);
  });

  it('causes a warning for each endpoint, even if they share their pipeline', async () => {
    const same = ['/a', '/b', '/c'].map((path) => ({ ...endpoint('/b?key=fixed', ['*']), endpoint: path }));
    deepEqual(
      (await warningsOf(...same)).map(([pointer]) => pointer),
      [0, 1, 2].map((at) => `/endpoints/${at}/backend/0/url_pattern`),
    );
  });

  const socket = { extra_config: { websocket: {} } };
  const lambda = { extra_config: { 'backend/lambda': { function_name: 'f', region: 'eu-west-1' } } };
  for (const [what, written] of [
    ['no parameter is forwarded', endpoint('/b?key=fixed', [])],
    ['the backend drops all parameters', endpoint('/b?key=fixed', ['page'], { input_query_strings: [''] })],
    ['the backend drops those that are forwarded', endpoint('/b?key=fixed', ['page'], { input_query_strings: ['x'] })],
    ['it is a default value', endpoint('/b?page=1', ['page', 'size'])],
    [
      'the protocol keeps the query',
      endpoint('/b?key=fixed', ['page'], { host: ['ws://127.0.0.1:9'], disable_host_sanitize: true }, socket),
    ],
    ['the protocol has no query', endpoint('/b?key=fixed', ['page'], lambda)],
  ] as const) {
    it(`causes no warning if ${what}`, async () => deepEqual(await warningsOf(written), []));
  }
});
