import { type BackendConfig, type BackendSite, ConfigError, type HostList, type Protocol } from '#contract';
import { joinPointer, nearest, shownHost } from '../../config/index.ts';
import { containedHosts } from '../../containment/contained-value.ts';
import type { Registry } from '../../registry/registry.ts';
import { collecting } from './attach.ts';
import { guardsAt } from './guards.ts';
import type { Location } from './location.ts';
import { type Build, createSite } from './site.ts';

/**
 * Opens the discovery that a backend's `sd` refers to.
 * @returns null for a protocol with its own address, and after an error, which is then in `build.errors`.
 */
export function openHosts(
  { build, registry }: { readonly build: Build; readonly registry: Registry },
  backend: BackendConfig,
  protocol: Protocol | undefined,
  stance: Location,
): HostList | null {
  const discovery = registry.discovery(backend.sd);
  if (!discovery) {
    build.errors.push(unknownDiscovery(registry, backend.sd, joinPointer(stance.pointer, 'sd')));
    return null;
  }
  if (!protocol || protocol.hostless || backend.host.length === 0) return null;
  const plugin = registry.plugin(`discovery/${backend.sd}`)!;
  const guards = guardsAt(build, plugin, stance.endpoint);
  const open = () => {
    const hosts = discovery.open(createSite(build, plugin, undefined, stance) as BackendSite<undefined>);
    return guards ? containedHosts(hosts, guards) : hosts;
  };
  const hosts = collecting(build, stance.pointer, open) ?? null;
  if (!hosts || !protocol.schemes) return hosts;
  for (const error of otherSchemes(backend, hosts, protocol.schemes, stance.pointer)) build.errors.push(error);
  return hosts;
}

/** Returns errors for unsanitized hosts, and for the scheme of discovered ones, that the protocol cannot call. */
function otherSchemes(
  { host, sd_scheme: scheme, disable_host_sanitize: isRaw }: BackendConfig,
  hosts: HostList,
  schemes: readonly string[],
  pointer: string,
): ConfigError[] {
  const wanted = schemes.map((name) => `${name}://`).join(' or ');
  const isCalled = (name: string | undefined) => name !== undefined && schemes.includes(name.toLowerCase());
  if (!hosts.fixed) {
    if (isCalled(scheme)) return [];
    const message = `the backend is called over ${wanted}, but sd_scheme is "${scheme}"`;
    return [new ConfigError('BACKEND_SCHEME', joinPointer(pointer, 'sd_scheme'), message)];
  }
  return host.flatMap((text, index) => {
    const [, written] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text) ?? [];
    // A placeholder's value may include the scheme.
    if (!isRaw || isCalled(written) || /^[^:/]*\{/.test(text)) return [];
    return new ConfigError(
      'BACKEND_SCHEME',
      joinPointer(pointer, 'host', index),
      `host ${shownHost(text)} must begin with ${wanted}`,
      {
        hint: written === undefined ? JSON.stringify(`${schemes[0]}://${text}`) : undefined,
      },
    );
  });
}

function unknownDiscovery(registry: Registry, name: string, pointer: string): ConfigError {
  const known = registry.names('discovery');
  const near = nearest(name, known);
  return new ConfigError('SD_UNKNOWN', pointer, `unknown service discovery "${name}"`, {
    hint: near ? `did you mean "${near}"?` : `one of ${known.join(', ')}`,
  });
}
