import { type EndpointRule, routeName } from './rule.ts';

/**
 * A call that changes something is not repeated by surprise.
 *
 * Code: a warning, CONCURRENT_UNSAFE.
 */
export const unsafeRepetition: EndpointRule = (endpoint, pointer, _service, report) => {
  if (endpoint.concurrent_calls < 2) return;
  const at = endpoint.backend.findIndex(({ method }) => !/^(?:GET|HEAD|OPTIONS|TRACE)$/.test(method));
  const unsafe = endpoint.backend[at];
  if (!unsafe) return;
  const message = `${routeName(endpoint)} sends ${endpoint.concurrent_calls} equal ${unsafe.method} calls to its backend`;
  report.warn('CONCURRENT_UNSAFE', `${pointer}/concurrent_calls`, message, {
    related: [`${pointer}/backend/${at}`],
  });
};
