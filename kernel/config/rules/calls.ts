import { type EndpointRule, placesOf, routeName, type ServiceRule } from './rule.ts';

/**
 * Checks that no part may take longer than the whole it belongs to: a response within the service's limit, a backend
 * call within its endpoint.
 *
 * Codes: warnings TIMEOUT_CUT, TIMEOUT_UNUSED.
 */
export const endpointTimeouts: EndpointRule = (endpoint, pointer, { write_timeout: limit }, report, written) => {
  const name = routeName(endpoint);
  if (limit > 0 && endpoint.timeout >= limit) {
    const message = `the write_timeout of ${limit}ms ends responses of ${name} before its timeout of ${endpoint.timeout}ms`;
    const hint = `raise write_timeout above ${endpoint.timeout}ms, or set it to "0s" for no limit`;
    report.warn('TIMEOUT_CUT', pointer, message, { hint, related: ['/write_timeout'] });
  }
  endpoint.backend.forEach(({ timeout }, index) => {
    if (timeout === undefined || timeout <= endpoint.timeout) return;
    const message = `the timeout of ${timeout}ms never applies: ${name} ends after ${endpoint.timeout}ms`;
    const related = placesOf('timeout', pointer, written);
    report.warn('TIMEOUT_UNUSED', `${pointer}/backend/${index}/timeout`, message, { related });
  });
};

/** Limits for connecting and waiting, which have no effect beyond the longest endpoint timeout. */
const PARTS = ['dialer_timeout', 'response_header_timeout'] as const;

/**
 * Checks the timeouts at the root like those of an endpoint.
 * Code: a warning, TIMEOUT_UNUSED.
 */
export const serviceTimeouts: ServiceRule = (service, report) => {
  const { read_timeout: whole, read_header_timeout: section } = service;
  if (whole > 0 && section !== undefined && section > whole) {
    const message = `the read_header_timeout of ${section}ms never applies: read_timeout ends the request after ${whole}ms`;
    report.warn('TIMEOUT_UNUSED', '/read_header_timeout', message, { related: ['/read_timeout'] });
  }
  const limited = PARTS.filter((field) => service[field] > 0);
  if (limited.length === 0) return;
  let longest = 0;
  for (const { timeout } of service.endpoints) longest = Math.max(longest, timeout);
  for (const field of limited) {
    if (longest === 0 || service[field] <= longest) continue;
    const message = `the ${field} of ${service[field]}ms never applies: the longest endpoint timeout is ${longest}ms`;
    report.warn('TIMEOUT_UNUSED', `/${field}`, message);
  }
};

/**
 * Warns of unsafe calls that would be repeated unexpectedly.
 *
 * Code: a warning, CONCURRENT_UNSAFE.
 */
export const unsafeRepetition: EndpointRule = (endpoint, pointer, _service, report) => {
  if (endpoint.concurrent_calls < 2) return;
  const at = endpoint.backend.findIndex(({ method }) => !/^(?:GET|HEAD|OPTIONS|TRACE)$/.test(method));
  const unsafe = endpoint.backend[at];
  if (!unsafe) return;
  const message = `${routeName(endpoint)} sends ${endpoint.concurrent_calls} equal ${unsafe.method ? `${unsafe.method} calls` : "calls with the client's method"} to its backend`;
  report.warn('CONCURRENT_UNSAFE', `${pointer}/concurrent_calls`, message, {
    related: [`${pointer}/backend/${at}`],
  });
};
