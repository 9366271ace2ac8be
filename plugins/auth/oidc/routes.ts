import { type Call, type CallError, type ClientRequest, type OwnRoute, Reply, type Site } from '#contract';
import { RedisError } from '../../clients/redis/redis-error.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { hideParameters } from '../../shared/parameters/hidden.ts';
import { Undecided } from '../lib/undecided.ts';
import { BackChannel } from './back-channel.ts';
import { takeCookies } from './cookies.ts';
import { beginLogin, completeLogin, pageOf } from './login.ts';
import { logOut } from './logout.ts';
import { measureLogins } from './measures.ts';
import type { Provider } from './provider.ts';
import { plainText } from './replies.ts';

/** Parameters of a callback that are masked in the access log. */
const secretParameters = new Set(['code', 'state']);

/** Routes of a provider: login, callback, logout and back-channel logout. */
export function routesOf(site: Site<unknown>, provider: Provider): OwnRoute[] {
  const { jar, path, config } = provider;
  const log = site.log.at('[OIDC]');
  const count = measureLogins(site, config.name);
  const warn = limitedWarning(log, site.use('clock'));
  const handled =
    (handle: (request: ClientRequest, call: Call) => Promise<Reply>) => (request: ClientRequest, call: Call) =>
      handle(request, call).catch((error: unknown) => failed(error, call, (message) => warn(() => message)));
  const route = (
    method: string,
    name: string,
    description: string,
    handle: Parameters<typeof handled>[0],
  ): OwnRoute => ({
    method,
    path: `${path}/${name}`,
    description,
    handle: handled(handle),
  });
  const logout = async (request: ClientRequest, call: Call) => {
    const reply = await logOut(provider, request, call, log);
    count?.('logout', reply.status === 303 ? 'completed' : 'denied');
    return reply;
  };
  const channel = new BackChannel(provider, log);
  return [
    route(
      'GET',
      'login',
      `Starts a login at provider ${config.name} and returns to the page in return_to.`,
      (request, call) =>
        beginLogin(
          provider,
          pageOf(request.query.get('return_to') ?? '/'),
          takeCookies(request.headers, jar.prefix),
          call,
        ),
    ),
    route('GET', 'callback', `Completes a login at provider ${config.name}.`, async (request, call) => {
      hideParameters(request, call, secretParameters);
      const { reply, result, reason } = await completeLogin(provider, request, call);
      count?.('login', result);
      if (reason !== undefined && result === 'failed') warn(() => `a login has failed: ${reason}`);
      else if (reason !== undefined) log.debug(() => `login rejected: ${reason}`);
      return reply;
    }),
    route('GET', 'logout', `Logs a user of provider ${config.name} out.`, logout),
    route('POST', 'logout', `Logs a user of provider ${config.name} out.`, logout),
    route(
      'POST',
      'backchannel-logout',
      `Ends sessions when provider ${config.name} logs users out.`,
      async (request, call) => {
        const { reply, reason } = await channel.logOut(request, call);
        count?.('backchannel', reason === undefined ? 'completed' : 'invalid');
        if (reason !== undefined) warn(() => `a back-channel logout was rejected: ${reason}`);
        return reply;
      },
    ),
  ];
}

/** Converts failures of the provider and of Redis, and the end of the call, to replies. @throws any other error. */
function failed(error: unknown, call: Call, warn: (message: string) => void): Reply {
  if (call.reason) return Reply.failed(call.reason as CallError);
  if (!(error instanceof Undecided || error instanceof RedisError)) throw error;
  warn(`a request is rejected: ${error.message}`);
  return plainText(503, 'The service is not available. Try again later.');
}
