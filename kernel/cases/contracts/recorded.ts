import { bodyOf, headersOf, readHar, targetOf } from '../har.ts';
import type { Observation } from './observation.ts';

/**
 * The complete responses of endpoints to clients in a recording of telemetry/recorder.
 * @throws ConfigError TEST_RECORDING.
 */
export function recordedResponses(path: string): Observation[] {
  return readHar(path, '').flatMap(({ request, response, _sluice: link }) => {
    const isClient = link !== undefined && link.backend === undefined && typeof link.endpoint === 'string';
    if (!isClient || link.omitted?.response !== undefined || response.status === 0) return [];
    const { method } = request;
    const received = { status: response.status, headers: headersOf(response.headers), body: bodyOf(response.content) };
    const example = `${method} ${targetOf(request.url)}`;
    return [{ endpoint: link.endpoint as string, method, example, response: received, notes: [] }];
  });
}
