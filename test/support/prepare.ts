import './compile-cache.ts';

// Runs before the tests, and bundles programs and compiles modules for their processes.
await Promise.all([import('./programs.ts'), import('./gateway.ts'), import('../../kernel/cli/main.ts')]);
