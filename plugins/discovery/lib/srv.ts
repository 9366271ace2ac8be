import { type BackendSite, type Data, type HostList, type Log, timerMs } from '#contract';
import { recordName } from './record.ts';
import { type Known, watchRecord } from './watch.ts';

/**
 * Hosts of a backend from the SRV records named by its first `host`. The result outlives the configuration: the next
 * one starts with it.
 *
 * @param owner owner of the list; together with the record name, it identifies the list.
 * @param log reports failed lookups.
 * @throws ConfigError SD_RECORD or SD_SCHEME.
 */
export function openSrv(site: BackendSite<undefined>, owner: Data[], log: Log): HostList {
  const scheme = site.backend.sd_scheme.toLowerCase();
  const name = recordName(site);
  const sandbox = site.use('sandbox');
  // In a sandbox, mocked servers have the name of the record.
  if (sandbox && !sandbox.network) return { current: [`${scheme}://${name}`] };
  const pauseMs = timerMs(site.setting('dns_cache_ttl'));
  const known = site.keep<Known>([...owner, name], () => ({ targets: [], text: null }));
  const watch = site.keep(
    [...owner, name, { pauseMs }],
    () => watchRecord(name, known, pauseMs, log),
    (open) => open.close(),
  );
  site.warm(watch.first);
  return asHosts(known, scheme);
}

function asHosts(known: Known, scheme: string): HostList {
  let targets: readonly string[] | null = null;
  let hosts: readonly string[] = [];
  return {
    get current() {
      if (known.targets !== targets) {
        targets = known.targets;
        hosts = targets.map((target) => `${scheme}://${target}`);
      }
      return hosts;
    },
  };
}
