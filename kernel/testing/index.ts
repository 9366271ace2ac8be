export { silentSinks } from '../contract/internal.ts';
export { openHarness } from './harness.ts';
export type { Harness, HarnessOptions } from './harness-options.ts';
export type { TestRequest } from './test-request.ts';
