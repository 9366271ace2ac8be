import type { Plugin } from 'esbuild';

const namespace = 'builtin';

/**
 * Takes of the modules of Node.js what is used, without the module namespace that an `import` makes of them: to fill it, Node.js
 * reads every export, and behind some of `node:http` and `node:crypto` stand parts that are loaded when they are read, as the
 * whole of `fetch`, which takes longer to load than all else of `node:http`.
 */
export const builtins: Plugin = {
  name: 'builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace, sideEffects: false } : undefined,
    );
    onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: moduleOf(path), loader: 'js' }));
  },
};

/** Without side effects, so that what nobody imports is left out. */
function moduleOf(path: string): string {
  const names = Object.getOwnPropertyNames(process.getBuiltinModule(path)).filter(
    (name) => name !== 'default' && /^[\w$]+$/.test(name),
  );
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(path)});`,
    'export default builtin;',
    ...names.map((name) => `const own_${name} = /* @__PURE__ */ (() => builtin.${name})();`),
    `export { ${names.map((name) => `own_${name} as ${name}`).join(', ')} };`,
  ].join('\n');
}
