import {
  atService,
  type Call,
  type ClientRequest,
  type DataObject,
  definePlugin,
  HeaderBag,
  isObject,
  type OwnRoute,
  Reply,
  refuse,
} from '#contract';
import { delay } from '../../lib/delay.ts';
import { asker } from '../ask.ts';
import { keyHolder } from '../authorized.ts';
import { indicesFor, Revocations } from '../revocations.ts';
import { checkInterval, serverSchema, sizingOf } from '../schema.ts';
import { Instances, type Pushing } from './instances.ts';

/** Maximum size of a request body, in bytes. */
const MAX_BYTES = 1024 * 1024;
/** Number of heartbeats that a gateway may miss. */
const MISSED = 3;

/**
 * The revoke server: receives revocations over HTTP and forwards them to every registered gateway. `sluice revoker`
 * runs it on its own. Configuration faults: those of `sizingOf` and `checkInterval`, `REVOKER_WORKERS`.
 */
export const plugin = definePlugin({
  name: 'auth/revoker/server',
  description: 'Receives token revocations and forwards them to all gateways. Run it with `sluice revoker`.',
  leaves: ['requests', 'data'],
  places: [
    atService(serverSchema, (site) => {
      const { config } = site;
      const sizing = sizingOf(site);
      checkInterval(site);
      if (site.role !== 'alone') {
        throw site.fault('REVOKER_WORKERS', '', 'the revoke server runs in a single process', {
          hint: 'start it without --workers',
        });
      }
      const log = site.log.at('[SERVICE: Revoker]');
      const clock = site.use('clock');
      const indicesOf = indicesFor(sizing);
      const revocations = site.keep(['revocations', { ...sizing }], () => new Revocations(sizing, clock.now()));
      const instances = site.keep('instances', () => new Instances());
      const end = new AbortController();
      site.defer(() => end.abort());
      const pushing: Pushing = {
        ask: asker(site, config.revoke_server_api_key),
        workers: config.revoke_server_max_workers,
        retries: config.revoke_server_max_retries,
        patienceMs: MISSED * config.revoke_server_ping_interval,
      };
      site.start(async (signal) => {
        while (!signal.aborted) {
          await delay(config.revoke_server_ping_interval, signal);
          instances.forgetSilent(pushing.patienceMs, clock.now(), log);
        }
      });
      const isAuthorized = keyHolder(config.revoke_server_api_key);

      const revoke = async (elements: readonly string[]): Promise<Reply> => {
        revocations.add(elements.map(indicesOf), clock.now());
        instances.forgetSilent(pushing.patienceMs, clock.now(), log);
        const outcome = await instances.push(Buffer.from(JSON.stringify({ elems: elements })), pushing, end.signal);
        if (outcome.failed > 0) log.warning(`${outcome.failed} of ${outcome.instances} gateways could not be notified`);
        return json(200, { ...outcome });
      };
      const register = async (request: ClientRequest): Promise<Reply> => {
        const body = await readJson(request);
        if (!isObject(body)) return problem(400, 'expected an object with name and port');
        const { name = '', port, address = plainAddress(request.ip), run = '' } = body;
        const isSound =
          [name, address, run].every((text) => typeof text === 'string' && text.length <= 256) &&
          /^[\w.:-]+$/.test(address as string) &&
          Number.isInteger(port) &&
          (port as number) > 0 &&
          (port as number) < 65_536;
        if (!isSound) return problem(400, 'name, address or port is not valid');
        const id = instances.heard(name as string, address as string, port as number, run as string, clock.now());
        if (id === undefined) return problem(503, 'too many gateways');
        if (id === null) return json(200, { complete: true });
        const failure = await instances.complete(id, () => revocations.pack(clock.now()), pushing, end.signal);
        if (failure !== null) log.warning(`the gateway at ${id} could not be notified of revocations: ${failure}`);
        return json(200, { complete: failure === null });
      };
      const list = async (request: ClientRequest): Promise<Reply> => {
        const body = await readJson(request);
        const isSound = Array.isArray(body) && body.every((element) => typeof element === 'string');
        return isSound ? revoke(body as string[]) : problem(400, 'expected a list of strings like "jti-abc"');
      };
      const token = (request: ClientRequest): Reply | Promise<Reply> => {
        const element = elementOf(request.path);
        if (element === null) return problem(404, 'expected /tokens/{claim}/{value}');
        if (request.method === 'POST') return revoke([element]);
        return json(revocations.has(indicesOf(element), clock.now()) ? 200 : 404, null);
      };
      const route = (
        method: string,
        path: string,
        description: string,
        handle: (request: ClientRequest) => Reply | Promise<Reply>,
      ): OwnRoute => ({
        method,
        path,
        description,
        handle(request: ClientRequest, _call: Call) {
          request.body?.restrict(MAX_BYTES);
          return isAuthorized(request.headers.get('authorization')) ? handle(request) : refuse(401);
        },
      });
      return {
        routes: [
          route('POST', '/tokens', 'Revokes a list of tokens.', list),
          route('POST', '/tokens/*', 'Revokes all tokens with a given claim value.', token),
          route('GET', '/tokens/*', 'Shows whether tokens with a given claim value are revoked.', token),
          route('POST', '/instances', 'Registers a gateway.', register),
          route('GET', '/instances', 'Lists the registered gateways.', () => json(200, instances.list(clock.now()))),
          route('DELETE', '/instances/*', 'Removes a gateway.', ({ path }) => {
            const id = decoded(path.slice('/instances/'.length));
            return refuse(id !== null && instances.forget(id) ? 204 : 404);
          }),
        ],
      };
    }),
  ],
});

/** Element that a path `/tokens/{claim}/{value}` names; null for any other path. */
function elementOf(path: string): string | null {
  const [, , claim, value, ...rest] = path.split('/');
  if (claim === undefined || claim === '' || value === undefined || value === '' || rest.length > 0) return null;
  const [name, text] = [decoded(claim), decoded(value)];
  return name === null || text === null ? null : `${name}-${text}`;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** Converts IPv4-mapped IPv6 addresses, which dual-stack sockets report, to IPv4. */
function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/, '');
}

async function readJson({ body }: ClientRequest): Promise<unknown> {
  if (!body) return null;
  const bytes = await body.bytes();
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return null;
  }
}

function json(status: number, data: DataObject | DataObject[] | null): Reply {
  const headers = new HeaderBag(data === null ? [] : ['Content-Type', 'application/json']);
  const reply = Reply.raw(status, headers, data === null ? null : Buffer.from(JSON.stringify(data)));
  reply.complete = null;
  return reply;
}

function problem(status: number, error: string): Reply {
  return json(status, { error });
}
