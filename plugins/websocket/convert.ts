import { type Conversion, type DataObject, isObject, joinPointer } from '#contract';

/**
 * Converts WebSocket endpoints: method GET, bytes passed through unchanged, and the headers listed by the component
 * forwarded. Code: a warning WEBSOCKET_METHOD.
 */
export function convertEndpoints(document: DataObject, report: Conversion): void {
  const { endpoints } = document;
  if (!Array.isArray(endpoints)) return;
  for (const [index, endpoint] of endpoints.entries()) {
    if (!isObject(endpoint) || !isObject(endpoint['extra_config'])) continue;
    const { extra_config: components, method } = endpoint;
    const config = Object.hasOwn(components, 'websocket') ? components['websocket'] : undefined;
    if (!isObject(config)) continue;
    if (method !== undefined && method !== 'GET') {
      const message = 'WebSockets are opened with GET: the configured method is replaced';
      report.warn('WEBSOCKET_METHOD', joinPointer('/endpoints', index, 'method'), message);
    }
    const { input_headers: headers = [] } = config;
    endpoint['method'] = 'GET';
    endpoint['output_encoding'] = 'no-op';
    // A value that is not a list of names is reported when the component's own settings are checked.
    if (Array.isArray(headers) && headers.every((name) => typeof name === 'string'))
      endpoint['input_headers'] = headers;
  }
}
