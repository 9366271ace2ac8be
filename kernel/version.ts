import { readFileSync } from 'node:fs';

interface PackageJson {
  readonly version: string;
}

/** Version of this release. Source and build are at different depths below the package. */
export const version = readVersion(['../package.json', '../../package.json']);

function readVersion(places: readonly string[]): string {
  for (const place of places) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(place, import.meta.url), 'utf8')) as PackageJson & {
        name?: string;
      };
      if (name === 'sluice') return version;
    } catch {
      // Tries the next location.
    }
  }
  return '0.0.0';
}
