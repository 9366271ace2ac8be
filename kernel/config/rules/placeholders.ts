import { type EndpointConfig, getKey } from '#contract';
import { nearest } from '../nearest.ts';
import type { Report } from '../report.ts';
import { type EndpointRule, routeName } from './rule.ts';
import { isSequential } from './single-backend.ts';

/** Braces around quotes are literal text, such as JSON in a query string. */
const PLACEHOLDER = /\{([^{}"]*)\}/g;

/**
 * Every placeholder of a backend's `url_pattern` and `host` has a value at request time.
 *
 * Code: ROUTE_PLACEHOLDER.
 */
export const placeholders: EndpointRule = (endpoint, pointer, _service, report) => {
  let variables: ReadonlySet<string> | undefined;
  endpoint.backend.forEach((backend, index) => {
    const at = `${pointer}/backend/${index}`;
    if (backend.url_pattern.includes('{')) {
      variables ??= variablesOf(endpoint.endpoint);
      checkText(backend.url_pattern, `${at}/url_pattern`, { endpoint, index, variables }, report);
    }
    if (!backend.disable_host_sanitize) return;
    backend.host.forEach((host, position) => {
      if (!host.includes('{')) return;
      variables ??= variablesOf(endpoint.endpoint);
      checkText(host, `${at}/host/${position}`, { endpoint, index, variables }, report);
    });
  });
};

interface Place {
  readonly endpoint: EndpointConfig;
  /** Position of the backend. */
  readonly index: number;
  readonly variables: ReadonlySet<string>;
}

function checkText(text: string, pointer: string, place: Place, report: Report): void {
  for (const [, name] of text.matchAll(PLACEHOLDER)) {
    const fault = judge(name!, place);
    if (fault === undefined) continue;
    const message = `undefined output param '${name}'! endpoint: ${routeName(place.endpoint)}, backend: ${place.index}`;
    report.error('ROUTE_PLACEHOLDER', pointer, fault.reason ? `${message} (${fault.reason})` : message, {
      hint: fault.hint,
    });
  }
}

/** @returns undefined for a placeholder that can be filled. */
function judge(name: string, { endpoint, index, variables }: Place): { reason?: string; hint?: string } | undefined {
  if (variables.has(name)) return undefined;
  const response = /^resp(\d+)_.+$/.exec(name);
  if (response) {
    if (!isSequential(endpoint)) return { reason: 'answers of other backends need proxy.sequential' };
    if (Number(response[1]) < index) return undefined;
    return { reason: `backend ${response[1]} has not answered before backend ${index}` };
  }
  if (/^JWT\..+$/.test(name)) {
    const isValidated = getKey(endpoint.extra_config, 'auth/validator') !== undefined;
    return isValidated ? undefined : { reason: 'claims need auth/validator on the endpoint' };
  }
  if (/^input_(?:headers|query_strings)\..+$/.test(name)) return undefined;
  const hint = nearest(name, variables);
  return hint === undefined ? {} : { hint: `{${hint}}` };
}

function variablesOf(path: string): ReadonlySet<string> {
  return new Set(Array.from(path.matchAll(/\{([^{}]*)\}/g), ([, name]) => name!));
}
