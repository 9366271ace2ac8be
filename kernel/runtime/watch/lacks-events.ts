import { statfs } from 'node:fs/promises';

/** Kinds of file systems that another machine can change without this one being told. */
const SHARED: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x786f4256, 'VirtualBox shared folder'],
  [0x00c36400, 'Ceph'],
  [0x5346414f, 'AFS'],
]);

/**
 * The kind of file system a directory is on when that kind does not tell of every change. Never rejects.
 * @returns null when it does, or nothing is known.
 */
export async function lacksEvents(directory: string): Promise<string | null> {
  // The numbers are Linux's own.
  if (process.platform !== 'linux') return null;
  try {
    const { type } = await statfs(directory);
    return SHARED.get(type >>> 0) ?? null;
  } catch {
    return null;
  }
}
