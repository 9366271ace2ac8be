import type { CityResponse } from 'mmdb-lib';
import type { Data, DataObject } from '#contract';

/** Converts a city record to the fields of KrakenD; unknown values are empty. */
export function describeCity(found: Partial<CityResponse>): DataObject {
  const { city, continent, country, location, postal, registered_country, represented_country, traits } = found;
  return {
    City: { GeoNameID: numberOf(city?.geoname_id), Names: namesOf(city?.names) },
    Continent: {
      Code: textOf(continent?.code),
      GeoNameID: numberOf(continent?.geoname_id),
      Names: namesOf(continent?.names),
    },
    Country: countryOf(country),
    Location: {
      AccuracyRadius: numberOf(location?.accuracy_radius),
      Latitude: numberOf(location?.latitude),
      Longitude: numberOf(location?.longitude),
      MetroCode: numberOf(location?.metro_code),
      TimeZone: textOf(location?.time_zone),
    },
    Postal: { Code: textOf(postal?.code) },
    RegisteredCountry: countryOf(registered_country),
    RepresentedCountry: { ...countryOf(represented_country), Type: textOf(represented_country?.type) },
    Subdivisions: subdivisionsOf(found.subdivisions),
    Traits: {
      IsAnonymousProxy: traits?.is_anonymous_proxy === true,
      IsSatelliteProvider: traits?.is_satellite_provider === true,
    },
  };
}

function countryOf(country: CityResponse['country']): DataObject {
  return {
    GeoNameID: numberOf(country?.geoname_id),
    IsInEuropeanUnion: country?.is_in_european_union === true,
    IsoCode: textOf(country?.iso_code),
    Names: namesOf(country?.names),
  };
}

function subdivisionsOf(list: CityResponse['subdivisions']): Data {
  if (!Array.isArray(list) || list.length === 0) return null;
  return list.map((each) => ({
    GeoNameID: numberOf(each.geoname_id),
    IsoCode: textOf(each.iso_code),
    Names: namesOf(each.names),
  }));
}

function namesOf(names: object | undefined): Data {
  const texts = Object.entries(names ?? {}).filter(([, name]) => typeof name === 'string');
  return texts.length === 0 ? null : Object.fromEntries(texts);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}
