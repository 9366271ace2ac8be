import { type DataObject, isObject } from '#contract';
import type { Origin } from '../origin.ts';
import type { Report } from '../report.ts';

/**
 * Brings the root fields of the transport into their present form: no object where there is `null`, and old places and
 * names where new ones belong. Changes the document.
 *
 * Code: a warning, CONFIG_OLD_FIELD.
 */
export function settleTransport(document: DataObject, origin: Origin, report: Report): void {
  for (const field of ['tls', 'client_tls']) if (document[field] === null) delete document[field];
  const old = (pointer: string, message: string, hint: string) =>
    report.warn('CONFIG_OLD_FIELD', origin.pointer(pointer), message, { hint });

  if (document['allow_insecure_connections'] === true) {
    const given = document['client_tls'] ?? {};
    if (isObject(given)) document['client_tls'] = { ...given, allow_insecure_connections: true };
    old(
      '/allow_insecure_connections',
      "certificates of backends are not checked: 'allow_insecure_connections' is an old field, which sluice migrate moves",
      '"client_tls": {"allow_insecure_connections": true}',
    );
  }
  const components = document['extra_config'];
  const router = isObject(components) ? components['router'] : undefined;
  if (isObject(router) && router['use_h2c'] === true) {
    document['use_h2c'] = true;
    old('/extra_config/router/use_h2c', "'use_h2c' belongs at the root: sluice migrate moves it", '"use_h2c": true');
  }
  const tls = document['tls'];
  if (isObject(tls) && (tls['public_key'] !== undefined || tls['private_key'] !== undefined)) {
    const pointer = tls['public_key'] === undefined ? '/tls/private_key' : '/tls/public_key';
    old(
      pointer,
      'a certificate beside keys is the old form: sluice migrate makes it one of them',
      '"keys": [{"public_key": "…", "private_key": "…"}]',
    );
  }
}
