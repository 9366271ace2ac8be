import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { npmPackages } from '../programs.ts';
import { paths } from '../work.ts';
import { BYTES_ONLY, type Peer } from './peer.ts';

const MODELS = ['users', 'credentials', 'applications'];

export const expressGateway: Peer = {
  name: 'express-gateway',
  scenarios: ['no-op'],
  cannot: BYTES_ONLY,
  install: () => npmPackages({ 'express-gateway': '1.16.11' }),
  ofNode: true,
  files: ({ scenario, port, upstream }, { path }) => {
    const models = MODELS.map((name) => {
      const file = join(path, `node_modules/express-gateway/lib/config/models/${name}.json`);
      return [`models/${name}.json`, readFileSync(file, 'utf8')];
    });
    return {
      'gateway.config.json': JSON.stringify(gatewayConfiguration(scenario, port, upstream)),
      'system.config.json': JSON.stringify(systemConfiguration),
      ...Object.fromEntries(models),
    };
  },
  arguments: ({ folder }, { path }) => [join(import.meta.dirname, 'servers/express-gateway.ts'), path, folder],
};

export function gatewayConfiguration(scenario: string, port: number, upstream: string) {
  return {
    http: { port, hostname: '127.0.0.1' },
    apiEndpoints: { bench: { host: '*', paths: `/bench/${scenario}` } },
    serviceEndpoints: { backend: { url: upstream + paths[scenario]![0] } },
    policies: ['proxy'],
    pipelines: {
      bench: {
        apiEndpoints: ['bench'],
        policies: [{ proxy: { action: { serviceEndpoint: 'backend', ignorePath: true } } }],
      },
    },
  };
}

/** Configuration as written by its generator, with an in-process database. */
const systemConfiguration = {
  db: { redis: { emulate: true, namespace: 'EG' } },
  crypto: { cipherKey: 'bench', algorithm: 'aes256', saltRounds: 10 },
  session: { secret: 'bench', resave: false, saveUninitialized: false },
  accessTokens: { timeToExpiry: 7_200_000 },
  refreshTokens: { timeToExpiry: 7_200_000 },
  authorizationCodes: { timeToExpiry: 300_000 },
};
