import { type BackendConfig, type EndpointConfig, getKey, isObject } from '#contract';

/** Output encodings under which status and body go to the client as the backend gave them. */
const rawOutputs = new Set(['no-op', 'streaming', 'sse', 'ndjson', 'eventstream']);

/** True when the backend's answer is not decoded, so that no failure can be made of its status. */
export function isPassedThrough(endpoint: EndpointConfig, backend: BackendConfig): boolean {
  return rawOutputs.has(endpoint.output_encoding) || backend.encoding === 'no-op';
}

/** True when a backend declared before the given one puts its errors under the same name. */
export function sharesAlias(endpoint: EndpointConfig, index: number, alias: string): boolean {
  return endpoint.backend.slice(0, index).some((earlier) => {
    const own = getKey(earlier.extra_config, 'backend/http');
    return isObject(own) && getKey(own, 'return_error_details') === alias;
  });
}
