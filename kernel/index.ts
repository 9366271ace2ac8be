export { rehearseBoth } from './cases/rehearsal/rehearse-both.ts';
export { rehearseContracts } from './cases/rehearsal/rehearse-contracts.ts';
export { type RehearsalOptions, rehearseReplay } from './cases/rehearsal/rehearse-replay.ts';
export type { ShadowSettings } from './cases/shadow/shadow-run.ts';
export { ShadowRuns } from './cases/shadow/shadow-runs.ts';
export {
  type ConfigDiff,
  canonicalData,
  compileSchema,
  type Document,
  decodeText,
  demandPlain,
  describeEdit,
  diffConfigs,
  draftFile,
  editDocument,
  formatNameOf,
  type IsSecret,
  type Issue,
  joinPointer,
  maskSecrets,
  maskTexts,
  mendDocument,
  mendText,
  nearest,
  normalize,
  parseDocument,
  parseDuration,
  parseJson,
  parsePointer,
  replaceFile,
  rewriteDocument,
  secretPointers,
  toIssues,
} from './config/index.ts';
export { blockingBoundsMs, type PluginRecord } from './containment/plugin-record.ts';
export {
  adminScopes,
  adminTokenFile,
  beginOwned,
  ConfigErrors,
  GatewayError,
  makeDirectory,
  runAs,
  scopeMeanings,
  severities,
} from './contract/internal.ts';
export type { Attempt, AttemptResult, Trigger } from './control/attempts.ts';
export type { Applied, Change, GuardRequest as GuardWish } from './control/change.ts';
export type { EventData, EventLog, EventType, GatewayEvent } from './control/event-log.ts';
export { eventTypes, isEventPattern } from './control/event-log.ts';
export type { GatewayOptions, WorkerOptions } from './control/gateway-options.ts';
export type { GuardState } from './control/guard.ts';
export { defaultThresholds, type GuardThresholds } from './control/guard.ts';
export type { ObservedPart, ObservedRequest } from './control/observation/observed-request.ts';
export type { Next, Participant, Ready } from './control/participant.ts';
export { Refusal, type RefusalRecord, recordOf, toRefusal } from './control/refusal.ts';
export { adminSettings } from './control/reload-settings.ts';
export type { Revision, RevisionSummary } from './control/revision.ts';
export type { RevisionStore, Stored } from './control/revision-store.ts';
export { ConfigText, type Format, readSnapshot, type Snapshot, type Source } from './control/snapshot.ts';
export type { Gateway, GatewayStatus, ListenOptions } from './gateway/gateway.ts';
export type { Operations, ServingConfiguration } from './gateway/operations.ts';
export type { ServingProcesses } from './gateway/serving-processes.ts';
export { startGateway } from './gateway/start-gateway.ts';
export * from './inspect/index.ts';
export { statusClasses } from './pipeline/traffic/backend-responses.ts';
export { TrafficReader } from './pipeline/traffic/traffic-reader.ts';
export { joined, latencyBands, quantile, type TrafficWindow } from './pipeline/traffic/window.ts';
export { withPlugins } from './registry/registry.ts';
export { type Examined, hashOfExamined, type Reach } from './runtime/build/build.ts';
export { bindErrorReason } from './runtime/kept/plugin-port.ts';
export { listenOnSocket } from './runtime/kept/unix-socket.ts';
export { contentHash } from './runtime/prints/content-hash.ts';
export { endpointId } from './runtime/prints/endpoint-prints.ts';
export { systemTimers, type Timers } from './runtime/watch/timers.ts';
export { handConnection, watchTimeouts } from './server/port/internals.ts';
export { socketAddress } from './server/request/client-ip.ts';
export type { RunningAdmin, StartAdmin, StartAdminOptions } from './start-admin.ts';
export { version } from './version.ts';
export { type ResourceUse, resourceUse } from './workers/messages.ts';
export type { WorkerInfo } from './workers/worker-info.ts';
