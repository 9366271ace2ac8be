import { isObject, type LogLevel } from '#contract';
import { parseDuration } from '#kernel';
import { demandJson } from '../body.ts';
import type { LogLevelOverride } from '../operating/log-level-override.ts';
import type { Operation } from '../operation.ts';
import { Problem } from '../problem.ts';
import { jsonResponse, mapOf, objectOf, objectWith, oneOf, orNull, text } from '../schemas.ts';

const levels: readonly LogLevel[] = ['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'];

const DEFAULT_TTL = '10m';
const MAX_TTL_MS = 24 * 3_600_000;

const responses = {
  200: jsonResponse(
    'The current log level, and how long it overrides the configured level.',
    objectOf('LogLevels', { level: oneOf(levels), namespaces: mapOf(oneOf(levels)), ttl: orNull(text) }),
  ),
};

export const readLogging: Operation = {
  method: 'GET',
  path: '/v1/logging',
  scope: 'read',
  summary: 'Show the log levels.',
  responses,
  handle(ctx, { operating }) {
    ctx.body = view(operating.logLevel);
  },
};

export const setLogging: Operation = {
  method: 'PUT',
  path: '/v1/logging',
  scope: 'ops',
  summary: 'Override the log level temporarily, also across reloads. The configuration is not changed.',
  accepts: ['application/json'],
  body: objectWith(
    'LogLevelWish',
    {
      level: oneOf(levels),
      ttl: {
        type: 'string',
        description: 'Duration of the override, up to 24 hours. 0s ends an active override.',
        default: DEFAULT_TTL,
      },
    },
    'level',
  ),
  responses,
  async handle(ctx, admin) {
    const { level, ttlMs } = parseRequest(await demandJson(ctx, admin));
    const { logLevel } = admin.operating;
    logLevel.set(level, ttlMs);
    ctx.body = view(logLevel);
  },
};

function view({ level, leftMs }: LogLevelOverride): object {
  return { level, namespaces: {}, ttl: leftMs === null ? null : `${Math.ceil(leftMs / 1000)}s` };
}

/** @throws Problem bad-request. */
function parseRequest(body: unknown): { level: LogLevel; ttlMs: number } {
  if (!isObject(body)) throw new Problem('bad-request', 'the body must be an object');
  const { level, ttl = DEFAULT_TTL, namespaces, ...unknown } = body;
  const [stranger] = Object.keys(unknown);
  if (stranger !== undefined) throw new Problem('bad-request', `the body has an unknown field ${stranger}`);
  if (namespaces !== undefined && !(isObject(namespaces) && Object.keys(namespaces).length === 0)) {
    throw new Problem(
      'bad-request',
      'namespaces is not supported: the level applies to the whole log, not to single components',
    );
  }
  const wanted = levels.find((name) => name === level);
  if (!wanted) throw new Problem('bad-request', `level must be one of ${levels.join(', ')}`);
  return { level: wanted, ttlMs: parseTtl(ttl) };
}

function parseTtl(ttl: unknown): number {
  try {
    const ttlMs = parseDuration(String(ttl));
    if (ttlMs <= MAX_TTL_MS) return ttlMs;
  } catch {}
  throw new Problem('bad-request', 'ttl must be a duration of at most 24h, such as 10m');
}
