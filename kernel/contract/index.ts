export { HOST_AND_PORT, LISTEN_ADDRESS_PATTERN } from './address-pattern.ts';
export { addressFamily, addressMatcher, isAddressRange } from './address-range.ts';
export { type AdminPem, type AdminScope, type AdminSettings, adminSchema, adminScopes } from './admin.ts';
export { type AdminAddress, adminTokenFile, parseAdminAddress } from './admin-address.ts';
export { agentSchema } from './agent.ts';
export { anyCase } from './any-case.ts';
export * from './audit.ts';
export { PayloadTooLarge, RequestBody } from './body.ts';
export { type ByteSink, type ByteSource, ByteStream } from './bytes.ts';
export { Call, type CallHost, type Cancellation, type Outcome } from './call.ts';
export * from './catalogue.ts';
export {
  type ClientRequest,
  changed,
  type FindEndpoint,
  makeRequest,
  type Params,
  type RequestChanges,
} from './client-request.ts';
export type { CommandCall, Flag, Flags, FlagValue, PluginCommand } from './command.ts';
export * from './config.ts';
export {
  type BackendConnection,
  type ConnectionObserver,
  type ConnectionTimes,
  connectionObservers,
} from './connections.ts';
export * from './data.ts';
export { DeniedAddresses, type ListenAddress } from './denied-addresses.ts';
export { discard } from './discard.ts';
export type { Discovery, HostList } from './discovery.ts';
export type { EachMessage, Encoded, Encoding, MessageReader, Messages, Passed } from './encoding.ts';
export { backendSchema, endpointSchema, PASSING } from './endpoint-schema.ts';
export * from './errors.ts';
export { fileTrouble, unreadableFile } from './file-trouble.ts';
export { gunzipBody } from './gunzip.ts';
export { canonicalHeaderName, HEADER_NAME_PATTERN, HeaderBag, isHeaderName, isHopByHop } from './headers.ts';
export { type HttpAttempt, type HttpOptions, type HttpSigner, httpSigners } from './http.ts';
export { mayLoseDigits, parseExact, printJson } from './json.ts';
export { type Log, type LogLevel, type LogMessage, silentLog } from './log.ts';
export * from './logging.ts';
export { mergeShallow } from './merge.ts';
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
export { findNear, type Near, nearest } from './nearest.ts';
export { type Pattern, PatternError, PatternLimit, type Patterns } from './pattern.ts';
export { pemTrouble } from './pem-trouble.ts';
export { type PipeConfig, pipeSchema } from './pipe.ts';
export * from './plugin.ts';
export { escapePointer, joinPointer } from './pointer.ts';
export { definePort, type Offer, offer, type Port } from './port.ts';
export type { Protocol } from './protocol.ts';
export { encodePathSegment, encodeQueryPart, Query } from './query.ts';
export { type RouterOptions, routerSchema } from './router-config.ts';
export type { Infer, PipeRules, Schema, Written } from './schema.ts';
export {
  type AgentMessage,
  type AgentSite,
  type BackendSite,
  type Clock,
  type EndpointSite,
  type Events,
  type Mirror,
  type MirrorParts,
  type OpenPort,
  type PortHandler,
  type Role,
  type Run,
  type Services,
  type Setting,
  type Site,
  silentEvents,
} from './site.ts';
export { Slices } from './slices.ts';
export { claimsSlot, defineSlot, type Slot } from './slot.ts';
export { type AfterHook, after, afterHook, before, refuse, type Step, type Wrap } from './step.ts';
export type { ByteTap } from './taps.ts';
export { textOf } from './text.ts';
export {
  type ClientTls,
  clientTlsSchema,
  type KeyFiles,
  keyFilesOf,
  type ServerTlsConfig,
  serverTlsSchema,
} from './tls.ts';
export {
  readPem,
  speaksOld,
  systemAuthorities,
  type TlsFault,
  type TlsProtocol,
  type TlsProtocolOptions,
  tlsProtocol,
} from './tls-options.ts';
export type { TakeToken, TokenPool } from './token-pool.ts';
export type { Upgrade } from './upgrade.ts';
