import './compile-cache.ts';

// Run before the tests, whose processes find the bundled programs and the compiled modules of the gateway.
await Promise.all([import('./programs.ts'), import('./gateway.ts'), import('../../kernel/cli/main.ts')]);
