export {
  type Audited,
  type AuditOptions,
  type AuditReport,
  audit,
  auditRules,
  localFiles,
  type Recommendation,
} from './audit/index.ts';
export { summarize } from './audit/summary.ts';
export { type Explanation, explainRequest, type Forwarded, type SampleRequest } from './explain.ts';
export { type FilePosition, type FindPosition, pointerOnly, positionsIn } from './file-position.ts';
export type { ForwardingDecision } from './forwarding-decision.ts';
export { type Considered, type Match, type Matching, matchRoute } from './match.ts';
export { listPlugins, type PluginView } from './plugins.ts';
export { type BackendView, listRoutes, type RouteFilter, type RouteView } from './routes.ts';
export { type Served, servedBy } from './served.ts';
export { type Tried, tryUpstreams } from './try-upstreams.ts';
