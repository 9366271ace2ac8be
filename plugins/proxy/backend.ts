import type { AtBackend, BackendSite, Infer } from '#contract';
import { isRaw, passesBytes } from './backends.ts';
import { compileFlatmap } from './flatmap.ts';
import type { backendProxySchema } from './schema.ts';

type BackendProxySite = BackendSite<Infer<typeof backendProxySchema>>;

/**
 * Attaches the namespace to a backend.
 *
 * @throws ConfigError PROXY_SHADOW_RAW, PROXY_FLATMAP_ARGS.
 */
export function attachBackend(site: BackendProxySite): AtBackend {
  const { config, backend } = site;
  const shape = config.flatmap_filter && compileFlatmap(config.flatmap_filter, site);
  const raw = isRaw(site, backend) || passesBytes(site);
  if (shape && raw) {
    site.warn(
      'PROXY_IDLE',
      '/flatmap_filter',
      'flatmap_filter has no effect on a body that is forwarded without being decoded',
    );
  }
  return {
    ...(shape && !raw && { shape, readsData: true }),
    ...attachShadow(site),
  };
}

function attachShadow(site: BackendProxySite): Pick<AtBackend, 'shadow'> {
  const { config, endpoint, fault, warn } = site;
  const { shadow, shadow_timeout: timeoutMs = 0 } = config;
  if (!shadow) {
    if (timeoutMs > 0) warn('PROXY_IDLE', '/shadow_timeout', 'shadow_timeout has no effect without shadow');
    return {};
  }
  if (passesBytes(site)) {
    throw fault(
      'PROXY_SHADOW_RAW',
      '/shadow',
      `shadow backends cannot be used with output_encoding ${endpoint.output_encoding}`,
    );
  }
  return { shadow: timeoutMs > 0 ? { timeoutMs } : {} };
}
