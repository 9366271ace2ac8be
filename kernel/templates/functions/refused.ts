import type { Functions, TemplateFunction } from '../function.ts';

const slow = 'the function is too slow for a request: compute the value in advance and write it into the template';
const certificates = 'certificates cannot be issued in templates: create one with openssl and include the file';

const REASONS: Readonly<Record<string, string>> = {
  bcrypt: slow,
  buildCustomCert: slow,
  derivePassword: slow,
  genPrivateKey: slow,
  htpasswd: slow,
  genCA: certificates,
  genCAWithKey: certificates,
  genSelfSignedCert: certificates,
  genSelfSignedCertWithKey: certificates,
  genSignedCert: certificates,
  genSignedCertWithKey: certificates,
  getHostByName: 'templates cannot access the network: write the address, or use a name that is resolved later',
};

/** Sprig functions that are not supported; each call is reported with the reason. */
export const refusedFunctions: Functions = Object.fromEntries(
  Object.entries(REASONS).map(([name, refusal]): [string, TemplateFunction] => [
    name,
    { fewest: 0, most: Number.POSITIVE_INFINITY, refusal, call: () => undefined },
  ]),
);
