import { type DataObject, definePort, type Port } from '#contract';

/**
 * Looks up the location of an address in the City database: all members exist, empty if unknown. Frozen, and shared by
 * all callers.
 */
export type LocateAddress = (address: string) => Readonly<DataObject>;

/** Lets the component with the geolocation database look up addresses for other components. */
export const geoLocations: Port<LocateAddress> = definePort('geo locations');
