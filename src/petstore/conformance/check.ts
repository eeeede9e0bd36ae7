import { defineChecks } from '../../conformance/check.ts';
import { expectList, expectRecord, formatCount } from '../../conformance/expect.ts';
import type { ServiceResponse } from '../../conformance/http-client.ts';
import { operations } from '../operations.ts';
import { type Pet, pet } from '../records.ts';

/** What checks know of a service: up to 100 of its pets, or none if the list could not be read. */
export type Pets = readonly Pet[];

export const { check, refusing, withoutKey, unspecified } = defineChecks<Pets>(operations);

/** As `expectList`, of pets. */
export const expectPets = (response: ServiceResponse, limit: number): Pet[] =>
  expectList(operations.listPets.response, response, limit);

/** As `expectRecord`, of a pet. */
export const expectPet = (response: ServiceResponse, status: number): Pet =>
  expectRecord(pet, response, status);

/** Formats a number of pets. */
export const formatPets = (count: number): string => formatCount(pet, count);
