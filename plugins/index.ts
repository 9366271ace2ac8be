import type { Catalogue, Manifest } from '#contract';
import { compatibility } from './compatibility.ts';
import { order } from './order.ts';

/** Every namespace and the module that brings it. The path is the namespace; aliases name the same module again. */
const plugins: Manifest = {
  'admin/api': () => import('./admin/api.ts'),
  'admin/reload': () => import('./admin/reload.ts'),
  'auth/client-credentials': () => import('./auth/client-credentials/index.ts'),
  'auth/jose': () => import('./auth/jose.ts'),
  'auth/signer': () => import('./auth/signer/index.ts'),
  'auth/validator': () => import('./auth/validator/index.ts'),
  'backend/http': () => import('./backend/http/index.ts'),
  'backend/http/client': () => import('./backend/http/client/index.ts'),
  'discovery/dns': () => import('./discovery/dns.ts'),
  'discovery/dns-shared': () => import('./discovery/dns-shared.ts'),
  'discovery/static': () => import('./discovery/static.ts'),
  'encoding/eventstream': () => import('./encoding/eventstream.ts'),
  'encoding/fast-json': () => import('./encoding/fast-json.ts'),
  'encoding/json': () => import('./encoding/json.ts'),
  'encoding/json-collection': () => import('./encoding/json-collection.ts'),
  'encoding/ndjson': () => import('./encoding/ndjson.ts'),
  'encoding/negotiate': () => import('./encoding/negotiate.ts'),
  'encoding/no-op': () => import('./encoding/no-op.ts'),
  'encoding/rss': () => import('./encoding/rss/index.ts'),
  'encoding/safejson': () => import('./encoding/safejson.ts'),
  'encoding/sse': () => import('./encoding/sse.ts'),
  'encoding/streaming': () => import('./encoding/streaming.ts'),
  'encoding/string': () => import('./encoding/string.ts'),
  'encoding/xml': () => import('./encoding/xml.ts'),
  'encoding/yaml': () => import('./encoding/yaml.ts'),
  'modifier/martian': () => import('./modifier/martian/index.ts'),
  proxy: () => import('./proxy/index.ts'),
  'qos/circuit-breaker': () => import('./qos/circuit-breaker/index.ts'),
  'qos/circuit-breaker/http': () => import('./qos/circuit-breaker/http.ts'),
  'qos/ratelimit/proxy': () => import('./qos/ratelimit/proxy.ts'),
  'qos/ratelimit/router': () => import('./qos/ratelimit/router.ts'),
  'security/bot-detector': () => import('./security/bot-detector/index.ts'),
  'security/cors': () => import('./security/cors/index.ts'),
  'security/http': () => import('./security/http/index.ts'),
  'server/debug': () => import('./server/debug.ts'),
  'server/echo': () => import('./server/echo.ts'),
  'server/health': () => import('./server/health.ts'),
  'telemetry/gelf': () => import('./telemetry/gelf/index.ts'),
  'telemetry/logging': () => import('./telemetry/logging/index.ts'),
  'telemetry/logstash': () => import('./telemetry/logstash.ts'),
  'validation/cel': () => import('./validation/cel/index.ts'),
  'validation/json-schema': () => import('./validation/json-schema/index.ts'),
};

/** Everything this release can do. */
export const catalogue: Catalogue = {
  plugins,
  order,
  compatibility,
  audit: () => import('./audit/index.ts'),
  always: ['server/health', 'server/debug', 'server/echo'],
  defaultProtocol: 'backend/http/client',
};
