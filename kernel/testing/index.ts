export { silentSinks } from '../contract/internal.ts';
export { type Harness, type HarnessOptions, openHarness } from './harness.ts';
export type { TestRequest } from './test-request.ts';
