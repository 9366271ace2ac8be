#!/usr/bin/env node
import type { StartAdmin } from './index.ts';

// Imports nothing before the Node.js version is known to be supported.
const [major = 0, minor = 0, patch = 0] = process.versions.node.split('.').map(Number);
const isSupported = major > 22 || (major === 22 && (minor > 23 || (minor === 23 && patch >= 2)));

if (isSupported) {
  // By default V8 allocates objects directly in the old generation if the code that creates them, such as code run at
  // startup, usually creates long-lived ones. The same code later serves requests, whose objects would then live until
  // the next full collection, with everything they refer to.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Nearly all objects created at startup survive: the larger the space for new objects, the more of them are copied
  // back and forth.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Stores compiled code on disk for the next start, if the system allows it.
  process.getBuiltinModule('node:module').enableCompileCache();
  const [{ main }, { catalogue }] = await Promise.all([import('./cli/main.ts'), import('../plugins/index.ts')]);
  // The admin API is loaded only by commands that run a gateway.
  const startAdmin: StartAdmin = async (...args) => (await import('../admin/index.ts')).startAdmin(...args);
  const [, program, ...args] = process.argv as [string, string, ...string[]];
  const { stdout, stderr, env } = process;
  const exit = (code: number) => process.exit(code);
  process.exitCode = await main(args, { stdout, stderr, env, signals: process, exit, program, catalogue, startAdmin });
  // A timer left running by a library or a plugin keeps a finished process alive; the library of a lost connection, for
  // example, leaves a timer of one minute.
  setTimeout(() => process.exit(), 1000).unref();
} else {
  process.stderr.write(
    `sluice needs Node.js 22.23.2 or newer; this is ${process.versions.node}\nget one from https://nodejs.org/en/download\n`,
  );
  process.exitCode = 1;
}
