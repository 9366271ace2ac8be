import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Flags } from '#contract';
import { readDuration } from '../../config/index.ts';
import { GatewayError } from '../../contract/internal.ts';
import { schemeOf } from '../../sources/address.ts';
import { SourceCopy } from '../../sources/copy.ts';
import { SourceMirror } from '../../sources/mirror.ts';
import { MAX_BYTES, openSource } from '../../sources/open-source.ts';
import { UsageError } from '../arguments.ts';
import type { CommandContext } from '../command.ts';

/** Flags of a command that reads its configuration from a store. */
export const sourceFlags = {
  'poll-interval': {
    type: 'string',
    value: 'DURATION',
    default: '30s',
    about: 'Interval at which the configuration is read from a store that does not report changes.',
  },
} as const satisfies Flags;

/** Shortest interval, in milliseconds. */
const MIN_INTERVAL_MS = 1_000;

/**
 * Copies a configuration from a store to the state directory.
 * @returns null for the path of a file. @throws UsageError for the interval; GatewayError SOURCE_UNAVAILABLE if the
 * configuration cannot be read, and has not been copied before.
 */
export async function openMirror(
  address: string,
  stateDirectory: string,
  flags: { readonly 'poll-interval': string },
  { catalogue, env, stderr }: CommandContext,
): Promise<SourceMirror | null> {
  if (schemeOf(address) === null) return null;
  const intervalMs = parseInterval(flags['poll-interval']);
  try {
    const { source, shown } = await openSource(address, { catalogue, env });
    const name = createHash('sha256').update(shown).digest('hex').slice(0, 12);
    const copy = new SourceCopy(join(stateDirectory, 'sources', name));
    const mirror = new SourceMirror({ source, shown, copy, intervalMs, maxBytes: MAX_BYTES, now: Date.now });
    try {
      const notice = await mirror.start();
      stderr.write(notice === null ? `Using ${shown}, version ${mirror.status.version}\n` : `WARNING ${notice}\n`);
      return mirror;
    } catch (error) {
      await mirror.close();
      throw error;
    }
  } catch (error) {
    throw new GatewayError('SOURCE_UNAVAILABLE', (error as Error).message, error);
  }
}

function parseInterval(text: string): number {
  const ms = readDuration(text);
  if (ms === undefined || ms < MIN_INTERVAL_MS) throw new UsageError(`not an interval of at least 1s: ${text}`);
  return ms;
}
