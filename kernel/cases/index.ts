export type { Coverage } from './coverage.ts';
export { testsSchema } from './published-schema.ts';
export { findFiles, type RejectedFile, readTests, type TestFile } from './read-tests.ts';
export { runSuite, type SuiteOptions, type SuiteResult } from './run-suite.ts';
export type { TestResult } from './run-tests.ts';
export type { Failure } from './test.ts';
export { isUpdatable, updateFile } from './update-file.ts';
