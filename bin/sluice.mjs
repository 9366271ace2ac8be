#!/usr/bin/env node
// The command in the repository. Plain JavaScript, so that a Node.js that is too old for TypeScript starts the pinned one.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const needed = engines.node.replace('>=', '');
const binary = process.platform === 'win32' ? 'node.exe' : 'node';
const pinned = fileURLToPath(new URL(`../node_modules/node/bin/${binary}`, import.meta.url));

if (isAtLeast(process.versions.node, needed)) await import('../kernel/bin.ts');
else if (existsSync(pinned)) runPinned();
else {
  process.stderr.write(
    `sluice needs Node.js ${needed} or newer; this is ${process.versions.node}\n` +
      'node scripts/install.mjs installs the pinned one, which this command then uses\n',
  );
  process.exitCode = 1;
}

/** Runs this command in the pinned Node.js and ends as it does. */
function runPinned() {
  const child = spawn(pinned, [...process.execArgv, ...process.argv.slice(1)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      // Ignores SIGINT, because a terminal sends Ctrl-C to both processes, and a second SIGINT would end the gateway
      // without draining.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.once('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

function isAtLeast(version, least) {
  const wanted = least.split('.').map(Number);
  const parts = version.split('.').map(Number);
  const at = parts.findIndex((part, index) => part !== wanted[index]);
  return at === -1 || parts[at] > wanted[at];
}
