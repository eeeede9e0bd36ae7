import fc from 'fast-check';
import { NoUnusedFragmentsRule, NoUnusedVariablesRule, specifiedRules } from 'graphql';
import { pet as petRecord } from '../../src/petstore/records.ts';

/** Generated operations declare all variables and fragments, used or not. */
export const rules = specifiedRules.filter(
  (rule) => rule !== NoUnusedVariablesRule && rule !== NoUnusedFragmentsRule,
);

const maybe = <T>(arbitrary: fc.Arbitrary<T>, otherwise: T) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(otherwise) }, { weight: 1, arbitrary });

const condition = fc
  .tuple(
    fc.constantFrom('skip', 'include'),
    fc.constantFrom('true', 'false', '$yes', '$no', '$optional'),
  )
  .map(([directive, value]) => ` @${directive}(if: ${value})`);
const directives = maybe(
  fc.uniqueArray(condition, { selector: (text) => text.slice(0, 4), maxLength: 2 }),
  [],
).map((texts) => texts.join(''));

const alias = maybe(fc.constantFrom('a: ', 'b: ', 'id: ', '__proto__: '), '');

/** Generates selection sets of a type from these fields and fragment spreads. */
function selections(type: string, fields: fc.Arbitrary<string>, spreads: readonly string[]) {
  const { set } = fc.letrec<{ set: string; fragment: string }>((tie) => ({
    fragment: fc
      .tuple(fc.constantFrom(`... on ${type}`, '...'), directives, tie('set'))
      .map((parts) => parts.join(' ')),
    set: fc
      .array(
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fields,
          fc.tuple(fc.constantFrom(...spreads), directives).map((parts) => parts.join('')),
          tie('fragment'),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((texts) => `{ ${texts.join(' ')} }`),
  }));
  return set;
}

function leaves(...names: string[]) {
  return fc
    .tuple(alias, fc.constantFrom('__typename', ...names), directives)
    .map((parts) => parts.join(''));
}

const pet = selections('Pet', leaves(...Object.keys(petRecord.fields)), ['...Card', '...Nested']);
const message = selections('Message', leaves('id', 'message', 'status', 'createdAt'), ['...Note']);

function calls(texts: readonly string[], set: fc.Arbitrary<string>) {
  return fc
    .tuple(alias, fc.constantFrom(...texts), directives, set)
    .map((parts) => parts.join(' '));
}

const query = selections(
  'Query',
  fc.oneof(
    calls(
      [
        'pets',
        'pets(limit: 2)',
        'pets(limit: $limit)',
        'pets(limit: $few, status: $status)',
        'pets(status: sold, limit: 0)',
        'pets(limit: 100, status: $status)',
        'pets(limit: 2147483647)',
        'pets(limit: null, status: null)',
        'pet(id: 7)',
        'pet(id: $id)',
        'pet(id: -9223372036854775808)',
        'pet(id: "9007199254740993")',
        'pet(id: """8""")',
        'pet(id: "07")',
        'pet(id: 9223372036854775808)',
        'pet(id: $other)',
      ],
      pet,
    ),
    leaves('orders'),
  ),
  ['...Reads'],
);
const mutation = selections(
  'Mutation',
  fc.oneof(
    calls(
      [
        'addPet(input: $input)',
        'addPet(input: { name: "Rex", categoryId: $id, status: $status })',
        'addPet(input: { name: $text, categoryId: 1 })',
        'addPet(input: { status: pending, categoryId: "-7", name: """\n  block\n    of lines\n""" })',
        'addPet(input: $given)',
      ],
      pet,
    ),
    calls(
      [
        'sendMessage(message: "hello")',
        'sendMessage(message: "\\u{1F600}\\"")',
        'sendMessage(message: $text)',
      ],
      message,
    ),
  ),
  ['...Writes'],
);

/** Generates documents with one operation. */
export const operation = fc
  .tuple(
    fc.oneof(
      query.map((set) => `query ${set}`),
      mutation.map((set) => `mutation ${set}`),
    ),
    // Whether the operation precedes its fragments, and the variable in one fragment's condition.
    fc.boolean(),
    maybe(fc.constant('$optional'), '$no'),
    fc.constantFrom('7', '9223372036854775807', '""'),
  )
  .map(([text, precedesFragments, skipCondition, otherId]) => {
    const [kind, ...set] = text.split(' ');
    const definition = `${kind} Generated(
      $limit: Int, $few: Int = 3, $status: PetStatus, $id: ID!, $text: String = "text",
      $other: ID! = ${otherId}, $given: AddPetInput! = { name: "", categoryId: "9007199254740993" },
      $input: AddPetInput!, $yes: Boolean!, $no: Boolean!, $optional: Boolean = true
    ) ${set.join(' ')}`;
    const fragments = `fragment Card on Pet { id name @skip(if: ${skipCondition}) }
    fragment Nested on Pet { ...Card status a: categoryId @include(if: $yes) }
    fragment Note on Message { id status }
    fragment Reads on Query { orders pets(limit: 1) { ...Nested } }
    fragment Writes on Mutation { sendMessage(message: "more") { ...Note } }`;
    return precedesFragments ? `${definition} ${fragments}` : `${fragments} ${definition}`;
  });

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
/** Generates the variables that each of them declares. */
export const variables = fc.record(
  {
    limit: optional(fc.constantFrom<unknown>(1, 0, 'wrong')),
    few: optional(fc.constantFrom(1, 2)),
    status: optional(fc.constantFrom('sold', 'lost')),
    id: fc.constantFrom<unknown>('7', 8, 9_223_372_036_854_775_807n, true),
    text: optional(fc.constant('words')),
    input: fc.record(
      { name: fc.constant('Ada'), categoryId: fc.constant(5), status: fc.constant('pending') },
      { requiredKeys: ['name', 'categoryId'] },
    ),
    yes: fc.boolean(),
    no: fc.boolean(),
    optional: optional(fc.boolean()),
  },
  { requiredKeys: ['id', 'input', 'yes', 'no'] },
);
