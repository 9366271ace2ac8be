import { type EndpointRule, routeName } from './rule.ts';

/**
 * The service does not cut a response that an endpoint is still allowed to make.
 *
 * Code: a warning, TIMEOUT_CUT.
 */
export const writeTimeout: EndpointRule = (endpoint, pointer, { write_timeout: limit }, report) => {
  if (limit === 0 || !(endpoint.timeout >= limit)) return;
  const message = `write_timeout of ${limit}ms cuts ${routeName(endpoint)}, whose timeout is ${endpoint.timeout}ms`;
  report.warn('TIMEOUT_CUT', pointer, message, { related: ['/write_timeout'] });
};
