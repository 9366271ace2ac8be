// Exports for the gateway itself that plugin authors do not need.
export { DeniedAddresses } from '../net/denied-addresses.ts';
export { fileErrorReason, unreadableFile } from '../values/file-error-reason.ts';
export { makeDirectory } from '../values/make-directory.ts';
export { escapePointer } from '../values/pointer.ts';
export { scheduler } from '../values/yield-scheduler.ts';
export { adminScopes, adminTokenFile, scopeMeanings } from './admin.ts';
export { agentSchema } from './agent.ts';
export { severities } from './audit.ts';
export { PARSED_LIMIT_BYTES, PayloadTooLarge } from './body.ts';
export type { Trail } from './call.ts';
export { changed } from './client-request.ts';
export { serviceSchema } from './config.ts';
export { ANY, backendSchema, endpointSchema, PASSING } from './endpoint-schema.ts';
export { ConfigErrors, DeadlineError, flattenStack, GatewayError, GatewayFault } from './errors.ts';
export {
  beginOwned,
  boundToOwner,
  connectionOwner,
  currentFaultOwner,
  type FaultOwner,
  nameRequest,
  ownEvents,
  runAs,
  runGuarded,
  runOwned,
  runUnowned,
} from './fault-owner.ts';
export { silentLog } from './log.ts';
export { silentSinks } from './logging.ts';
export { PatternError } from './pattern.ts';
export { type PluginPolicies, type PluginPolicy, pluginPolicyFields, policyOf } from './plugin-policy.ts';
export { encodePathSegment, encodeQueryComponent } from './query.ts';
export { routerSchema } from './router-config.ts';
export { silentEvents } from './site.ts';
export { afterHook, type BeforeHook, beforeHook } from './step.ts';
export { TemplateError, type TemplatePosition } from './template.ts';
export { keyFilesOf, serverTlsSchema } from './tls.ts';
export { speaksOld } from './tls-options.ts';
export { VIRTUAL, virtualName } from './virtual-hosts.ts';
