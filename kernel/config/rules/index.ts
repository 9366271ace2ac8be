import type { ServiceConfig } from '#contract';
import type { Report } from '../report.ts';
import type { Structure } from '../structure.ts';
import { dnsCacheTtl } from './dns-cache-ttl.ts';
import { checkEndpointPath } from './endpoint-path.ts';
import { forwardedNames } from './forwarded-names.ts';
import { listenAddress } from './listen-address.ts';
import { placeholders } from './placeholders.ts';
import { checkCollisions, type Route } from './route-collisions.ts';
import type { EndpointRule } from './rule.ts';
import { singleBackend } from './single-backend.ts';
import { clientTls, serverTls } from './tls.ts';
import { trustedProxies } from './trusted-proxies.ts';
import { unsafeRepetition } from './unsafe-repetition.ts';
import { writeTimeout } from './write-timeout.ts';

const endpointRules: readonly EndpointRule[] = [
  singleBackend,
  placeholders,
  forwardedNames,
  unsafeRepetition,
  writeTimeout,
];

/**
 * Checks what no schema can say: how fields and endpoints go together. Whatever is broken in its structure is left out,
 * so that every other mistake is still found.
 */
export function checkService(service: ServiceConfig, structure: Structure, report: Report): void {
  if (structure.isSound('/listen_ip')) listenAddress(service, report);
  if (structure.isSound('/dns_cache_ttl')) dnsCacheTtl(service, report);
  if (structure.isSound('/tls')) serverTls(service, report);
  if (structure.isSound('/client_tls')) clientTls(service, report);
  const hasRouter = structure.isSound('/extra_config');
  if (hasRouter) trustedProxies(service, report);
  if (!Array.isArray(service.endpoints)) return;

  const healthPath = hasRouter && !service.router.disable_health ? service.router.health_path : undefined;
  const pathOptions = { disableRest: service.disable_rest === true, healthPath };
  const routes: Route[] = [];
  service.endpoints.forEach((endpoint, index) => {
    const pointer = `/endpoints/${index}`;
    if (typeof endpoint?.endpoint === 'string') {
      checkEndpointPath(endpoint, pointer, pathOptions, report);
      routes.push({ method: String(endpoint.method), endpoint: endpoint.endpoint, pointer });
    }
    if (!structure.isSound(pointer)) return;
    for (const rule of endpointRules) rule(endpoint, pointer, service, report);
  });
  checkCollisions(routes, report);
}
