import type { BackendConfig, Data, EndpointConfig, ServiceConfig } from '#contract';
import { type IsSecret, maskSecrets } from '../../config/index.ts';

/**
 * Prints a configuration as interpreted. Level 1 shows the routes, level 2 also their settings and components, level 3
 * also all settings of the service.
 * @param isSecret decides which values are masked. Default: by names and texts.
 */
export function printConfig(
  stream: NodeJS.WritableStream,
  whole: ServiceConfig,
  level: number,
  indent: string,
  isSecret?: IsSecret,
): void {
  const config = maskSecrets(whole as unknown as Data, '', isSecret) as unknown as ServiceConfig;
  const { endpoints, extra_config: components, router, name, version, port, listen_ip: ip, host, ...settings } = config;
  const lines: string[] = [];
  const line = (depth: number, text: string) => lines.push(indent.repeat(depth) + text);
  line(0, `Name: ${name || '(none)'}, version: ${version}`);
  line(0, `Address: ${ip || '*'}:${port}`);
  line(0, `Default hosts: ${host.join(', ') || '(none)'}`);
  printComponents(line, 0, components, level);
  if (level >= 3) {
    for (const [key, value] of Object.entries({ ...settings, router })) line(0, `${key}: ${JSON.stringify(value)}`);
  }
  line(0, `Endpoints: ${endpoints.length}`);
  for (const endpoint of endpoints) printEndpoint(line, endpoint, level);
  stream.write(`${lines.join('\n')}\n`);
}

type Line = (depth: number, text: string) => void;

function printEndpoint(line: Line, endpoint: EndpointConfig, level: number): void {
  line(1, `${endpoint.method} ${endpoint.endpoint} (timeout ${endpoint.timeout}ms)`);
  printComponents(line, 2, endpoint.extra_config, level);
  if (level >= 2) {
    const { cache_ttl, input_query_strings, input_headers, output_encoding, concurrent_calls } = endpoint;
    const shown = { cache_ttl, input_query_strings, input_headers, output_encoding, concurrent_calls };
    for (const [key, value] of Object.entries(shown)) line(2, `${key}: ${JSON.stringify(value)}`);
  }
  for (const backend of endpoint.backend) printBackend(line, backend, level);
}

function printBackend(line: Line, backend: BackendConfig, level: number): void {
  const { method, url_pattern: pattern, host, timeout, extra_config: components, ...rest } = backend;
  line(2, `${method} ${pattern} at ${host.join(', ')}${timeout ? ` (timeout ${timeout}ms)` : ''}`);
  printComponents(line, 3, components, level);
  if (level < 2) return;
  for (const [key, value] of Object.entries(rest)) line(3, `${key}: ${JSON.stringify(value)}`);
}

function printComponents(
  line: Line,
  depth: number,
  components: Readonly<Record<string, unknown>>,
  level: number,
): void {
  const names = Object.keys(components);
  if (names.length > 0) line(depth, `Components: ${names.join(', ')}`);
  if (level < 2) return;
  for (const [name, value] of Object.entries(components)) {
    line(depth + 1, `${name}: ${JSON.stringify(value)}`);
  }
}
