import { deepEqual, equal } from 'node:assert/strict';
import { createFolder, sluice } from './command.ts';

/** Components of KrakenD that this release does not support. */
const ofEndpoints = ['ai/semantic-cache'];

interface Issue {
  readonly code: string;
  readonly message: string;
  readonly pointer: string;
}

function mapOf(namespaces: readonly string[]): object {
  return Object.fromEntries(namespaces.map((namespace) => [namespace, {}]));
}

describe('check, with components that are not supported yet', () => {
  let exitCode: number | null;
  let issues: readonly Issue[];

  before(async () => {
    const folder = createFolder();
    const backend = { host: ['http://127.0.0.1:9'], url_pattern: '/' };
    const endpoint = { endpoint: '/x', extra_config: mapOf(ofEndpoints), backend: [backend] };
    const file = folder.write('components.json', { version: 3, endpoints: [endpoint] });
    const { code, out } = await sluice('check', '-c', file, '--format', 'json');
    exitCode = code;
    issues = (JSON.parse(out) as { errors: Issue[] }).errors;
    folder.remove();
  });

  for (const namespace of ofEndpoints) {
    it(`reports the namespace ${namespace}`, () => {
      const pointer = `/endpoints/0/extra_config/${namespace.replaceAll('/', '~1')}`;
      const results = issues.filter((issue) => issue.pointer === pointer);
      deepEqual(
        results.map(({ code, message }) => `${code} ${message}`),
        [`CONFIG_NOT_SUPPORTED '${namespace}' is not supported yet`],
      );
      equal(exitCode, 1);
    });
  }
});
