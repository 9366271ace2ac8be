import type { BackendConfig, EndpointConfig } from '#contract';
import { testEndpoint } from '../../kernel/testing/test-config.ts';
import { furtherBackends } from '../../scripts/docs/examples.ts';

/** The backends of an endpoint whose component needs several of them. */
export function severalBackends(name: string): Partial<EndpointConfig> {
  const further = furtherBackends[name];
  if (!further) return {};
  const [first] = testEndpoint({}).backend;
  return { backend: [first!, ...further.map((fields): BackendConfig => ({ ...first!, ...fields }))] };
}
