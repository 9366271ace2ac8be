import { equal } from 'node:assert/strict';
import { isSecret } from '../../../kernel/config/index.ts';

describe('masking secrets', () => {
  for (const [pointer, value] of [
    ['/tls/keys/0/private_key', 'shop.key'],
    ['/tls/keys/0/private_key', '/etc/sluice/shop'],
    ['/tls/private_key', './keys/shop.pem'],
    ['/client_tls/client_certs/0/private_key', '../shop-key.pem'],
    ['/extra_config/admin~1api/tokens_file', 'tokens.json'],
    ['/extra_config/auth~1basic/htpasswd_path', '.htpasswd'],
    ['/endpoints/0/@test_with', "curl -i 'http://shop:$PASSWORD@localhost:8080/orders'"],
  ] as const) {
    it(`skips a path or a reference: ${value} at ${pointer}`, () => equal(isSecret(pointer, value), false));
  }
  for (const [pointer, value] of [
    ['/tls/keys/0/private_key', '-----BEGIN PRIVATE KEY-----\nMIIEvQ==\n-----END PRIVATE KEY-----.pem'],
    ['/extra_config/a~1b/private_key', 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC/8='],
    ['/extra_config/a~1b/password', 'letmein.txt'],
    ['/extra_config/a~1b/token', '/etc/x'],
    ['/extra_config/a~1b/secret_file', 'http://user:pass@files.test/a.txt'],
    ['/extra_config/a~1b/private_key', 7],
    ['/endpoints/0/@test_with', "curl -i 'http://shop:letmein@localhost:8080/orders'"],
    ['/extra_config/modifier~1lua-proxy/pre', 'call("amqp://$USER:$PASSWORD@a", "amqp://shop:letmein@b")'],
  ] as const) {
    it(`covers a possible secret: ${JSON.stringify(value).slice(0, 40)} at ${pointer}`, () =>
      equal(isSecret(pointer, value), true));
  }
});
