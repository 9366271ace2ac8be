import {
  type Call,
  type ClientRequest,
  type EndpointSite,
  meterOf,
  type PipeRequest,
  Reply,
  RequestBody,
  toCallError,
  type Wrap,
} from '#contract';
import { refusal, unreadableReason } from '../lib/readable-body.ts';
import { kinds } from './kinds.ts';
import { Placeholders } from './placeholders.ts';
import { CLOSE, OPEN, Redactor, redactBody } from './redactor.ts';
import { restoreReply } from './restore.ts';
import type { RedactionConfig } from './schema.ts';

/** @throws ConfigError REDACTION_NAME, PATTERN_INVALID */
function redactorOf(site: EndpointSite<RedactionConfig>): Redactor {
  const { kinds: chosen, patterns } = site.config;
  const names = new Set(kinds.map(({ name }) => name));
  const markings = patterns.map(({ name, pattern }, index) => {
    const at = `/patterns/${index}`;
    if (names.has(name)) throw site.fault('REDACTION_NAME', `${at}/name`, `the name "${name}" is used twice`);
    names.add(name);
    return { name, mark: site.pattern(pattern, `${at}/pattern`).replacer(`${OPEN}$0${CLOSE}`) };
  });
  return new Redactor(chosen ? kinds.filter(({ name }) => chosen.includes(name)) : kinds, markings);
}

/** Replaces personal data in request bodies, and the placeholders in responses. */
export function redacting(site: EndpointSite<RedactionConfig>): Wrap<ClientRequest | PipeRequest> {
  const redactor = redactorOf(site);
  const count = counterOf(site);
  const { restore } = site.config;

  const redact = async (request: ClientRequest | PipeRequest, call: Call): Promise<Placeholders | Reply> => {
    try {
      const body = await request.body!.bytesToParse();
      const unreadable = unreadableReason(request);
      if (unreadable) return refusal(call, 415, 'REDACTION_UNREADABLE', unreadable);
      const sent = () => Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
      const placeholders = new Placeholders(sent, count);
      const contentType = request.headers.get('content-type') ?? '';
      const redacted = redactBody(body, contentType, (text) => redactor.redact(text, placeholders));
      if (redacted !== body) request.body = RequestBody.of(redacted);
      return placeholders;
    } catch (error) {
      const failure = toCallError(error);
      if (failure.code !== 'PATTERN_LIMIT') return Reply.failed(failure);
      return refusal(call, 413, 'REDACTION_LIMIT', 'the request is too long for the redaction of personal data');
    }
  };

  return (next) => async (request, call) => {
    if (!request.body) return next(request, call);
    const placeholders = await redact(request, call);
    if (placeholders instanceof Reply) return placeholders;
    if (!restore || placeholders.size === 0) return next(request, call);
    // A compressed response cannot be restored. Without this header, the HTTP client requests compression itself and
    // decompresses the response.
    request.headers.delete('accept-encoding');
    const reply = await next(request, call);
    restoreReply(reply, placeholders);
    return reply;
  };
}

/** Counts replaced values by their kind, if an exporter is configured. */
function counterOf(site: EndpointSite<unknown>): (kind: string) => void {
  const counter = meterOf(site)?.counter('redaction.values', {
    description: 'Distinct values of personal data that were replaced in requests.',
  });
  if (!counter) return () => {};
  const { endpoint } = site.endpoint;
  return (kind) => counter.add(1, { endpoint, kind });
}
