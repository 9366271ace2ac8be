import { CelScalar, celMethod, objectType } from '@bufbuild/cel';
import { TimestampSchema } from '@bufbuild/protobuf/wkt';

const timestamp = objectType(TimestampSchema);

const DAY_MS = 24 * 60 * 60 * 1000;

/** Accessors of the parts of a time. The time was shifted so that its UTC parts are the parts in its zone. */
const readers: Readonly<Record<string, (time: Date) => number>> = {
  getFullYear: (time) => time.getUTCFullYear(),
  getMonth: (time) => time.getUTCMonth(),
  getDate: (time) => time.getUTCDate(),
  getDayOfMonth: (time) => time.getUTCDate() - 1,
  getDayOfWeek: (time) => time.getUTCDay(),
  getDayOfYear: (time) => Math.floor((time.getTime() - new Date(time).setUTCMonth(0, 1)) / DAY_MS),
  getHours: (time) => time.getUTCHours(),
  getMinutes: (time) => time.getUTCMinutes(),
  getSeconds: (time) => time.getUTCSeconds(),
  getMilliseconds: (time) => time.getUTCMilliseconds(),
};

/** The methods of timestamps. The engine's own use the machine's time zone, where hours are missing in spring. */
export const timeMethods = Object.entries(readers).flatMap(([name, read]) => [
  celMethod(name, timestamp, [], CelScalar.INT, function () {
    return BigInt(read(new Date(millisecondsOf(this))));
  }),
  celMethod(name, timestamp, [CelScalar.STRING], CelScalar.INT, function (zone) {
    return BigInt(read(inZone(millisecondsOf(this), zone)));
  }),
]);

function millisecondsOf({ message }: { readonly message: unknown }): number {
  const { seconds, nanos } = message as { readonly seconds: bigint; readonly nanos: number };
  return Number(seconds) * 1000 + Math.floor(nanos / 1_000_000);
}

/** @param zone such as `Europe/Paris`, `+01:00` or `-03:30`. */
function inZone(milliseconds: number, zone: string): Date {
  const [, sign, hours, minutes] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (hours !== undefined) {
    const offset = (Number(hours) * 60 + Number(minutes)) * 60_000;
    return new Date(sign === '-' ? milliseconds - offset : milliseconds + offset);
  }
  const fields: Record<string, number> = {};
  for (const { type, value } of zoneFormat(zone).formatToParts(milliseconds)) fields[type] = Number(value);
  const { year, month, day, hour, minute, second } = fields;
  return new Date(Date.UTC(year!, month! - 1, day, hour, minute, second, milliseconds % 1000));
}

/** Number of zones whose format is cached: about 30 KiB each. */
const KEPT_ZONES = 50;
const formats = new Map<string, Intl.DateTimeFormat>();

function zoneFormat(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const two = '2-digit';
    format = new Intl.DateTimeFormat('en-US', {
      ...{ hourCycle: 'h23', timeZone: zone, year: 'numeric', month: 'numeric', day: two },
      ...{ hour: two, minute: two, second: two },
    });
    if (formats.size >= KEPT_ZONES) formats.delete(formats.keys().next().value!);
    formats.set(zone, format);
  }
  return format;
}
