/** Operations with an invalid value, their variables, and the message of the error. */
export const invalidValues: readonly (readonly [
  string,
  Record<string, unknown>,
  string | RegExp,
])[] = [
  ['{ pets(limit: 0) { id } }', {}, 'limit: expected an integer from 1 to 100, received 0.'],
  ['{ pets(limit: 101) { id } }', {}, 'limit: expected an integer from 1 to 100, received 101.'],
  ['{ pets(limit: "5") { id } }', {}, 'Int cannot represent non-integer value: "5"'],
  ['{ pets(limit: 1.5) { id } }', {}, 'Int cannot represent non-integer value: 1.5'],
  ['{ pets(status: lost) { id } }', {}, /^Value "lost" does not exist in "PetStatus" enum/],
  ['{ pet(id: "abc") { id } }', {}, /^id: expected a whole number .* received "abc"\.$/],
  ['{ pet(id: "1/../../store/orders") { id } }', {}, /received "1\/..\/..\/store\/orders"\.$/],
  ['{ pet(id: 9223372036854775808) { id } }', {}, /received "9223372036854775808"\.$/],
  ['{ pet(id: 1.5) { id } }', {}, 'ID cannot represent a non-string and non-integer value: 1.5'],
  ['query ($id: ID!) { pet(id: $id) { id } }', { id: 1.5 }, /\$id.*1\.5/],
  ['query ($id: ID!) { pet(id: $id) { id } }', { id: true }, /\$id.*true/],
  [
    'query ($id: ID!) { pet(id: $id) { id } }',
    { id: JSON.rawJSON('9007199254740993.5') },
    /\$id.* 9007199254740993\.5/,
  ],
  ['query ($id: ID!) { pet(id: $id) { id } }', {}, /\$id.*to be provided/],
  [
    'mutation { addPet(input: { name: "a", categoryId: "9223372036854775808" }) { id } }',
    {},
    /^input\.categoryId: expected a whole number from -2\^63 to 2\^63-1, received "9223372036854775808"\.$/,
  ],
  ['mutation ($i: AddPetInput!) { addPet(input: $i) { id } }', { i: { name: 5 } }, /\$i/],
];
