import { type BackendConfig, type EndpointConfig, type EndpointSite, getKey, isObject } from '#contract';

/** True for a backend that only receives a copy of the traffic. */
export function isShadow(backend: BackendConfig): boolean {
  const options = backend.extra_config['proxy'];
  return isObject(options) && getKey(options, 'shadow') === true;
}

/** The backends whose responses form the reply, in order; `resp0` is the first of them. */
export function answeringBackends(endpoint: EndpointConfig): readonly BackendConfig[] {
  return endpoint.backend.filter((backend) => !isShadow(backend));
}

/** True when the endpoint passes bytes through unread, so that no data can be modified. */
export function passesBytes({ endpoint, encoding }: EndpointSite<unknown>): boolean {
  return encoding(endpoint.output_encoding)?.raw === true;
}

/** True when a backend's response is not decoded. */
export function isRaw({ encoding }: EndpointSite<unknown>, backend: BackendConfig): boolean {
  return encoding(backend.encoding)?.raw === true;
}
