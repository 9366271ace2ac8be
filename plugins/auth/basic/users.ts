import { joinPointer, type Site } from '#contract';
import type { BasicConfig } from './schema.ts';

/** Bcrypt hashes by user name. */
export type Users = ReadonlyMap<string, string>;

const bcrypt = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z0-9]{53}$/;

/** Bcrypt cost from which a comparison takes seconds. Each step doubles the time. */
const SLOW_COST = 15;

/**
 * Reads the users that the root of the configuration or one endpoint declares.
 * @returns null if none are configured.
 * @throws ConfigError BASIC_FILE, BASIC_USER, BASIC_HASH. Warning BASIC_SLOW.
 */
export function usersOf(site: Site<BasicConfig>): Users | null {
  const { htpasswd_path: path, users } = site.config;
  if (path === undefined && users === undefined) return null;
  const all = new Map<string, string>();
  if (path !== undefined) {
    for (const [name, hash] of linesOf(readFile(site, path))) {
      add(site, all, name, hash, '/htpasswd_path', `${path}: `);
    }
  }
  for (const [name, hash] of Object.entries(users ?? {})) add(site, all, name, hash, joinPointer('/users', name), '');
  return all;
}

function readFile(site: Site<BasicConfig>, path: string): string {
  try {
    return Buffer.from(site.read(path)).toString();
  } catch (cause) {
    throw site.fault('BASIC_FILE', '/htpasswd_path', `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}

/** Parses lines of the form `name:hash`. */
function linesOf(text: string): [name: string, hash: string][] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
}

/** Adds a user. Messages never contain a hash, nor a line without a colon, which may be a password. */
function add(site: Site<BasicConfig>, all: Map<string, string>, name: string, hash: string, at: string, where: string) {
  if (hash === '')
    throw site.fault('BASIC_HASH', at, `${where}a user has no password hash`, { hint: 'htpasswd -nB NAME' });
  if (name === '' || /[:\x00]/.test(name)) {
    throw site.fault('BASIC_USER', at, `${where}the user name "${name}" cannot be sent by clients`);
  }
  if (!bcrypt.test(hash)) {
    throw site.fault('BASIC_HASH', at, `${where}the password hash of "${name}" is not a bcrypt hash`, {
      hint: `htpasswd -nB ${name}`,
    });
  }
  const cost = Number(hash.slice(4, 6));
  if (cost >= SLOW_COST) {
    site.warn('BASIC_SLOW', at, `${where}the password hash of "${name}" has cost ${cost}: verifying it takes seconds`, {
      hint: 'use a cost of 10 to 12',
    });
  }
  all.set(name, hash);
}
