export { type Reason, reasons } from './compat/by-design.ts';
export { CanonicalSession } from './compat/canonical-session.ts';
export { type CompatResult, compareGateways } from './compat/compare-gateways.ts';
export { OtherGateway, OtherGatewayError } from './compat/other-gateway.ts';
export { type CompatPlan, planCompat } from './compat/plan.ts';
export { addressesOf, type Binding, ServedMocks } from './compat/served-mocks.ts';
export { type BreakKind, breaks, type Difference, describeDifference, isBreaking } from './contracts/breaks.ts';
export { type CheckResult, checkContracts } from './contracts/check-contracts.ts';
export type { Compared } from './contracts/compare-contracts.ts';
export { compareTraffic, observationsOfTests } from './contracts/compare-traffic.ts';
export { type Contract, describeContract } from './contracts/contract.ts';
export {
  type ContractFolder,
  readContracts,
  type Writing,
  type Written,
  writeContracts,
} from './contracts/contract-files.ts';
export { type Contracts, collect, type Observation } from './contracts/observation.ts';
export { recordedResponses } from './contracts/recorded.ts';
export { changedSettings, removedEndpoints } from './contracts/static-differences.ts';
export type { Coverage } from './coverage.ts';
export { type Baseline, type Baselines, baselinesOf, writeRequest } from './generate/baseline.ts';
export { documentMocks, sandboxData } from './generate/sandbox-data.ts';
export { testsSchema } from './published-schema.ts';
export { findFiles, type RejectedFile, readTests, type TestFile } from './read-tests.ts';
export { type Cause, causes } from './replay/compare.ts';
export { type GroupedChange, type ReplayResult, replay } from './replay/replay.ts';
export { readTraffic, type Traffic } from './replay/traffic.ts';
export { runSuite, type SuiteOptions, type SuiteResult } from './run-suite.ts';
export type { TestResult } from './run-tests.ts';
export type { Failure } from './test.ts';
export { isUpdatable, updateFile } from './update-file.ts';
