import {
  type AtEndpoint,
  atEndpoint,
  atService,
  before,
  type Call,
  type ClientRequest,
  type DataObject,
  definePlugin,
  type EndpointSite,
  HeaderBag,
  isObject,
  offer,
  Reply,
  refuse,
  type Site,
} from '#contract';
import { basicUserSlot } from '../../shared/callers/basic-user.ts';
import { limitedWarning } from '../../shared/logging/limited-warning.ts';
import { type Admission, Authority, basicAuthority } from './authority.ts';
import { Comparisons } from './comparisons.ts';
import { sampleCredentials, sampleUsers } from './sample.ts';
import { type BasicConfig, endpointSchema, serviceSchema } from './schema.ts';
import { usersOf } from './users.ts';

/**
 * Rejects requests without a valid user name and password with 401. Passwords are compared in threads; a correct one is
 * cached for one minute. A changed file is a new configuration, which starts with an empty cache.
 *
 * Configuration faults: BASIC_NO_USERS and those of `usersOf`; warnings: BASIC_HEADER and those of `usersOf`.
 */
export const plugin = definePlugin({
  name: 'auth/basic',
  description: 'Requires HTTP basic authentication.',
  guards: true,
  leaves: ['requests', 'data'],
  freeKeys: true,
  expectsBelow: { component: 'auth/basic', suits: () => true, called: 'auth/basic' },
  offers: [basicAuthority],
  takes: [basicAuthority],
  independent: true,
  sample: () => ({ headers: sampleCredentials, settings: { htpasswd_path: null, users: sampleUsers } }),
  places: [
    atService(serviceSchema, (site) => {
      const authority = authorityOf(site);
      return authority ? { offers: [offer(basicAuthority, authority)] } : {};
    }),
    atEndpoint(endpointSchema, attach),
  ],
});

function attach(site: EndpointSite<BasicConfig>): AtEndpoint {
  const authority = authorityOf(site) ?? site.take(basicAuthority);
  if (!authority || authority.size === 0) {
    throw site.fault('BASIC_NO_USERS', '', 'no users are declared: every request would be rejected', {
      hint: 'set "htpasswd_path" or "users", here or in auth/basic at the root',
    });
  }
  warnOfSharedHeader(site);
  const log = site.log.at('[BasicAuth]');
  log.debug(`${authority.size} users`);
  const warn = limitedWarning(log, site.use('clock'));
  const settle = (admission: Admission, call: Call): Reply | undefined => {
    if (typeof admission === 'string') {
      call.set(basicUserSlot, admission);
      return undefined;
    }
    const { reason, error } = admission;
    warn(() => `refused: ${reason}`);
    return error ? Reply.failed(error) : unauthorized();
  };
  return {
    endpoint: before<ClientRequest>(({ headers, ip }, call) => {
      const admission = authority.admit(headers.get('authorization'), call, ip);
      return admission instanceof Promise
        ? admission.then((settled) => settle(settled, call))
        : settle(admission, call);
    }),
  };
}

function unauthorized(): Reply {
  return refuse(401, { headers: new HeaderBag(['WWW-Authenticate', 'Basic realm="gateway", charset="UTF-8"']) });
}

function authorityOf(site: Site<BasicConfig>): Authority | null {
  const users = usersOf(site);
  if (!users) return null;
  const comparisons = site.keep(
    'comparisons',
    () => new Comparisons(),
    (threads) => threads.close(),
  );
  return new Authority(users, comparisons, site.use('clock'));
}

/** Warns if basic credentials and a token would have to share one header. */
function warnOfSharedHeader(site: EndpointSite<BasicConfig>): void {
  const components: Readonly<DataObject> = site.endpoint.extra_config;
  const validator = components['auth/validator'];
  if (!isObject(validator)) return;
  const header = validator['auth_header_name'] ?? 'Authorization';
  if (typeof header !== 'string' || header.toLowerCase() !== 'authorization') return;
  site.warn(
    'BASIC_HEADER',
    '',
    'auth/validator reads the same header: no request can contain both a password and a token',
    {
      hint: 'set "auth_header_name" of auth/validator, for example to "X-Token"',
      related: [site.pointer.replace('auth~1basic', 'auth~1validator')],
    },
  );
}
