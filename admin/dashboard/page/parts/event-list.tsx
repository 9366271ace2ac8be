import type { GatewayEvent } from '../api/events.ts';
import { time } from '../format.ts';
import { Empty } from './state.tsx';

/** Events of the gateway, newest first. */
export function EventList({ events }: { readonly events: readonly GatewayEvent[] }) {
  if (events.length === 0)
    return <Empty>No event yet. Changes of the configuration, guards and workers appear here.</Empty>;
  return (
    <ol class="events">
      {events.map(({ id, type, data, at }) => (
        <li key={id} class={/failed|error|suspended/.test(type) ? 'bad' : ''}>
          <time dateTime={new Date(at).toISOString()}>{time(at)}</time> <code>{type}</code> {summaryOf(data)}
        </li>
      ))}
    </ol>
  );
}

/** The members of an event that a person reads first. */
function summaryOf(data: unknown): string {
  const members = Object.entries(data as object).filter(([, value]) => typeof value !== 'object' && value !== '');
  return members.map(([name, value]) => `${name} ${name === 'hash' ? String(value).slice(0, 8) : value}`).join(', ');
}
