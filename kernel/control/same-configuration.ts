import type { Fingerprint } from '../runtime/prints/fingerprint.ts';
import type { ReadFiles } from '../runtime/prints/read-files.ts';
import type { Runtime } from '../runtime/runtime.ts';

/** True for the same configuration, with the same file contents. */
export function isSame(serving: Runtime, fingerprint: Fingerprint, files: ReadFiles): boolean {
  const before = serving.fingerprint;
  if (before.service !== fingerprint.service || !before.endpoints.isSame(fingerprint.endpoints)) return false;
  return hasSameFiles(serving, files);
}

/** True if every file that the serving configuration was built from is unchanged. @param files reads those that it has not read yet. */
export function hasSameFiles(serving: Runtime, files: ReadFiles): boolean {
  return serving.files.every(({ path, hash }) => hash !== null && files.hashOf(path) === hash);
}
