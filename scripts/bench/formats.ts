import { small } from './payloads.ts';
import type { Scenario } from './scenario.ts';

const backend = { url_pattern: '/small', deny: ['nothing'] };

/** Measures the cost of encoding 1 KiB of data in a format other than JSON. */
function scenario(output: string, accept = '*/*'): Scenario {
  const name = `encoding-${output}`;
  const path = `/bench/${name}/encoded`;
  const headers = ['Accept', accept];
  const encoded = {
    endpoint: path,
    output_encoding: output,
    backend: [{ ...backend, extra_config: { 'backend/constant': {} } }],
  };
  return {
    ...{ name, path: `/bench/${name}`, expected: small, endpoint: { backend: [backend] } },
    attach: () => ({ endpoints: [encoded], request: { method: 'GET', path, body: '', headers } }),
  };
}

/** Output encodings, compared with `json`. */
export const formatScenarios: readonly Scenario[] = [
  scenario('fast-json'),
  scenario('xml'),
  scenario('yaml'),
  scenario('negotiate', 'application/json'),
];
