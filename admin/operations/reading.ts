import type { Operation } from '../operation.ts';
import { agents } from './agents.ts';
import { audit } from './audit.ts';
import { createCode, openSession, ownToken } from './dashboard.ts';
import { drain, resume, stop } from './drain.ts';
import { events } from './events.ts';
import { explain } from './explain.ts';
import { live, ready } from './health.ts';
import { readLogging, setLogging } from './logging.ts';
import { match } from './match.ts';
import { metrics } from './metrics.ts';
import { observeEndpoint } from './observation.ts';
import { adminOpenapi, openapi } from './openapi.ts';
import { emptyCache, liftSuspension, plugins } from './plugins.ts';
import { recordings } from './recordings.ts';
import { routes } from './routes.ts';
import { schema, schemaOfComponent } from './schema.ts';
import { status } from './status.ts';
import { traffic } from './traffic.ts';
import { tryRequest } from './try.ts';
import { generations, workers } from './workers.ts';

/** Operations that read the gateway's state, and those that operate its process. */
export const reading: readonly Operation[] = [
  live,
  ready,
  metrics,
  status,
  routes,
  match,
  observeEndpoint,
  explain,
  tryRequest,
  plugins,
  agents,
  schema,
  schemaOfComponent,
  audit,
  openapi,
  adminOpenapi,
  workers,
  generations,
  traffic,
  recordings,
  readLogging,
  setLogging,
  drain,
  resume,
  stop,
  emptyCache,
  liftSuspension,
  events,
  ownToken,
  createCode,
  openSession,
];
