import {
  type ArgumentNode,
  type ExecutionArgs,
  GraphQLError,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  typeFromAST,
  type VariableDefinitionNode,
  validateInputValue,
  visit,
} from 'graphql';
import { closestMatch } from 'leven';
import { int64 } from '../contract/fields.ts';
import { parseInt64 } from '../contract/int64.ts';
import { jsonType, shown } from '../contract/json.ts';
import { operations } from '../contract/pet-store.ts';
import { isPageSize, pageSize, petFields } from '../contract/records.ts';

/** What is wrong with one value, and its path from the variable or else from the argument. */
export interface InputIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Values of arguments or variables that the gateway refuses, with all of their problems. */
export class InvalidValuesError extends GraphQLError {
  issues: readonly InputIssue[] = [];
}

/** The arguments and input fields for which a variable is used. */
type Uses = readonly (string | undefined)[];

/** The most issues of an error. */
const maxIssues = 20;

type Check = readonly [expected: string, isValid: (value: unknown) => unknown];

const int64Fields = Object.values(petFields).filter(({ kind }) => kind === int64);

/** The root fields whose arguments are checked: an added field may have others of the same names. */
const checkedFields = Object.values(operations).map(({ field }) => field.replace(/^\w+\./, ''));

/** What arguments and input fields of these names have to be, beyond their types. */
const checks = new Map<unknown, Check>([
  ...int64Fields.map(
    ({ name }) => [name, ['a whole number from -2^63 to 2^63-1', parseInt64]] as const,
  ),
  ['limit', [`an integer from ${pageSize.minimum} to ${pageSize.maximum}`, isPageSize]],
]);

/** Returns the error for arguments that a resolver refuses, with all of their problems. */
export function invalidArguments(values: object): GraphQLError {
  return invalidInput(check(values));
}

/** Returns the error of all problems that graphql-js and resolvers find in variables, if any. */
export function invalidVariables(
  { schema, document, hideSuggestions }: ExecutionArgs,
  variables: Readonly<Record<string, unknown>>,
): GraphQLError | undefined {
  const issues: InputIssue[] = [];

  function find(value: unknown, type: GraphQLInputType, path: readonly string[], uses: Uses) {
    const object = getNullableType(type);
    if (isInputObjectType(object) && jsonType(value) === 'object') {
      const fields = object.getFields();
      const members = value as Readonly<Record<string, unknown>>;
      for (const name in { ...fields, ...members }) {
        if (issues.length >= maxIssues) return;
        const shortName = name.slice(0, 64).toWellFormed();
        const at = [...path, shortName];
        const below = uses.map((use) => use && name);
        if (fields[name]) find(members[name], fields[name].type, at, below);
        else {
          const maxDistance = hideSuggestions ? 0 : Math.floor(shortName.length / 3);
          const meant = closestMatch(shortName, Object.keys(fields), { maxDistance });
          const hint = meant ? `; did you mean ${meant}?` : '.';
          issues.push({ path: at, message: `Unknown field ${shortName} of ${object}${hint}` });
        }
      }
      return;
    }
    const found = issues.length;
    // graphql-js quotes objects, and what a host may pass although JSON has it not.
    const isSimple = /^(?:nothing|null|string|number|boolean)$/.test(jsonType(value));
    const expected = checks.get(uses.find((use) => checks.has(use)))?.[0];
    const known = expected ?? expectedOf(object, hideSuggestions);
    const report = ({ message }: GraphQLError) =>
      issues.push({ path, message: isSimple && known ? problem(known, value) : message });
    validateInputValue(value, type, report, hideSuggestions);
    for (const use of uses) {
      if (found === issues.length) issues.push(...check(value, path, use));
    }
  }

  const nodes: VariableDefinitionNode[] = [];
  const invalid: VariableDefinitionNode[] = [];
  const uses = new Map<string, Uses[number][]>();
  let isChecked = false;
  visit(document, {
    VariableDefinition: (node) => void nodes.push(node),
    Field({ name }) {
      isChecked = checkedFields.includes(name.value);
    },
    Variable({ name }, _key, parent) {
      const use = isChecked ? (parent as Partial<ArgumentNode>).name?.value : undefined;
      uses.set(name.value, [...(uses.get(name.value) ?? []), use]);
    },
  });
  for (const node of nodes) {
    const { variable, type, defaultValue } = node;
    const name = variable.name.value;
    const found = issues.length;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined && defaultValue) continue;
    find(value, typeFromAST(schema, type) as GraphQLInputType, [name], uses.get(name) ?? []);
    if (issues.length > found) invalid.push(node);
  }
  return issues.length > 0 ? invalidInput(issues, invalid) : undefined;
}

/** Returns the problems of a value that is used for an argument or input field of this name. */
function check(value: unknown, path: readonly string[] = [], use?: string): InputIssue[] {
  if (jsonType(value) === 'object') {
    const members = Object.entries(value as object);
    return members.flatMap(([name, member]) => check(member, [...path, name], name));
  }
  const [expected = '', isValid] = checks.get(use) ?? [];
  if (value == null || !isValid || isValid(value)) return [];
  return [{ path, message: problem(expected, value) }];
}

const problem = (expected: string, value: unknown) =>
  `Expected ${expected}, received ${shown(value)}.`;

/** What each scalar of GraphQL has to be. Others describe their problems themselves. */
const scalars: Readonly<Record<string, string>> = {
  Int: 'a 32-bit integer',
  Float: 'a number',
  String: 'a string',
  Boolean: 'true or false',
  ID: 'a string or an integer',
};

function expectedOf(type: GraphQLInputType, hideNames: unknown): string | undefined {
  if (isInputObjectType(type)) return 'an object';
  if (!isEnumType(type)) return scalars[String(type)];
  if (hideNames) return `a value of ${type}`;
  const names = type.getValues().map(({ name }) => name);
  return `one of ${names.join(', ')}`;
}

function invalidInput(all: readonly InputIssue[], variables?: readonly VariableDefinitionNode[]) {
  const issues = all.slice(0, maxIssues);
  const lines = issues.map(({ path, message }) => {
    return `${variables ? '$' : ''}${path.join('.')}: ${message.replace(/^(?:Expected|Unknown)/, (word) => word.toLowerCase())}`;
  });
  return Object.assign(new InvalidValuesError(lines.join('\n'), { nodes: variables }), { issues });
}
