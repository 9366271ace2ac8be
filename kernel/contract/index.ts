export * from '../mcp/index.ts';
export { HOST_AND_PORT } from '../net/address-pattern.ts';
export { addressFamily, addressMatcher, isAddressRange } from '../net/address-range.ts';
export type { DeniedAddresses, ListenAddress } from '../net/denied-addresses.ts';
export { pemErrorReason } from '../net/pem-error-reason.ts';
export { isConfigName, mainName } from '../values/config-names.ts';
export * from '../values/data.ts';
export { readDescriptors } from '../values/descriptors.ts';
export { type HoldNumber, parseHolding } from '../values/exact-json.ts';
export { type Frozen, frozen } from '../values/frozen.ts';
export { mayLoseDigits, parseExact, printJson } from '../values/json.ts';
export { mergeShallow } from '../values/merge.ts';
export { findNear, type Near, nearest } from '../values/nearest.ts';
export { joinPointer, parsePointer } from '../values/pointer.ts';
export { anyCase, textOf } from '../values/text.ts';
export {
  type AdminAddress,
  type AdminPem,
  type AdminScope,
  type AdminSettings,
  adminSchema,
  parseAdminAddress,
} from './admin.ts';
export type { AgentStatus } from './agent-status.ts';
export type * from './attack.ts';
export type {
  AuditedComponent,
  AuditedFiles,
  AuditedSection,
  AuditRule,
  AuditSubject,
  Severity,
} from './audit.ts';
export { RequestBody } from './body.ts';
export { type ByteSink, type ByteSource, ByteStream } from './bytes.ts';
export { Call, type CallHost, type Outcome } from './call.ts';
export type { Cancellation } from './cancellation.ts';
export { Capture, captureReply } from './capture.ts';
export type * from './catalogue.ts';
export {
  type ClientRequest,
  type FindEndpoint,
  makeRequest,
  type Params,
  type RawMessages,
  type RequestChanges,
} from './client-request.ts';
export type { CommandCall, EndpointContract, Flag, Flags, FlagValue, PluginCommand } from './command.ts';
export type * from './components.ts';
export type { BackendCondition } from './condition.ts';
export type * from './config.ts';
export { inheritsMethod } from './config.ts';
export {
  type ConfigSource,
  type ConfigSources,
  type SourceAccess,
  SourceBusy,
  SourceConflict,
  type SourceRevision,
  type SourceSite,
  type SourceWrite,
} from './config-source.ts';
export {
  type BackendConnection,
  type ConnectionObserver,
  type ConnectionTimes,
  connectionObservers,
} from './connections.ts';
export type { Conversion } from './conversion.ts';
export { discard } from './discard.ts';
export type { Discovery, HostList } from './discovery.ts';
export type { EachMessage, Encoded, Encoding, MessageReader, Messages, Passed, ShapeRules } from './encoding.ts';
export { atEndOfTurn } from './end-of-turn.ts';
export {
  BackendError,
  CallError,
  CancelledError,
  type ClientView,
  ConfigError,
  type ConfigErrorOptions,
  type Fix,
  HandlerError,
  toCallError,
} from './errors.ts';
export type { Level, Namespace } from './extra-config.ts';
export { boundToOwner, connectionOwner, openOwned, ownEvents, runAs, runOwned } from './fault-owner.ts';
export { FirstUse } from './first-use.ts';
export { gunzipBody } from './gunzip.ts';
export { canonicalHeaderName, HEADER_NAME_PATTERN, HeaderBag, isHeaderName, isHopByHop } from './headers.ts';
export { type HttpAttempt, type HttpOptions, type HttpSigner, httpSigners } from './http.ts';
export type { Guest, IsolatedModule, Isolation, Line, Receive, ThreadUser } from './isolation.ts';
export type { KoaContext, KoaMiddleware } from './koa.ts';
export type { Log, LogLevel, LogMessage } from './log.ts';
export {
  type AccessRecord,
  escapeControls,
  type LogDestination,
  type LogFormat,
  type Logging,
  type LogLine,
  type LogOutput,
  type LogSink,
  type LogSinks,
  requestIdSlot,
  type ServedAs,
  servedSlot,
  traceSlot,
} from './logging.ts';
export { maskQuery, maskTarget } from './masked-query.ts';
export { Masks } from './masks.ts';
export * from './meaning.ts';
export type { Upgrade } from './message.ts';
export { PipeRequest, paramKey, Reply } from './message.ts';
export {
  type Counter,
  type Histogram,
  type InstrumentOptions,
  type Meter,
  type MeterAttributes,
  meterOf,
  meters,
  type UpDownCounter,
} from './meter.ts';
export type { Mirror, MirrorOptions } from './mirror.ts';
export type {
  ClientHandler,
  HandlerFactory,
  MiddlewareHandler,
  MiddlewareNext,
  ModifyResponse,
  NamespaceConfig,
  PluginModule,
  RequestModifier,
  ResponseModifier,
  ServerHandler,
  ServerNext,
} from './module.ts';
export type * from './module-host.ts';
export type * from './module-messages.ts';
export type { Http2Endpoint, Http2Endpoints, OwnRoute, PipeTraits } from './own-endpoints.ts';
export { type Pattern, PatternLimit, type Patterns } from './pattern.ts';
export { Pieces } from './pieces.ts';
export { endpointPipeSchema, pipeSchema } from './pipe.ts';
export * from './place.ts';
export * from './plugin.ts';
export { definePort, type Offer, offer, type Port } from './port.ts';
export { type ProductNames, productNames } from './product-names.ts';
export type { Protocol } from './protocol.ts';
export { hasTooManyParameters, Query } from './query.ts';
export type { RouterOptions } from './router-config.ts';
export type { CreateSample, Sample } from './sample.ts';
export type { Sandbox, SandboxFailure, SandboxRequest, SandboxResponse } from './sandbox.ts';
export type { Infer, PipeRules, Schema, Written } from './schema.ts';
export type { KeptAlive, SecretLease, SecretStore, StoredSecret } from './secret-store.ts';
export type {
  AgentMessage,
  AgentSite,
  BackendSite,
  Clock,
  EndpointSite,
  Events,
  HandlerPlace,
  OpenPort,
  PortAddress,
  PortHandler,
  Role,
  Run,
  Services,
  Setting,
  Site,
} from './site.ts';
export type { Naming, Skeleton, Skeletons } from './skeleton.ts';
export { claimsSlot, defineSlot, type Slot, triedHosts } from './slot.ts';
export { type AfterHook, after, before, refuse, type Step, type Wrap } from './step.ts';
export type { ByteTap } from './taps.ts';
export type { Template } from './template.ts';
export { timerMs } from './timer.ts';
export { type ClientTls, clientTlsSchema, type KeyFiles, type ServerTlsConfig } from './tls.ts';
export {
  readPem,
  systemAuthorities,
  type TlsFault,
  type TlsProtocol,
  type TlsProtocolOptions,
  tlsProtocol,
} from './tls-options.ts';
export { type TokenCheck, tokenChecks } from './token-checks.ts';
export type { TakeToken, TokenPool } from './token-pool.ts';
export { type ActiveSpan, type Tracer, tracerOf, tracers } from './tracer.ts';
export type { Upstream, UpstreamTls } from './upstream.ts';
export type { VirtualHosts } from './virtual-hosts.ts';
