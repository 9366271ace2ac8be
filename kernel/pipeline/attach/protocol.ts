import { type AtBackend, ConfigError, type Encoding, httpSigners } from '#contract';
import { joinPointer } from '../../config/index.ts';
import type { Registry } from '../../registry/registry.ts';
import { type Attached, attach } from './attach.ts';
import type { Build } from './build.ts';
import type { Location } from './location.ts';

/**
 * Returns the protocol of a backend: that of an attached component, or HTTP. Codes: BACKEND_PROTOCOLS,
 * BACKEND_NO_STREAM.
 */
export function findProtocol(
  { build, registry }: { readonly build: Build; readonly registry: Registry },
  attached: readonly Attached<AtBackend>[],
  pointer: string,
  stance: Omit<Location, 'pointer'>,
  output: Encoding | undefined,
): AtBackend['protocol'] {
  const claims = attached.filter(({ at }) => at.protocol);
  const special = claims.filter(({ plugin }) => plugin.name !== registry.catalogue.defaultProtocol);
  if (special.length > 1) {
    const names = special.map(({ plugin }) => `"${plugin.name}"`).join(' and ');
    build.errors.push(
      new ConfigError(
        'BACKEND_PROTOCOLS',
        joinPointer(pointer, 'extra_config'),
        `${names} cannot both call the same backend`,
        { related: special.map((claim) => claim.pointer) },
      ),
    );
  }
  if (output?.streams && special.length > 0 && !special[0]!.at.protocol!.streams) {
    build.errors.push(
      new ConfigError(
        'BACKEND_NO_STREAM',
        joinPointer(pointer, 'extra_config'),
        `output_encoding "${output.name}" supports HTTP backends only, but the backend uses "${special[0]!.plugin.name}"`,
        { related: [special[0]!.pointer] },
      ),
    );
  }
  const claim = special[0] ?? claims[0];
  if (claim) return claim.at.protocol;
  const plugin = registry.plugin(registry.catalogue.defaultProtocol)!;
  const place = registry.place(plugin.name, 'backend')!;
  return attach<AtBackend>(build, plugin, place, {}, { ...stance, pointer })?.protocol;
}

/**
 * Warns of signers and hooks for HTTP requests on a backend with another protocol, where they have no effect. Code: a
 * warning, BACKEND_NO_HTTP.
 */
export function warnOfIdle(
  build: Build,
  attached: readonly Attached<AtBackend>[],
  { plugin, reads, pointer }: Attached<AtBackend>,
): void {
  const signs = ({ offers }: AtBackend) => offers?.some(({ port }) => port.name === httpSigners.name);
  const isSigned = reads.ports.includes(httpSigners.name);
  for (const idle of attached) {
    if (!idle.at.onlyHttp && (isSigned || !signs(idle.at))) continue;
    const message = `"${idle.plugin.name}" has no effect: "${plugin.name}" sends no HTTP requests`;
    build.warnings.push(new ConfigError('BACKEND_NO_HTTP', idle.pointer, message, { related: [pointer] }));
  }
}
