import type { AtBackend, BackendSite, Infer } from '#contract';
import { passesBytes } from './backends.ts';
import { compileFlatmap } from './flatmap.ts';
import type { backendProxySchema } from './schema.ts';

type BackendProxySite = BackendSite<Infer<typeof backendProxySchema>>;

/**
 * The namespace in a backend.
 *
 * @throws ConfigError PROXY_SHADOW_RAW, PROXY_FLATMAP_ARGS.
 */
export function attachBackend(site: BackendProxySite): AtBackend {
  const { config, backend, endpoint } = site;
  const shape = config.flatmap_filter && compileFlatmap(config.flatmap_filter, site);
  const isRaw = backend.encoding === 'no-op' || passesBytes(endpoint);
  if (shape && isRaw) {
    site.warn('PROXY_IDLE', '/flatmap_filter', 'flatmap_filter does nothing on a body that is handed on unread');
  }
  return {
    ...(shape && !isRaw && { shape, readsData: true }),
    ...attachShadow(site),
  };
}

function attachShadow({ config, endpoint, fault, warn }: BackendProxySite): Pick<AtBackend, 'shadow'> {
  const { shadow, shadow_timeout: timeoutMs = 0 } = config;
  if (!shadow) {
    if (timeoutMs > 0) warn('PROXY_IDLE', '/shadow_timeout', 'shadow_timeout does nothing without shadow');
    return {};
  }
  if (passesBytes(endpoint)) {
    throw fault(
      'PROXY_SHADOW_RAW',
      '/shadow',
      `no shadow backend where output_encoding is ${endpoint.output_encoding}`,
    );
  }
  return { shadow: timeoutMs > 0 ? { timeoutMs } : {} };
}
