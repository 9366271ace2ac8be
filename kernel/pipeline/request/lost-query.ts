import { type BackendConfig, ConfigError, type EndpointConfig, Query } from '#contract';
import { joinPointer } from '../../config/index.ts';
import type { Build } from '../attach/build.ts';
import type { Route } from '../compile/route.ts';

/**
 * Warns of parameters in a `url_pattern` that are lost when query parameters are forwarded. A parameter that is itself
 * forwarded is a default value. Code: a warning, PATTERN_QUERY.
 */
export function warnOfLostQuery({ config, noticed }: Build, routes: readonly Route[]): void {
  for (const { endpoint, stages } of routes) {
    if (endpoint.input_query_strings.length === 0) continue;
    for (const [index, backend] of endpoint.backend.entries()) {
      const { hostless, keepsQuery } = backend.url_pattern.includes('?') ? stages.backends[index]! : ignored;
      const lost = hostless || keepsQuery ? [] : lostParameters(endpoint, backend);
      if (lost.length === 0) continue;
      const pointer = joinPointer('/endpoints', config.endpoints.indexOf(endpoint), 'backend', index, 'url_pattern');
      const names = lost.map((name) => `"${name}"`).join(', ');
      const message = `${names} of url_pattern is lost if a request has forwarded query parameters, which replace the whole query`;
      const hint = 'remove input_query_strings, or move the parameter to another place, such as a header';
      const related = [joinPointer('/endpoints', config.endpoints.indexOf(endpoint), 'input_query_strings')];
      noticed.push(new ConfigError('PATTERN_QUERY', pointer, message, { hint, related }));
    }
  }
}

const ignored = { hostless: true, keepsQuery: true };

function lostParameters({ input_query_strings: ofEndpoint }: EndpointConfig, backend: BackendConfig): string[] {
  const { input_query_strings: ofBackend, url_pattern: pattern } = backend;
  const all = ofEndpoint.includes('*');
  const forwarded = ofBackend.length === 0 ? ofEndpoint : ofBackend.filter((name) => all || ofEndpoint.includes(name));
  const own = [...Query.parse(pattern.slice(pattern.indexOf('?') + 1))].map(([name]) => name);
  return forwarded.some((name) => name !== '') ? own.filter((name) => !forwarded.includes(name)) : [];
}
