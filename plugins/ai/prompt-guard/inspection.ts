import {
  type Call,
  CallError,
  type ClientRequest,
  type EndpointSite,
  meterOf,
  type PipeRequest,
  printJson,
  Reply,
  toCallError,
  type Wrap,
} from '#contract';
import { errorBody } from '../lib/chat.ts';
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
  // Policies are cheaper than servers.
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
      if (unreadable) return refusal(call, 415, 'PROMPT_GUARD_UNREADABLE', unreadable, unreadable);
      const blocked = body.length === 0 ? null : await inspect(guardedOf(request, body), call);
      record?.(blocked);
      if (!blocked) return null;
      const { guard, severity, reason } = blocked;
      const text = `the request was blocked by a prompt guard`;
      return refusal(call, 403, 'PROMPT_BLOCKED', `${text}: ${guard} (${severity}), ${reason}`, text);
    } catch (error) {
      const failure = toCallError(error);
      if (failure.code !== 'PATTERN_LIMIT') return Reply.failed(failure);
      const text = 'the request is too long to be inspected by the prompt guards';
      return refusal(call, 413, 'PROMPT_GUARD_LIMIT', text, text);
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

/** Reason for which the text of a body cannot be read, so that guards would be bypassed; null for readable bodies. */
function unreadableReason({ headers }: ClientRequest | PipeRequest): string | null {
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') return 'the request body is compressed';
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers.get('content-type') ?? '') ?? [];
  return /^(?:utf-?8|us-ascii|iso-8859-1)$/i.test(charset) ? null : 'the request body is not in UTF-8';
}

/** A rejection in the format of OpenAI's API. The message of the error is for the log only. */
function refusal(call: Call, status: number, code: string, logged: string, message: string): Reply {
  const body = printJson(errorBody(call, { message, type: 'invalid_request_error', code: code.toLowerCase() }));
  return Reply.failed(
    new CallError(code, logged, { view: { status, body, contentType: 'application/json', always: true } }),
  );
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
