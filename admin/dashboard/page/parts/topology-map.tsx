import { useMemo } from 'preact/hooks';
import { compact, percent } from '../format.ts';
import type { LiveEndpoint } from '../views/topology.tsx';
import { Scroll } from './scroll.tsx';

/** A box of the picture: a group of endpoints, or a host. */
interface Box {
  readonly name: string;
  endpoints: number;
  /** Requests per second. */
  rate: number;
  /** Requests with an error per second. */
  errors: number;
}

/** Traffic from a group of endpoints to a host. */
interface Link {
  readonly from: string;
  readonly to: string;
  rate: number;
  errors: number;
}

/** Maximum number of boxes on each side; the rest is one box. */
const MAX_BOXES = 12;
const BOX = { width: 250, height: 36, gap: 12 };
const WIDTH = 900;
const OTHERS = 'others';

/** Picture of groups of endpoints and the hosts that they call: color is health, width is traffic. */
export function TopologyMap({ endpoints }: { readonly endpoints: readonly LiveEndpoint[] }) {
  const { groups, hosts, links } = useMemo(() => summarize(endpoints), [endpoints]);
  const height = Math.max(groups.length, hosts.length) * (BOX.height + BOX.gap) + BOX.gap;
  const most = links.reduce((max, { rate }) => Math.max(max, rate), 0);
  const placeOf = (boxes: readonly Box[], name: string): number => {
    return boxes.findIndex((box) => box.name === name) * (BOX.height + BOX.gap) + BOX.gap + BOX.height / 2;
  };
  const hostX = WIDTH - BOX.width;
  const middle = (BOX.width + hostX) / 2;
  return (
    <Scroll label="Picture of the endpoints">
      <svg class="topology" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={describe(groups, hosts)}>
        {links.map(({ from, to, rate, errors }) => {
          const [fromY, toY] = [placeOf(groups, from), placeOf(hosts, to)];
          return (
            <path
              key={`${from} ${to}`}
              class={`flow ${toneOf(rate, errors)}`}
              d={`M${BOX.width},${fromY} C${middle},${fromY} ${middle},${toY} ${hostX},${toY}`}
              stroke-width={most === 0 ? 1 : 1 + (9 * rate) / most}
            />
          );
        })}
        {groups.map((box) => (
          <BoxShape key={box.name} box={box} x={0} y={placeOf(groups, box.name)} />
        ))}
        {hosts.map((box) => (
          <BoxShape key={box.name} box={box} x={hostX} y={placeOf(hosts, box.name)} />
        ))}
      </svg>
    </Scroll>
  );
}

function BoxShape({ box, x, y }: { readonly box: Box; readonly x: number; readonly y: number }) {
  const { name, endpoints, rate, errors } = box;
  const figures = rate > 0 ? `${compact(rate)} /s, ${percent(errors / rate)} errors` : 'no traffic';
  return (
    <g>
      <rect
        class={`box ${toneOf(rate, errors)}`}
        x={x}
        y={y - BOX.height / 2}
        width={BOX.width}
        height={BOX.height}
        rx="6"
      />
      <text x={x + 10} y={y - 3}>
        {shortened(name)}
      </text>
      <text class="small" x={x + 10} y={y + 12}>
        {endpoints} {endpoints === 1 ? 'endpoint' : 'endpoints'}, {figures}
      </text>
    </g>
  );
}

const MAX_CHARACTERS = 34;

function shortened(name: string): string {
  return name.length > MAX_CHARACTERS ? `${name.slice(0, MAX_CHARACTERS - 1)}…` : name;
}

function toneOf(rate: number, errors: number): string {
  if (rate === 0) return 'idle';
  const share = errors / rate;
  return share > 0.05 ? 'bad' : share > 0.005 ? 'warning' : 'good';
}

function describe(groups: readonly Box[], hosts: readonly Box[]): string {
  const failing = hosts.filter(({ rate, errors }) => rate > 0 && errors / rate > 0.05).map(({ name }) => name);
  const health = failing.length === 0 ? 'no host with errors' : `errors at ${failing.join(', ')}`;
  return `${groups.length} groups of endpoints, ${hosts.length} hosts, ${health}`;
}

/** Sums endpoints by the first segment of their path, and by host. */
function summarize(endpoints: readonly LiveEndpoint[]) {
  const groups = new Map<string, Box>();
  const hosts = new Map<string, Box>();
  const add = (boxes: Map<string, Box>, name: string, rate: number, errors: number): void => {
    const box = boxes.get(name) ?? { name, endpoints: 0, rate: 0, errors: 0 };
    box.endpoints++;
    box.rate += rate;
    box.errors += errors;
    boxes.set(name, box);
  };
  const flows: Link[] = [];
  for (const { endpoint, rate: measured } of endpoints) {
    const rate = measured?.rate ?? 0;
    const errors = rate * (measured?.errorShare ?? 0);
    const group = `/${endpoint.pattern.split('/')[1] ?? ''}`;
    add(groups, group, rate, errors);
    const called = new Set(
      endpoint.backends.flatMap((backend) => (backend.hosts.length > 0 ? backend.hosts : ['no host'])),
    );
    for (const host of called) {
      add(hosts, host, rate, errors);
      flows.push({ from: group, to: host, rate, errors });
    }
  }
  const shownGroups = largest(groups);
  const shownHosts = largest(hosts);
  return { groups: shownGroups, hosts: shownHosts, links: merged(flows, namesOf(shownGroups), namesOf(shownHosts)) };
}

/** The boxes with the most traffic, then the most endpoints; the rest as one. */
function largest(boxes: ReadonlyMap<string, Box>): Box[] {
  const sorted = [...boxes.values()].sort((a, b) => b.rate - a.rate || b.endpoints - a.endpoints);
  if (sorted.length <= MAX_BOXES) return sorted;
  const rest = sorted.slice(MAX_BOXES - 1);
  const others: Box = { name: OTHERS, endpoints: 0, rate: 0, errors: 0 };
  for (const { endpoints, rate, errors } of rest) {
    others.endpoints += endpoints;
    others.rate += rate;
    others.errors += errors;
  }
  return [...sorted.slice(0, MAX_BOXES - 1), others];
}

function namesOf(boxes: readonly Box[]): ReadonlySet<string> {
  return new Set(boxes.map(({ name }) => name));
}

/** Links between the boxes that are shown. */
function merged(flows: readonly Link[], groups: ReadonlySet<string>, hosts: ReadonlySet<string>): Link[] {
  const links = new Map<string, Link>();
  for (const { from: group, to: host, rate, errors } of flows) {
    const from = groups.has(group) ? group : OTHERS;
    const to = hosts.has(host) ? host : OTHERS;
    const link = links.get(`${from} ${to}`) ?? { from, to, rate: 0, errors: 0 };
    link.rate += rate;
    link.errors += errors;
    links.set(`${from} ${to}`, link);
  }
  return [...links.values()];
}
