import { type BackendConfig, type BackendSite, ConfigError, type HostList, type Protocol } from '#contract';
import { joinPointer, nearest } from '../config/index.ts';
import type { Registry } from '../registry/registry.ts';
import { collecting } from './attach.ts';
import { type Build, createSite, type Stance } from './site.ts';

/**
 * Opens the discovery that a backend's `sd` names.
 * @returns null for a protocol that carries its own address, and after a mistake, which is then in `build.errors`.
 */
export function openHosts(
  { build, registry }: { readonly build: Build; readonly registry: Registry },
  backend: BackendConfig,
  protocol: Protocol | undefined,
  stance: Stance,
): HostList | null {
  const discovery = registry.discovery(backend.sd);
  if (!discovery) {
    build.errors.push(unknownDiscovery(registry, backend.sd, joinPointer(stance.pointer, 'sd')));
    return null;
  }
  if (!protocol || protocol.hostless || backend.host.length === 0) return null;
  const plugin = registry.plugin(`discovery/${backend.sd}`)!;
  const open = () => discovery.open(createSite(build, plugin, undefined, stance) as BackendSite<undefined>);
  return collecting(build, stance.pointer, open) ?? null;
}

function unknownDiscovery(registry: Registry, name: string, pointer: string): ConfigError {
  const known = registry.names('discovery');
  const near = nearest(name, known);
  return new ConfigError('SD_UNKNOWN', pointer, `unknown service discovery "${name}"`, {
    hint: near ? `did you mean "${near}"?` : `one of ${known.join(', ')}`,
  });
}
