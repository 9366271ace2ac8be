import { type BackendConfig, type EndpointConfig, getKey, isObject } from '#contract';

/** The name of this namespace in older configurations. */
export const oldName = 'github.com/devopsfaith/krakend/proxy';

/** True for a backend that only gets a copy of the traffic. */
export function isShadow(backend: BackendConfig): boolean {
  const options = backend.extra_config['proxy'] ?? backend.extra_config[oldName];
  return isObject(options) && getKey(options, 'shadow') === true;
}

/** The backends whose answers make the response, in order; `resp0` is the first of them. */
export function answeringBackends(endpoint: EndpointConfig): readonly BackendConfig[] {
  return endpoint.backend.filter((backend) => !isShadow(backend));
}

/** True when the endpoint hands bytes on unread, so that there is no data to work on. */
export function passesBytes(endpoint: EndpointConfig): boolean {
  return rawOutputs.has(endpoint.output_encoding);
}

const rawOutputs = new Set(['no-op', 'streaming', 'sse', 'ndjson', 'eventstream']);
