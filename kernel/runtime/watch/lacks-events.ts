import { statfs } from 'node:fs/promises';

/** File system types that another machine can change without notifying this one. */
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
 * The file system type of a directory if that type does not report every change. Never rejects.
 * @returns null if it does, or if the type is unknown.
 */
export async function lacksEvents(directory: string): Promise<string | null> {
  // The numbers of file system types are specific to Linux.
  if (process.platform !== 'linux') return null;
  try {
    const { type } = await statfs(directory);
    return SHARED.get(type >>> 0) ?? null;
  } catch {
    return null;
  }
}
