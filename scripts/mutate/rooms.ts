import { existsSync } from 'node:fs';

/** Test files that belong to a folder, in addition to those of the same name. */
const additional: Readonly<Record<string, readonly string[]>> = {
  'kernel/contract': ['test/kernel/pipeline/**/*.test.ts'],
  'kernel/control': ['test/kernel/runtime/{follow,reload}.test.ts', 'test/admin/{check,files}.test.ts'],
  'kernel/pipeline': [
    'test/kernel/seams/**/*.test.ts',
    'test/kernel/server/{compression,middleware,head,access}*.test.ts',
    'test/kernel/control/{traffic,guard}.test.ts',
    'test/kernel/config/rules-*.test.ts',
    'test/kernel/inspect/*.test.ts',
    'test/kernel/cli/schema*.test.ts',
    'test/kernel/streaming*.test.ts',
    'test/plugins/discovery/**/*.test.ts',
    'test/plugins/proxy/**/*.test.ts',
    'test/corpus/broken.test.ts',
    'test/specs.test.ts',
  ],
  'kernel/server': [
    'test/kernel/seams/{service-phase,upgrades,trailers,http,headers-set,koa-adapter}.test.ts',
    'test/kernel/streaming*.test.ts',
    'test/kernel/inspect/match.test.ts',
    'test/specs.test.ts',
  ],
  'plugins/qos': ['test/specs.test.ts'],
};

const variable = 'MUTATE_TESTS';

/** Passes the globs of the tests to the processes that run them. */
export function passTests(globs: readonly string[]): void {
  process.env[variable] = JSON.stringify(globs);
}

/** Returns the passed globs. */
export function passedTests(): string[] {
  return JSON.parse(process.env[variable]!);
}

/** Globs of the tests for a folder, or for one file of it. @throws Error for a folder without tests. */
export function testsOf(path: string): string[] {
  const rooms = roomsOf(path).map((room) => [`test/${room}`, additional[room] ?? []] as const);
  const results = rooms.find(([folder]) => existsSync(folder));
  if (!results) throw new Error(`there are no tests in test/${path}`);
  const [folder, others] = results;
  return [`${folder}/**/*.test.ts`, ...others];
}

/** A path and its parent folders, innermost first. */
function roomsOf(path: string): string[] {
  const steps = path.split('/').filter((step) => step !== '');
  return steps.map((_, at) => steps.slice(0, steps.length - at).join('/'));
}
