import { equal, match, notEqual, throws } from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { compareSync } from 'bcryptjs';
import { credentialFunctions } from '../../../kernel/templates/functions/credentials.ts';
import { compileTemplate } from '../../../kernel/templates/index.ts';
import { makeCertificates } from '../../support/certificates.ts';

function render(text: string, data: unknown = {}): string {
  return compileTemplate(text, { functions: credentialFunctions }).render(data);
}

describe('template functions for credentials', () => {
  it('include bcrypt, which hashes a password with a new salt each time', () => {
    const hash = render('{{bcrypt "secret"}}');
    match(hash, /^\$2[aby]\$10\$/);
    equal(compareSync('secret', hash), true);
    equal(compareSync('Secret', hash), false);
    notEqual(render('{{bcrypt "secret"}}'), hash);
  });

  it('include htpasswd, which returns a line for a password file', () => {
    const [user, hash] = render('{{htpasswd "ada" "secret"}}').split(':');
    equal(user, 'ada');
    equal(compareSync('secret', hash!), true);
  });

  it('reject input that would result in another password or user', () => {
    throws(() => render('{{bcrypt (repeat 73 "a")}}'), /more than 72 bytes/);
    throws(() => render('{{htpasswd "a:b" "c"}}'), /must not contain a colon/);
  });

  // Decryption as in Sprig.
  for (const [call, password] of [
    ['1 "long" "password" "user" "example.com"', 'ZedaFaxcZaso9*'],
    ['2 "long" "password" "user" "example.com"', 'Fovi2@JifpTupx'],
    ['1 "maximum" "password" "user" "example.com"', 'pf4zS1LjCg&LjhsZ7T2~'],
    ['1 "medium" "password" "user" "example.com"', 'ZedJuz8$'],
    ['1 "basic" "password" "user" "example.com"', 'pIS54PLs'],
    ['1 "short" "password" "user" "example.com"', 'Zed5'],
    ['1 "pin" "password" "user" "example.com"', '6685'],
  ]) {
    it(`include derivePassword ${call}`, () => equal(render(`{{derivePassword ${call}}}`), password));
  }

  it('include derivePassword, which rejects other kinds and invalid counters', () => {
    throws(() => render('{{derivePassword 1 "__proto__" "a" "b" "c"}}'), /unknown password type "__proto__"/);
    throws(() => render('{{derivePassword -1 "pin" "a" "b" "c"}}'), /-1 is not a valid counter/);
  });

  for (const [kind, label, type] of [
    ['rsa', 'RSA PRIVATE KEY', 'rsa'],
    ['', 'RSA PRIVATE KEY', 'rsa'],
    ['ecdsa', 'EC PRIVATE KEY', 'ec'],
    ['ed25519', 'PRIVATE KEY', 'ed25519'],
  ] as const) {
    it(`include genPrivateKey "${kind}", which returns a new key in PEM`, function () {
      this.timeout(60_000);
      const pem = render(`{{genPrivateKey "${kind}"}}`);
      match(pem, new RegExp(`^-----BEGIN ${label}-----\n`));
      const key = createPrivateKey(pem);
      equal(key.asymmetricKeyType, type);
      if (type === 'rsa') equal(key.asymmetricKeyDetails?.modulusLength, 4096);
    });
  }

  it('include genPrivateKey, which rejects other kinds', () =>
    throws(() => render('{{genPrivateKey "dsa"}}'), /cannot make a key of the kind "dsa"/));

  describe('with a certificate', () => {
    const certificates = makeCertificates();
    const one = certificates.authority('one');
    const other = certificates.authority('other');
    after(() => certificates.remove());
    const data = { cert: one.certificatePem, key: one.privateKeyPem, other: other.privateKeyPem };

    it('include buildCustomCert, which returns it with its key', () => {
      const call = '{{$c := buildCustomCert (.cert | b64enc) (.key | b64enc)}}';
      equal(render(`${call}{{$c.Cert}}|{{$c.Key}}`, data), `${data.cert}|${data.key}`);
    });

    it('include buildCustomCert, which rejects the key of another certificate, and invalid ones', () => {
      throws(
        () => render('{{buildCustomCert (.cert | b64enc) (.other | b64enc)}}', data),
        /the certificate and the private key do not match/,
      );
      throws(() => render('{{buildCustomCert "a" "b"}}', data), /must be a certificate and a private key in PEM/);
    });
  });

  it('check the time limit before each call, so that many of them do not block the process', () => {
    const functions = credentialFunctions;
    const template = compileTemplate('{{range until 1000}}{{bcrypt "a"}}{{end}}', {
      functions,
      limits: { milliseconds: 1 },
    });
    const begun = performance.now();
    throws(() => template.render({}), /takes longer than 1 ms/);
    equal(performance.now() - begun < 5000, true);
  });
});
