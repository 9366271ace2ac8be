import { readFileSync } from 'node:fs';

interface PackageJson {
  readonly version: string;
}

/** The running release. Source and build stand at different depths below the package. */
export const version = readVersion(['../package.json', '../../package.json']);

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as PackageJson & {
        name?: string;
      };
      if (name === 'sluice') return version;
    } catch {
      // The next place is tried.
    }
  }
  return '0.0.0';
}
