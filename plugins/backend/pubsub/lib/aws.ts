import { BackendError, type Call, HeaderBag, type Log, type PipeRequest, RequestBody, type Step } from '#contract';
import { CredentialChain } from '../../../clients/aws/credentials.ts';
import { signAws } from '../../../clients/aws/sigv4.ts';
import type { Message } from '../../../clients/broker/message.ts';
import { textOf } from '../../../shared/calls/body.ts';
import { requestTo } from '../../../shared/calls/request-to.ts';
import { paramOf } from './address.ts';
import type { Opening } from './driver.ts';

/** Maximum size of a response, in bytes: more than ten messages of the largest size. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** Maximum number of attributes of an AWS message. */
const MAX_ATTRIBUTES = 10;
/** Attribute of messages whose binary body is Base64-encoded. Other clients use the same attribute. */
const ENCODED = 'base64encoded';

/** An AWS service in one region. */
export interface AwsService {
  readonly name: 'sqs' | 'sns';
  readonly region: string;
  readonly origin: string;
  readonly send: Step<PipeRequest>;
  readonly credentials: CredentialChain;
}

/**
 * Resolves the service from the address parameters `region` and `endpoint`. The latter replaces the service's URL, for
 * example with that of an emulator.
 * @param known region contained in the address itself.
 * @throws ConfigError PUBSUB_PARAMETER
 */
export function serviceOf(opening: Opening, name: AwsService['name'], known: string | undefined): AwsService {
  const { site, field, address } = opening;
  const region = paramOf(site, field, address, 'region') ?? known;
  if (region === undefined || !/^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/.test(region)) {
    const what = region === undefined ? 'names no region' : `"${region}" is not a valid region`;
    throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}": ${what}`, { hint: '?region=eu-west-1' });
  }
  const endpoint = paramOf(site, field, address, 'endpoint');
  const base = endpoint === undefined ? undefined : URL.parse(endpoint);
  if (base === null || (base && !/^https?:$/.test(base.protocol))) {
    throw site.fault('PUBSUB_PARAMETER', `/${field}`, `"${address.text}": endpoint is not a valid URL`, {
      hint: 'endpoint=http://127.0.0.1:4566',
    });
  }
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
  const origin = base?.origin ?? `https://${name}.${region}.${domain}`;
  return {
    name,
    region,
    origin,
    send: site.http({ followsRedirects: false, calls: [{ address: origin, at: `/${field}` }] }),
    credentials: site.keep('credentials', () => new CredentialChain(process.env)),
  };
}

/** Calls an action of a service. @returns the response body. @throws BackendError AWS_FAILED with the AWS error code, and others. */
export async function callAws(service: AwsService, headers: string[], body: string, call: Call): Promise<string> {
  const { name, region, origin, send, credentials } = service;
  const bytes = Buffer.from(body);
  const url = new URL(origin);
  const all = new HeaderBag(headers);
  const signed = signAws(
    { method: 'POST', host: url.host, target: '/', headers: all, body: bytes },
    await credentials.get(send),
    { region, service: name },
    Date.now(),
  );
  for (const [header, value] of signed.headers) all.append(header, value);
  const reply = await send(requestTo(url, 'POST', all, RequestBody.of(bytes)), call);
  if (reply.errors.length > 0) throw reply.errors[0]!;
  const text = await textOf(reply, MAX_RESPONSE_BYTES);
  if (reply.status === 200) return text;
  const code = /<Code>([\w.]{1,100})<\/Code>|"__type"\s*:\s*"(?:[^"#]*#)?([\w.]{1,100})"/.exec(text);
  const what = code?.[1] ?? code?.[2] ?? `status ${reply.status}`;
  throw new BackendError('AWS_FAILED', `${name.toUpperCase()}: ${what}`, { upstreamStatus: reply.status });
}

/** A message as AWS services represent it: a text with string attributes. */
export interface AwsMessage {
  readonly text: string;
  readonly attributes: readonly (readonly [name: string, value: string])[];
}

/** Converts messages. Headers that AWS does not allow are omitted, and only the first ten by name are sent, with a single warning. */
export function messagesFor(log: Log): (message: Message) => AwsMessage {
  let isReported = false;
  return ({ payload, headers }) => {
    const text = payloadText(payload);
    const most = text === null ? MAX_ATTRIBUTES - 1 : MAX_ATTRIBUTES;
    const allowed = headers
      .filter(([name, value]) => /^(?!aws\.|amazon\.)[\w-][\w.-]{0,254}$/i.test(name) && value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1));
    if (allowed.length > most && !isReported) {
      isReported = true;
      log.warning(`a message has ${allowed.length} headers: AWS accepts only the first ${most} in alphabetical order`);
    }
    const attributes = allowed.slice(0, most);
    if (text !== null) return { text, attributes };
    return { text: Buffer.from(payload).toString('base64'), attributes: [...attributes, [ENCODED, 'true']] };
  };
}

/** Decodes the body of a message created by `messagesFor`. */
export function payloadOf(text: string, attributes: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(text, Object.hasOwn(attributes, ENCODED) ? 'base64' : 'utf8');
}

/** Decodes a text; null if the bytes are not a text that AWS accepts. */
function payloadText(payload: Uint8Array): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(payload);
    return notAllowed.test(text) ? null : text;
  } catch {
    return null;
  }
}

/** Characters that XML does not allow. */
const notAllowed = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/;
