import { LRUCache } from 'lru-cache';
import { type CityResponse, Reader } from 'mmdb-lib';
import type { DataObject, Site } from '#contract';
import { readAddress } from '../ip-filter/client-address.ts';
import { describeCity } from './city.ts';

/** Location of an address. */
export interface Place {
  /** Data of the location. Frozen, because it is shared. */
  readonly data: Readonly<DataObject>;
  /** The data as JSON on one line, in ASCII. */
  readonly json: string;
}

/** Looks up the location of an address; never throws. */
export type FindPlace = (address: string) => Place;

/** Number of addresses whose locations are cached: about 2 KiB each, at most 20 MB. */
const REMEMBERED = 10_000;
const COMPLAINT_MS = 60_000;

/**
 * Opens a City database, loads it into memory and watches the file: a change of its content reloads the configuration.
 * @param path as configured. @param pointer to the path.
 * @throws ConfigError GEOIP_FILE, GEOIP_DATABASE.
 */
export function openCityDatabase(site: Site<unknown>, path: string, pointer: string): FindPlace {
  const reader = open(site, path, pointer);
  const log = site.log.at('[PLUGIN: geoip]');
  const clock = site.use('clock');
  const places = new LRUCache<string, Place>({ max: REMEMBERED });
  const nowhere = placeOf({});
  let complained = Number.NEGATIVE_INFINITY;
  const lookUp = (address: string): Place => {
    try {
      const found = reader.get(address);
      return found ? placeOf(found) : nowhere;
    } catch (error) {
      if (clock.now() - complained >= COMPLAINT_MS) {
        complained = clock.now();
        log.error(`the record of ${address} cannot be read: ${(error as Error).message}`);
      }
      return nowhere;
    }
  };
  return (written) => {
    const address = readAddress(written);
    if (address === '') return nowhere;
    const known = places.get(address);
    if (known) return known;
    const place = lookUp(address);
    places.set(address, place);
    return place;
  };
}

function open(site: Site<unknown>, path: string, pointer: string): Reader<CityResponse> {
  let bytes: Uint8Array;
  try {
    bytes = site.read(path);
  } catch (error) {
    throw site.fault('GEOIP_FILE', pointer, `the database cannot be read: ${(error as Error).message}`, {
      hint: 'set the path of a file such as GeoLite2-City.mmdb, relative to the working directory',
      cause: error,
    });
  }
  const refuse = (reason: string, cause?: unknown) =>
    site.fault('GEOIP_DATABASE', pointer, `"${path}" ${reason}`, {
      hint: 'use a City database in the format MMDB',
      cause,
    });
  let reader: Reader<CityResponse>;
  try {
    reader = new Reader<CityResponse>(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  } catch (error) {
    throw refuse(`is not a geolocation database: ${(error as Error).message}`, error);
  }
  const { databaseType, searchTreeSize } = reader.metadata;
  if (!String(databaseType).includes('City')) throw refuse(`is a database of type "${databaseType}"`);
  if (!(searchTreeSize < bytes.length)) throw refuse('is incomplete');
  return reader;
}

function placeOf(found: Partial<CityResponse>): Place {
  const data = deepFrozen(describeCity(found));
  const json = JSON.stringify(data).replace(/[\x7f-\uffff]/g, escaped);
  return { data, json };
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function deepFrozen<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFrozen(member);
  return Object.freeze(value);
}
