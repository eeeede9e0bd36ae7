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
import type { Argument, Expectation } from '../contract/fields.ts';
import { jsonType, shown } from '../contract/json.ts';
import type { Operations } from '../contract/operation.ts';

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

/** What the arguments and input fields of some root fields have to be, beyond their types, by name. */
export interface InputChecks {
  readonly fields: readonly string[];
  readonly checks: ReadonlyMap<unknown, Expectation>;
}

/** Returns the checks of a contract. A field that is added may have others of the same names. */
export function createInputChecks(operations: Operations): InputChecks {
  const checks = new Map<unknown, Expectation>();
  const add = (name: string, { inGraphql }: Argument) => inGraphql && checks.set(name, inGraphql);
  for (const { parameters = {}, query = {}, body, response } of Object.values(operations)) {
    for (const [name, kind] of Object.entries(parameters)) add(name, kind);
    for (const [name, { kind }] of Object.entries(query)) add(name, kind);
    for (const part of [body, response]) {
      if (typeof part !== 'object' || 'listOf' in part) continue;
      if ('member' in part) add(part.member, part.kind);
      else for (const { name, kind } of Object.values(part.fields)) add(name, kind);
    }
  }
  const fields = Object.values(operations).map(({ field }) => field.replace(/^\w+\./, ''));
  return { fields, checks };
}

/** Returns the error for arguments that a resolver refuses, with all of their problems. */
export function invalidArguments(values: object, { checks }: InputChecks): GraphQLError {
  return invalidInput(check(checks, values));
}

/** Returns the error of all problems that graphql-js and resolvers find in variables, if any. */
export function invalidVariables(
  { schema, document, hideSuggestions }: ExecutionArgs,
  variables: Readonly<Record<string, unknown>>,
  { fields: checkedFields, checks }: InputChecks,
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
    const expected = checks.get(uses.find((use) => checks.has(use)))?.expected;
    const known = expected ?? expectedOf(object, hideSuggestions);
    const report = ({ message }: GraphQLError) =>
      issues.push({ path, message: isSimple && known ? problem(known, value) : message });
    validateInputValue(value, type, report, hideSuggestions);
    for (const use of uses) {
      if (found === issues.length) issues.push(...check(checks, value, path, use));
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
function check(
  checks: InputChecks['checks'],
  value: unknown,
  path: readonly string[] = [],
  use?: string,
): InputIssue[] {
  if (jsonType(value) === 'object') {
    const members = Object.entries(value as object);
    return members.flatMap(([name, member]) => check(checks, member, [...path, name], name));
  }
  const found = checks.get(use);
  if (value == null || !found || found.parse(value) !== undefined) return [];
  return [{ path, message: problem(found.expected, value) }];
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
