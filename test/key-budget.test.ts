import { expect, it } from 'vitest';
import { KeyBudget } from '../src/key-budget.ts';

it('limits the bytes of one key, and of all keys together', () => {
  const budget = new KeyBudget(100, 0.6);
  expect(budget.reserve(1, 61)).toBe('key');
  expect(budget.reserve(1, 60)).toBeUndefined();
  expect(budget.reserve(1, 1)).toBe('key');
  expect(budget.reserve(2, 41)).toBe('all');
  expect(budget.reserve(2, 40)).toBeUndefined();
  expect(budget.reserve(3, 1)).toBe('all');
});

it('makes exactly the released bytes available again', () => {
  const budget = new KeyBudget(100, 0.6);
  budget.reserve(1, 60);
  budget.reserve(2, 40);
  budget.release(1, 10);
  expect(budget.reserve(1, 11)).toBe('key');
  expect(budget.reserve(2, 11)).toBe('all');
  expect(budget.reserve(1, 10)).toBeUndefined();
  expect(budget.reserve(2, 1)).toBe('all');
});
