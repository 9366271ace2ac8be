import { setTimeout as delay } from 'node:timers/promises';
import {
  type AtBackend,
  BackendError,
  type Call,
  CallError,
  type DataObject,
  HeaderBag,
  httpSigners,
  isObject,
  type PipeRequest,
  Reply,
  type Sandbox,
  type SandboxResponse,
  timerMs,
} from '#contract';
import type { Attached } from './attach.ts';
import type { NamedHost } from './location.ts';
import type { NamedUpstream } from './upstreams.ts';

type Protocol = NonNullable<AtBackend['protocol']>;

/**
 * Replaces a protocol that opens its own connections with one whose calls the sandbox answers. Protocols over HTTP
 * remain, because the HTTP client itself sends its requests to the sandbox, and so do protocols that connect to
 * nothing.
 * @param hosts hosts of the backend, by the plugin that calls them.
 */
export function sandboxed(
  { plugin, at, reads, pointer }: Attached<AtBackend>,
  sandbox: Sandbox,
  hosts: readonly NamedHost[],
  upstreams: readonly NamedUpstream[],
): Protocol {
  const protocol = at.protocol!;
  if (reads.ports.includes(httpSigners.name)) return protocol;
  // A pipeline inside the component has protocols of its own, which are replaced separately.
  const within = upstreams.find((each) => each.plugin === plugin && each.pointer.startsWith(`${pointer}/`));
  const server = (within ?? hosts.find((host) => host.plugin === plugin))?.upstream;
  if (!server && !plugin.source) return protocol;
  const address = server ? withoutUser(server.address) : '';
  return { ...protocol, call: (request, call) => answer(sandbox, plugin.name, address, protocol, request, call) };
}

/** Removes the user name and password from an address. */
function withoutUser(address: string): string {
  return address.replace(/^([a-z][a-z\d+.-]*:\/\/)?[^/@]*@/i, '$1').replace(/\/$/, '');
}

async function answer(
  sandbox: Sandbox,
  name: string,
  address: string,
  protocol: Protocol,
  request: PipeRequest,
  call: Call,
): Promise<Reply> {
  try {
    const body = (await request.body?.bytes()) ?? new Uint8Array();
    const { method, target, headers } = request;
    const url = withoutUser(request.origin || address) + target;
    const response = sandbox.respond({ protocol: name, method, url, headers: headers.list, body });
    if (response === null) return await protocol.call(request, call);
    await wait(response, call);
    if (call.reason) return Reply.failed(call.reason as CallError);
    return toReply(response, protocol.replies === 'data', name);
  } catch (error) {
    if (error instanceof CallError) return Reply.failed(error);
    throw error;
  }
}

/** Waits for the delay of a response. A response that never arrives lasts as long as its call. */
async function wait({ delayMs, failure }: SandboxResponse, call: Call): Promise<void> {
  if (failure !== 'hang' && delayMs === 0) return;
  const ended = new AbortController();
  const canceled = call.onCancel(() => ended.abort());
  const ms = timerMs(failure === 'hang' ? Number.POSITIVE_INFINITY : delayMs);
  await delay(ms, undefined, { signal: ended.signal }).catch(() => {});
  canceled.off();
}

function toReply({ status, headers, body, failure }: SandboxResponse, isData: boolean, name: string): Reply {
  if (failure) return Reply.failed(new BackendError('SANDBOX_FAILURE', `"${name}": mocked failure: ${failure}`));
  if (!isData) return Reply.raw(status, new HeaderBag([...headers]), body);
  if (status >= 400) {
    return Reply.failed(new BackendError('BACKEND_STATUS', `"${name}": status ${status}`, { upstreamStatus: status }));
  }
  return Reply.data(toData(body, name));
}

function toData(body: Uint8Array, name: string): DataObject | null {
  if (body.length === 0) return null;
  try {
    const data = JSON.parse(Buffer.from(body).toString());
    return isObject(data) ? data : { content: data };
  } catch (cause) {
    throw new BackendError('SANDBOX_BODY', `"${name}": the body of its mocked response must be JSON`, { cause });
  }
}
