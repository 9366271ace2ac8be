import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Plugin } from 'rolldown';

/** Packages that every start loads, with their entry point if it differs from their own. All others remain installed dependencies. */
const joined: Readonly<Record<string, string | null>> = {
  awilix: null,
  chokidar: null,
  'find-my-way': null,
  // Lists modules by path, because the package's entry point for `require()` hides them from bundlers.
  'jsonc-parser': 'lib/esm/main.js',
  koa: null,
  'lru-cache': null,
  winston: null,
};

/**
 * Dependencies of bundled packages that are loaded on first use, because they contain tables that are not needed at
 * startup.
 */
const onDemand = ['mime-types'];

const ON_DEMAND = '\0on-demand:';
const require = createRequire(import.meta.url);

/** Bundles the packages that every start loads, with their dependencies; all others are resolved at run time. */
export const packages: Plugin = {
  name: 'packages',
  async resolveId(id, importer, { kind }) {
    if (importer === undefined || /^[./#\0]/.test(id)) return null;
    if (importer.startsWith(ON_DEMAND)) return null;
    if (!importer.includes('/node_modules/')) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(id)![0];
      if (!Object.hasOwn(joined, name)) return { id, external: true };
      const start = joined[name];
      return start ? resolve('node_modules', name, start) : null;
    }
    if (kind !== 'require-call' || !onDemand.includes(id)) return null;
    return ON_DEMAND + (await this.resolve(id, importer))!.id;
  },
  load(id) {
    return id.startsWith(ON_DEMAND) ? replacementOf(id.slice(ON_DEMAND.length)) : null;
  },
};

/** A module with the exports of another one, which is loaded when a function is called or another export is read. */
function replacementOf(file: string): string {
  const members = Object.entries(require(file)).map(([name, value]) =>
    typeof value === 'function'
      ? `${name}: (...args) => load().${name}(...args)`
      : `get ${name}() { return load().${name}; }`,
  );
  return `const load = () => require(${JSON.stringify(file)});\nmodule.exports = { ${members.join(', ')} };`;
}
