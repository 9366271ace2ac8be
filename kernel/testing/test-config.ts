import type { AgentConfig, BackendConfig, EndpointConfig, ServiceConfig } from '#contract';
import { compileSchema } from '../config/index.ts';
import { agentSchema, routerSchema, serviceSchema } from '../contract/internal.ts';
import type { HarnessOptions } from './harness-options.ts';

/** A service with all defaults, overridden by the given values. */
export function testService(given: Partial<ServiceConfig> = {}): ServiceConfig {
  const { value } = compileSchema(serviceSchema)({ version: 3, endpoints: [] }, '');
  const router = compileSchema(routerSchema)({}, '').value;
  return { ...(value as ServiceConfig), router: router as ServiceConfig['router'], ...given };
}

/** An endpoint with all defaults and one backend, overridden by the given values. */
export function testEndpoint(around: HarnessOptions): EndpointConfig {
  const endpoint: EndpointConfig = {
    endpoint: '/test',
    method: 'GET',
    output_encoding: 'json',
    input_headers: [],
    input_query_strings: [],
    concurrent_calls: 1,
    timeout: 2000,
    cache_ttl: 0,
    extra_config: {},
    backend: [],
    ...around.endpoint,
  };
  if (endpoint.backend.length > 0) return endpoint;
  const backend: BackendConfig = {
    url_pattern: '/',
    method: 'GET',
    host: ['http://backend.test'],
    sd: 'static',
    sd_scheme: 'http',
    disable_host_sanitize: false,
    encoding: 'json',
    is_collection: false,
    input_headers: [],
    input_query_strings: [],
    extra_config: {},
    ...around.backend,
  };
  return { ...endpoint, backend: [backend] };
}

/** An agent with all defaults, overridden by the given values. */
export function testAgent(around: HarnessOptions): AgentConfig {
  const { value } = compileSchema(agentSchema)(
    { name: 'test', consumer: { topic: 'test' }, backend: [], extra_config: {} },
    '',
  );
  return { ...testEndpoint(around), ...(value as AgentConfig), timeout: 2000, ...around.agent };
}
