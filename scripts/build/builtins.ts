import { isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

/** What a start has no use for, where no configuration asks for it: loaded when one of its exports is read. */
const onDemand = new Set(
  ['dns', 'dns/promises', 'http2', 'https', 'inspector', 'tls', 'worker_threads', 'zlib'].map((name) => `node:${name}`),
);

/** Marks of the modules that stand in for one of Node.js: for `import` and for `require()`. */
const IMPORTED = '\0imported:';
const REQUIRED = '\0required:';

/**
 * Takes of the modules of Node.js what is used, without the module namespace that an `import` makes of them: to fill it, Node.js
 * reads every export, and behind some of `node:http` and `node:crypto` stand parts that are loaded when they are read, as the
 * whole of `fetch`, which takes longer to load than all else of `node:http`.
 */
export const builtins: Plugin = {
  name: 'builtins',
  resolveId(id, _importer, { kind }) {
    if (!isBuiltin(id)) return null;
    const path = id.startsWith('node:') ? id : `node:${id}`;
    if (kind === 'require-call') return REQUIRED + path;
    // Without side effects, so that what nobody imports is left out.
    if (kind === 'import-statement') return { id: IMPORTED + path, moduleSideEffects: false };
    return { id: path, external: true };
  },
  load(id) {
    const path = id.replace(IMPORTED, '').replace(REQUIRED, '');
    if (path === id) return null;
    if (onDemand.has(path)) return standIn(path);
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
    ...names.map((name) => `const own_${name} = /* @__PURE__ */ (() => builtin.${name})();`),
    `export { ${names.map((name) => `own_${name} as ${name}`).join(', ')} };`,
  ].join('\n');
}

/** Has the exports of the module, and loads it with the first that is read. */
function standIn(path: string): string {
  const getters = namesIn(path).map((name) => `get ${name}() { return load().${name}; }`);
  return [
    'let loaded;',
    `const load = () => (loaded ??= ${moduleOf(path)});`,
    `module.exports = { ${getters.join(', ')} };`,
  ].join('\n');
}
