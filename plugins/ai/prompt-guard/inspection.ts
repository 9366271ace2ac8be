import {
  type Call,
  type ClientRequest,
  type EndpointSite,
  meterOf,
  type PipeRequest,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import { refusal, unreadableReason } from '../lib/readable-body.ts';
import type { Guarded } from './guard.ts';
import { PatternSet } from './pattern-set.ts';
import type { Selected } from './selection.ts';
import { textsOf } from './texts.ts';

/** A guard that has blocked a request. */
interface Blocked {
  readonly guard: string;
  readonly severity: string;
  readonly reason: string;
}

/** Inspects the body of requests, and blocks those that a guard rejects. Requests without a body pass. */
export function inspecting(
  site: EndpointSite<unknown>,
  { defaults, custom }: Selected,
): Wrap<ClientRequest | PipeRequest> {
  const patterned = [...defaults, ...custom.filter(({ kind }) => kind === 'regex')];
  const set = new PatternSet(new Map(patterned.map(({ name, patterns }) => [name, patterns])), site.use('patterns'));
  const severityOf = new Map([...defaults, ...custom].map(({ name, severity }) => [name, severity]));
  // Policies are evaluated before servers are called, because an evaluation costs less.
  const checks = [
    ...custom.filter(({ kind }) => kind === 'policy'),
    ...custom.filter(({ kind }) => kind === 'classifier'),
  ];
  const record = recorderOf(site);

  const inspect = async (request: Guarded, call: Call): Promise<Blocked | null> => {
    if (patterned.length > 0) {
      const guard = set.match(textsOf(request.body, request.headers.get('content-type') ?? ''));
      if (guard !== null) return { guard, severity: severityOf.get(guard)!, reason: 'a pattern matches' };
    }
    for (const { name, severity, check } of checks) {
      const reason = await check!(request, call);
      if (reason !== null) return { guard: name, severity, reason };
    }
    return null;
  };

  const decide = async (request: ClientRequest | PipeRequest, call: Call): Promise<Reply | null> => {
    try {
      const body = await request.body!.bytesToParse();
      const unreadable = unreadableReason(request);
      if (unreadable) return refusal(call, 415, 'PROMPT_GUARD_UNREADABLE', unreadable);
      const blocked = body.length === 0 ? null : await inspect(guardedOf(request, body), call);
      record?.(blocked);
      if (!blocked) return null;
      const { guard, severity, reason } = blocked;
      const text = 'the request was blocked by a prompt guard';
      return refusal(call, 403, 'PROMPT_BLOCKED', text, `${text}: ${guard} (${severity}), ${reason}`);
    } catch (error) {
      const failure = toCallError(error);
      if (failure.code !== 'PATTERN_LIMIT') return Reply.failed(failure);
      return refusal(call, 413, 'PROMPT_GUARD_LIMIT', 'the request is too long to be inspected by the prompt guards');
    }
  };

  return (next) => (request, call) => {
    if (!request.body) return next(request, call);
    return decide(request, call).then((refused) => refused ?? next(request, call));
  };
}

function guardedOf(request: ClientRequest | PipeRequest, body: Uint8Array): Guarded {
  const { method, headers, params, query } = request;
  const { path, search } = 'client' in request ? request.client : request;
  return { method, path, search, headers, params, query, body };
}

/** Counts inspected requests by their result, if an exporter is configured. */
function recorderOf(site: EndpointSite<unknown>): ((blocked: Blocked | null) => void) | null {
  const counter = meterOf(site)?.counter('prompt_guard.requests', {
    description: 'Requests that prompt guards have inspected.',
  });
  if (!counter) return null;
  const { endpoint } = site.endpoint;
  const passed = { endpoint, result: 'passed', guard: '', severity: '' };
  return (blocked) =>
    counter.add(
      1,
      blocked ? { endpoint, result: 'blocked', guard: blocked.guard, severity: blocked.severity } : passed,
    );
}
