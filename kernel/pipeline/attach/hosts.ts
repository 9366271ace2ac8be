import { type BackendConfig, type BackendSite, ConfigError, type HostList, type Protocol } from '#contract';
import { joinPointer, nearest, shownHost } from '../../config/index.ts';
import { containedHosts } from '../../containment/contained-value.ts';
import { runAs } from '../../contract/internal.ts';
import { socketOfHost } from '../../net/address-range.ts';
import type { Registry } from '../../registry/registry.ts';
import { collecting } from './attach.ts';
import type { Build } from './build.ts';
import { guardsAt } from './guards.ts';
import type { Location } from './location.ts';
import { createSite } from './site.ts';

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
  const site = createSite(build, plugin, undefined, stance) as BackendSite<undefined>;
  const { endpoint } = stance;
  const of = endpoint ? ` at ${endpoint.method} ${endpoint.endpoint}` : '';
  const open = () => {
    const hosts = runAs('component', `"${plugin.name}"${of}`, () => discovery.open(site));
    return guards ? containedHosts(hosts, guards) : hosts;
  };
  const hosts = collecting(build, stance.pointer, open) ?? null;
  if (!hosts) return hosts;
  for (const error of otherSchemes(backend, hosts, protocol.schemes, stance.pointer)) build.errors.push(error);
  return hosts;
}

/** Returns errors for unsanitized hosts that the protocol cannot call because of their scheme, and for such a scheme of discovered hosts. */
function otherSchemes(
  { host, sd_scheme: scheme, disable_host_sanitize: isRaw }: BackendConfig,
  hosts: HostList,
  schemes: readonly string[] | undefined,
  pointer: string,
): ConfigError[] {
  const sockets = host.flatMap((text, index) => socketError(text, schemes, joinPointer(pointer, 'host', index)) ?? []);
  if (!schemes || sockets.length > 0) return sockets;
  const wanted = schemes.flatMap((name) => (name === SOCKETS ? [] : `${name}://`)).join(' or ');
  const isCalled = (name: string | undefined) => name !== undefined && schemes.includes(name.toLowerCase());
  if (!hosts.fixed) {
    if (isCalled(scheme)) return [];
    const message = `the backend is called over ${wanted}, but sd_scheme is "${scheme}"`;
    return [new ConfigError('BACKEND_SCHEME', joinPointer(pointer, 'sd_scheme'), message)];
  }
  return host.flatMap((text, index) => {
    const [, written] = /^([a-z][a-z\d+.-]*):\/\//i.exec(text) ?? [];
    // The value of the placeholder may include the scheme, so the scheme is not checked.
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

/** Scheme of Unix sockets, for protocols that can use them. */
const SOCKETS = 'unix';

/** Returns the error of a Unix socket that the protocol cannot call, or that a request would choose. */
function socketError(text: string, schemes: readonly string[] | undefined, pointer: string): ConfigError | null {
  if (socketOfHost(text) === null) return null;
  if (!schemes?.includes(SOCKETS)) {
    return new ConfigError('BACKEND_SCHEME', pointer, `the backend cannot be called over the Unix socket ${text}`);
  }
  if (!text.includes('{')) return null;
  return new ConfigError('BACKEND_SCHEME', pointer, `the Unix socket ${text} cannot contain placeholders`);
}

function unknownDiscovery(registry: Registry, name: string, pointer: string): ConfigError {
  const known = registry.names('discovery');
  const near = nearest(name, known);
  return new ConfigError('SD_UNKNOWN', pointer, `unknown service discovery "${name}"`, {
    hint: near ? `did you mean "${near}"?` : `one of ${known.join(', ')}`,
  });
}
