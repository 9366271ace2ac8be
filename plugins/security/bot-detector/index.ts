import {
  atEndpoint,
  atService,
  before,
  CallError,
  type ClientRequest,
  type DataObject,
  definePlugin,
  refuse,
  type Site,
  type Wrap,
} from '#contract';
import { createDetector } from './detector.ts';
import { type BotDetectorConfig, schema } from './schema.ts';

const rejected = new CallError('BOT_REJECTED', 'bot rejected', { view: { status: 403, body: '' } });

/** The detectors of the service and of an endpoint are independent: a request must pass both. */
export const plugin = definePlugin({
  name: 'security/bot-detector',
  description: 'Rejects requests by `User-Agent`.',
  oldFields: {
    whitelist: 'allow',
    allowlist: 'allow',
    blacklist: 'deny',
    denylist: 'deny',
    cacheSize: 'cache_size',
  },
  leaves: ['requests', 'data'],
  places: [
    atService(schema, (site) => ({ request: detecting(site, {}) })),
    atEndpoint(schema, (site) => {
      const { method, endpoint } = site.endpoint;
      return { endpoint: detecting(site, { method, endpoint }) };
    }),
  ],
});

function detecting(site: Site<BotDetectorConfig>, place: DataObject): Wrap<ClientRequest> {
  const isBot = createDetector(site, place);
  const { log } = site;
  log.debug('[Botdetector] The bot detector has been registered successfully');
  return before(({ headers }) => {
    if (!isBot(headers.get('user-agent') ?? '')) return undefined;
    log.error('[Botdetector] bot rejected');
    return refuse(403, { error: rejected });
  });
}
