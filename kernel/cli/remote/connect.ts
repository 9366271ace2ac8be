import { readFile } from 'node:fs/promises';
import type { Flags } from '#contract';
import { adminTokenFile } from '../../contract/internal.ts';
import { UsageError } from '../arguments.ts';
import { cannotRead } from '../files/file-errors.ts';
import { stateDirectory } from '../files/state-directory.ts';
import { printable } from '../formats/excerpt.ts';
import type { Terminal } from '../terminal.ts';
import { DEFAULT_ADDRESS, type Destination, parseAddress } from './address.ts';
import { type AdminClient, createAdminClient, exitCodeOf, exitCodes, Refused, Unreachable } from './client.ts';
import { printRefusal } from './show.ts';

/** Flags of every command that connects to an admin port. */
export const remoteFlags = {
  json: { type: 'boolean', default: false, about: 'Print the response as JSON.' },
  admin: {
    type: 'string',
    value: 'ADDRESS',
    otherwise: DEFAULT_ADDRESS,
    about: 'Address of the admin port: host:port, https://host:port or unix:/path.',
  },
  'admin-token-file': {
    type: 'string',
    value: 'FILE',
    otherwise: 'the token that a gateway of the same user has stored',
    about: 'File with the token.',
  },
  'state-dir': {
    type: 'string',
    value: 'DIRECTORY',
    otherwise: '~/.local/state/sluice',
    about: 'State directory of the gateway.',
  },
  ca: {
    type: 'string',
    value: 'FILE',
    otherwise: 'the CA certificates of Node.js',
    about: 'CA certificate of the admin port.',
  },
} as const satisfies Flags;

export interface RemoteFlags {
  readonly admin?: string | undefined;
  readonly 'admin-token-file'?: string | undefined;
  readonly 'state-dir'?: string | undefined;
  readonly ca?: string | undefined;
  readonly json: boolean;
}

/**
 * Connects to the admin port given by the flags, GATEWAY_ADMIN_LISTEN and GATEWAY_ADMIN_TOKEN.
 * @returns the exit code of the conversation, or of the failure that ended it early, which is printed on standard
 * error.
 * @throws UsageError for an address or a file that cannot be used.
 */
export async function converse(
  flags: RemoteFlags,
  terminal: Terminal,
  talk: (client: AdminClient) => Promise<number>,
): Promise<number> {
  const name = flags.admin || terminal.env.GATEWAY_ADMIN_LISTEN || DEFAULT_ADDRESS;
  const address = parseAddress(name);
  const token = await findToken(flags, terminal.env, address);
  const ca = flags.ca === undefined ? undefined : await readNamed(flags.ca);
  try {
    return await talk(createAdminClient({ address, token, ca }));
  } catch (error) {
    if (error instanceof Refused) {
      printRefusal(terminal, error.response);
      return exitCodeOf(error.response) || exitCodes.refused;
    }
    if (!(error instanceof Unreachable)) throw error;
    terminal.stderr.write(`ERROR the admin port at ${name} did not respond: ${printable(error.message)}\n`);
    return exitCodes.unreachable;
  }
}

/**
 * Returns the token from `--admin-token-file` or GATEWAY_ADMIN_TOKEN, or the one that a local gateway has generated.
 */
async function findToken(flags: RemoteFlags, env: Terminal['env'], { listen }: Destination): Promise<string | null> {
  const file = flags['admin-token-file'];
  if (file !== undefined) return (await readNamed(file)).trim();
  if (env.GATEWAY_ADMIN_TOKEN) return env.GATEWAY_ADMIN_TOKEN;
  const directory = stateDirectory(env, flags['state-dir']);
  for (const name of [listen, listen.replace(/^localhost:/, '127.0.0.1:')]) {
    const text = await readIfThere(adminTokenFile(directory, name));
    if (text !== null) return text.trim();
  }
  return null;
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(cannotRead(file, error));
  }
}

function readNamed(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(cannotRead(file, error));
  });
}
