/** Operations with an invalid value, their variables, and the message of the error. */
export const invalidValues: readonly (readonly [
  string,
  Record<string, unknown>,
  string | RegExp,
])[] = [
  ['{ pets(limit: 0) { id } }', {}, 'limit: expected an integer from 1 to 100, received 0.'],
  ['{ pets(limit: 101) { id } }', {}, 'limit: expected an integer from 1 to 100, received 101.'],
  ['{ pet(id: "abc") { id } }', {}, /^id: expected a whole number .* received "abc"\.$/],
  ['{ pet(id: "1/../../store/orders") { id } }', {}, /received "1\/..\/..\/store\/orders"\.$/],
  ['{ pet(id: 9223372036854775808) { id } }', {}, /received "9223372036854775808"\.$/],
  ['query ($id: ID!) { pet(id: $id) { id } }', { id: 1.5 }, /\$id.*1\.5/],
  ['query ($id: ID!) { pet(id: $id) { id } }', { id: true }, /\$id.*true/],
  [
    'query ($id: ID!) { pet(id: $id) { id } }',
    { id: JSON.rawJSON('9007199254740993.5') },
    /\$id.* 9007199254740993\.5/,
  ],
  ['query ($id: ID!) { pet(id: $id) { id } }', {}, /\$id.* received nothing/],
  [
    'mutation { addPet(input: { name: "a", categoryId: "9223372036854775808" }) { id } }',
    {},
    /^input\.categoryId: expected a whole number from -2\^63 to 2\^63-1, received "9223372036854775808"\.$/,
  ],
  ['mutation ($i: AddPetInput!) { addPet(input: $i) { id } }', { i: { name: 5 } }, /\$i/],
];

/** Documents that are wrong whatever their variables are, and the message of the error. */
export const invalidDocuments: readonly (readonly [string, string])[] = [
  ['{ pets(limit: "5") { id } }', 'Int cannot represent non-integer value: "5"'],
  ['{ pets(limit: 1.5) { id } }', 'Int cannot represent non-integer value: 1.5'],
  ['{ pets(limit: 3000000000) { id } }', 'Int cannot represent non 32-bit signed integer value'],
  ['{ pets(status: lost) { id } }', 'Value "lost" does not exist in "PetStatus" enum'],
  ['{ pet(id: 1.5) { id } }', 'ID cannot represent a non-string and non-integer value: 1.5'],
  ['{ pet(id: null) { id } }', 'Expected value of non-null type "ID!" not to be null'],
  ['{ pet(id: $id) { id } }', 'Variable "$id" is not defined.'],
  ['query A { pet(id: $id) { id } }', 'Variable "$id" is not defined by operation "A".'],
  ['{ pets { id @skip(if: $off) } }', 'Variable "$off" is not defined.'],
  ['{ pets { id @skip(if: "x") } }', 'Boolean cannot represent a non boolean value: "x"'],
  ['query ($l: Int = "5") { pets(limit: $l) { id } }', 'Int cannot represent non-integer value'],
  ['query ($id: ID) { pet(id: $id) { id } }', 'Variable "$id" of type "ID" used in position'],
  ['query ($id: ID!, $id: ID!) { pet(id: $id) { id } }', 'There can be only one variable named'],
  ['query ($id: Pet!) { pet(id: $id) { id } }', 'Variable "$id" cannot be non-input type "Pet!"'],
  ['query ($id: ID!) { __typename }', 'Variable "$id" is never used.'],
  [
    'mutation { addPet(input: { name: "x", categoryId: 1, nme: "x" }) { id } }',
    'Expected value of type "AddPetInput" not to include unknown field "nme"',
  ],
  [
    'mutation { addPet(input: { name: "x" }) { id } }',
    'Expected value of type "AddPetInput" to include required field "categoryId"',
  ],
  ['fragment A on Pet { id } { __typename }', 'Fragment "A" is never used.'],
];
