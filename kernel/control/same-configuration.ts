import type { Fingerprint } from '../runtime/fingerprint.ts';
import type { ReadFiles } from '../runtime/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** The same configuration, over files with the same content. */
export function isSame(serving: Runtime, fingerprint: Fingerprint, files: ReadFiles): boolean {
  const before = serving.fingerprint;
  if (before.service !== fingerprint.service || !before.endpoints.isSame(fingerprint.endpoints)) return false;
  return hasSameFiles(serving, files);
}

/** Every file the serving configuration was built from has the content it had. @param files reads what it has not yet. */
export function hasSameFiles(serving: Runtime, files: ReadFiles): boolean {
  return serving.files.every(({ path, hash }) => hash !== null && files.hashOf(path) === hash);
}
