#!/usr/bin/env node
// The command in the repository. Plain JavaScript, so that a Node.js that is too old for TypeScript says what to do.
import { readFileSync } from 'node:fs';

try {
  await import('../kernel/bin.ts');
} catch (error) {
  if (error.code !== 'ERR_UNKNOWN_FILE_EXTENSION') throw error;
  const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const needed = engines.node.replace('>=', '');
  process.stderr.write(
    `sluice needs Node.js ${needed} or newer; this is ${process.versions.node}\n` +
      'npm start or npm test installs the pinned one; then: npx node bin/sluice.mjs\n',
  );
  process.exitCode = 1;
}
