import { isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

/** Modules that are not needed at startup unless a configuration requires them: loaded when one of their exports is read. */
const onDemand = new Set(
  ['dns', 'dns/promises', 'http2', 'https', 'inspector', 'tls', 'worker_threads', 'zlib'].map((name) => `node:${name}`),
);

/** Functions that a process can replace, as it does for gateways whose random values are frozen: importers call the current one. */
const replaceable = new Set(['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID']);

/** Prefixes of the stand-ins for Node.js modules: for `import` and for `require()`. */
const IMPORTED = '\0imported:';
const REQUIRED = '\0required:';

/**
 * Imports only the used exports of Node.js modules, without the module namespace that an `import` creates: to fill it,
 * Node.js reads every export, and some exports of `node:http` and `node:crypto` load further code when read, such as
 * all of `fetch`, which takes longer to load than the rest of `node:http`.
 */
export const builtins: Plugin = {
  name: 'builtins',
  resolveId(id, _importer, { kind }) {
    if (!isBuiltin(id)) return null;
    const path = id.startsWith('node:') ? id : `node:${id}`;
    if (kind === 'require-call') return REQUIRED + path;
    // The module is marked as free of side effects, so that it is removed when unused.
    if (kind === 'import-statement') return { id: IMPORTED + path, moduleSideEffects: false };
    return { id: path, external: true };
  },
  load(id) {
    const path = id.replace(IMPORTED, '').replace(REQUIRED, '');
    if (path === id) return null;
    if (onDemand.has(path)) return replacementOf(path);
    return id.startsWith(REQUIRED) ? `module.exports = ${moduleOf(path)};` : exportsOf(path);
  },
};

function moduleOf(path: string): string {
  return `/* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)})`;
}

function namesIn(path: string): readonly string[] {
  const names = Object.getOwnPropertyNames(process.getBuiltinModule(path));
  return names.filter((name) => name !== 'default' && /^[\w$]+$/.test(name));
}

function exportsOf(path: string): string {
  const names = namesIn(path);
  return [
    `const builtin = ${moduleOf(path)};`,
    'export default builtin;',
    ...names.map((name) =>
      path === 'node:crypto' && replaceable.has(name)
        ? `const own_${name} = (...args) => builtin.${name}(...args);`
        : `const own_${name} = /* @__PURE__ */ (() => builtin.${name})();`,
    ),
    `export { ${names.map((name) => `own_${name} as ${name}`).join(', ')} };`,
  ].join('\n');
}

/** Provides the exports of the module, and loads it when the first one is read. */
function replacementOf(path: string): string {
  const getters = namesIn(path).map((name) => `get ${name}() { return load().${name}; }`);
  return [
    'let loaded;',
    `const load = () => (loaded ??= ${moduleOf(path)});`,
    `module.exports = { ${getters.join(', ')} };`,
  ].join('\n');
}
