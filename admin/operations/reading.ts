import type { Operation } from '../operation.ts';
import { adminOpenapi } from './admin-openapi.ts';
import { audit } from './audit.ts';
import { emptyCache } from './caches.ts';
import { drain, resume } from './drain.ts';
import { events } from './events.ts';
import { generations } from './generations.ts';
import { live } from './live.ts';
import { readLogging, setLogging } from './logging.ts';
import { match } from './match.ts';
import { metrics } from './metrics.ts';
import { openapi } from './openapi.ts';
import { plugins } from './plugins.ts';
import { ready } from './ready.ts';
import { routes } from './routes.ts';
import { schema, schemaOfComponent } from './schema.ts';
import { status } from './status.ts';
import { stop } from './stop.ts';
import { workers } from './workers.ts';

/** The operations that look at the gateway, and those that operate its process. */
export const reading: readonly Operation[] = [
  live,
  ready,
  metrics,
  status,
  routes,
  match,
  plugins,
  schema,
  schemaOfComponent,
  audit,
  openapi,
  adminOpenapi,
  workers,
  generations,
  readLogging,
  setLogging,
  drain,
  resume,
  stop,
  emptyCache,
  events,
];
