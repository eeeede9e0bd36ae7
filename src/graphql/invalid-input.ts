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

/** The most issues of an error. */
const maxIssues = 20;

/** What arguments and input fields of these names have to be, beyond their types. */
type Checks = ReadonlyMap<string, Expectation>;

/** The checks of root fields, by the names of the fields. */
export type InputChecks = ReadonlyMap<string, Checks>;

/** Where a variable is used: for an argument or input field of a root field with checks. */
interface Use {
  readonly name: string;
  readonly checks: Checks;
}

/** Returns the checks of a contract. */
export function createInputChecks(operations: Operations): InputChecks {
  const all = Object.values(operations).map(({ field, ...operation }) => {
    const { parameters = {}, query = {}, body, response } = operation;
    const checks = new Map<string, Expectation>();
    const add = (name: string, { inGraphql }: Argument) => inGraphql && checks.set(name, inGraphql);
    // An argument may have the name of the field that it finds, instead of the parameter's.
    for (const part of [response, body]) {
      if (typeof part !== 'object' || 'listOf' in part) continue;
      if ('member' in part) add(part.member, part.kind);
      else for (const { name, kind } of Object.values(part.fields)) add(name, kind);
    }
    for (const [name, { kind }] of Object.entries(query)) add(name, kind);
    for (const [name, kind] of Object.entries(parameters)) add(name, kind);
    return [field.replace(/^\w+\./, ''), checks] as const;
  });
  return new Map(all);
}

/** Returns the error for arguments that a resolver refuses, with all of their problems. */
export function invalidArguments(values: object, checks: Checks = new Map()): GraphQLError {
  return invalidInput(check(values, [], { name: '', checks }));
}

/** Returns the error of all problems that graphql-js and resolvers find in variables, if any. */
export function invalidVariables(
  { schema, document, hideSuggestions }: ExecutionArgs,
  variables: Readonly<Record<string, unknown>>,
  inputChecks: InputChecks,
): GraphQLError | undefined {
  const issues: InputIssue[] = [];

  function find(
    value: unknown,
    type: GraphQLInputType,
    path: readonly string[],
    uses: readonly (Use | undefined)[],
  ) {
    const object = getNullableType(type);
    if (isInputObjectType(object) && jsonType(value) === 'object') {
      const fields = object.getFields();
      const members = value as Readonly<Record<string, unknown>>;
      for (const name in { ...fields, ...members }) {
        if (issues.length >= maxIssues) return;
        const shortName = name.slice(0, 64).toWellFormed();
        const at = [...path, shortName];
        const below = uses.map((use) => use && { ...use, name });
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
    const [expected] = uses.flatMap((use) => use?.checks.get(use.name)?.expected ?? []);
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
  const uses = new Map<string, (Use | undefined)[]>();
  let checks: Checks | undefined;
  visit(document, {
    VariableDefinition: (node) => void nodes.push(node),
    Field({ name }) {
      checks = inputChecks.get(name.value);
    },
    Variable({ name }, _key, parent) {
      const use = (parent as Partial<ArgumentNode>).name?.value;
      const known = checks && use !== undefined ? { name: use, checks } : undefined;
      uses.set(name.value, [...(uses.get(name.value) ?? []), known]);
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

/** Returns the problems of a value that is used so. */
function check(value: unknown, path: readonly string[], use?: Use): InputIssue[] {
  if (use === undefined) return [];
  if (jsonType(value) === 'object') {
    const members = Object.entries(value as object);
    return members.flatMap(([name, member]) => check(member, [...path, name], { ...use, name }));
  }
  const found = use.checks.get(use.name);
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
