#!/usr/bin/env node
import type { StartAdmin } from './index.ts';

// Nothing is imported before the version is known to be new enough to run it.
const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
const isSupported = major > 22 || (major === 22 && (minor > 23 || (minor === 23 && patch >= 2)));

if (isSupported) {
  // V8 would put what start-up allocates for long, lists and closures, into the old generation from then on: the same code then
  // serves requests, and each of them would live to the next full collection, with everything it refers to.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Nearly all that is made before it serves stays: the more room for new objects, the more of it is copied to and fro.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Compiled code is kept between starts, where the system lets it be.
  process.getBuiltinModule('node:module').enableCompileCache();
  const [{ main }, { catalogue }] = await Promise.all([import('./cli/main.ts'), import('../plugins/index.ts')]);
  // Loaded by the command that serves, when it serves.
  const startAdmin: StartAdmin = async (...args) => (await import('../admin/index.ts')).startAdmin(...args);
  const [, program, ...args] = process.argv as [string, string, ...string[]];
  const { stdout, stderr, env } = process;
  const exit = (code: number) => process.exit(code);
  process.exitCode = await main(args, { stdout, stderr, env, signals: process, exit, program, catalogue, startAdmin });
  // A timer that a library or a plugin has left running would keep alive what is done: a lost connection leaves one of a minute.
  setTimeout(() => process.exit(), 1000).unref();
} else {
  process.stderr.write(
    `sluice needs Node.js 22.23.2 or newer; this is ${process.versions.node}\nget one from https://nodejs.org/en/download\n`,
  );
  process.exitCode = 1;
}
