import { existsSync } from 'node:fs';

/** Files of tests, besides those of the same name, that belong to a room. */
const besides: Readonly<Record<string, readonly string[]>> = {
  'kernel/contract': ['test/kernel/pipeline/**/*.test.ts'],
  'kernel/pipeline': [
    'test/kernel/server/{compression,middleware,head,access}*.test.ts',
    'test/plugins/proxy/**/*.test.ts',
    'test/specs.test.ts',
  ],
  'kernel/server': ['test/specs.test.ts'],
  'plugins/qos': ['test/specs.test.ts'],
};

/** The variable that tells the runner which tests there are, as globs with commas between them. */
export const testFilesVariable = 'MUTATE_TESTS';

/** The globs of the tests that belong to a room, or to one file of it. @throws Error for a room without tests. */
export function testsOf(path: string): string[] {
  const rooms = roomsOf(path).map((room) => [`test/${room}`, besides[room] ?? []] as const);
  const found = rooms.find(([folder]) => existsSync(folder));
  if (!found) throw new Error(`there are no tests in test/${path}`);
  const [folder, others] = found;
  return [`${folder}/**/*.test.ts`, ...others];
}

/** A path and the folders that hold it, the innermost first. */
function roomsOf(path: string): string[] {
  const steps = path.split('/').filter((step) => step !== '');
  return steps.map((_, at) => steps.slice(0, steps.length - at).join('/'));
}
