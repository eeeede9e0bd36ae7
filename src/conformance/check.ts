import type { Pet } from '../contract/records.ts';
import type { Ask } from './ask.ts';

/** What a check has before it: a service, a key that it takes, and some of its animals. */
export interface Service {
  readonly ask: Ask;
  readonly apiKey: string;
  /** Up to 100 of them; none when the list could not be read. */
  readonly animals: readonly Pet[];
}

/** `info` where the contract publishes nothing, `skip` where there was nothing to look at. */
export type Verdict = 'pass' | 'fail' | 'info' | 'skip';

/** What a check found, and what it was told by. */
export interface Finding {
  readonly verdict: Verdict;
  readonly seen: string;
}

/** One sentence of the contract, or one that it leaves open, and how to look at it. */
export interface Check {
  readonly id: string;
  readonly rule: string;
  /** The contract leaves it open: whatever is seen, be it no answer, is information. */
  readonly unpublished?: true;
  /** @throws ContractBreak, InvalidResponseError or NoAnswer, which fail the check. */
  readonly run: (service: Service) => Promise<Finding>;
}

/** The service broke the contract; the message says what was expected and what was seen. */
export class ContractBreak extends Error {
  override readonly name = 'ContractBreak';
}

/** The contract was kept. */
export function pass(seen: string): Finding {
  return { verdict: 'pass', seen };
}

/** The contract publishes nothing here: what was seen is told, and right either way. */
export function info(seen: string): Finding {
  return { verdict: 'info', seen };
}

/** Nothing was sent. */
export function skip(reason: string): Finding {
  return { verdict: 'skip', seen: reason };
}
