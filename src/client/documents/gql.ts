/* eslint-disable */
import * as types from './graphql.ts';
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';

/**
 * Map of all GraphQL operations in the project.
 *
 * This map has several performance disadvantages:
 * 1. It is not tree-shakeable, so it will include all operations in the project.
 * 2. It is not minifiable, so the string of a GraphQL query will be multiple times inside the bundle.
 * 3. It does not support dead code elimination, so it will add unused operations.
 *
 * Therefore it is highly recommended to use the babel or swc plugin for production.
 * Learn more about it here: https://the-guild.dev/graphql/codegen/plugins/presets/preset-client#reducing-bundle-size
 */
type Documents = {
    "mutation AddPet($input: AddPetInput!) {\n  addPet(input: $input) {\n    id\n    name\n    categoryId\n    status\n  }\n}": typeof types.AddPetDocument,
    "query GetPet($id: ID!) {\n  pet(id: $id) {\n    id\n    name\n    categoryId\n    status\n  }\n}": typeof types.GetPetDocument,
    "query ListOrders {\n  orders\n}": typeof types.ListOrdersDocument,
    "query ListPets($limit: Int = 5, $status: PetStatus) {\n  pets(limit: $limit, status: $status) {\n    id\n    name\n    categoryId\n    status\n  }\n}": typeof types.ListPetsDocument,
    "mutation SendMessage($message: String!) {\n  sendMessage(message: $message) {\n    id\n    message\n    status\n    createdAt\n  }\n}": typeof types.SendMessageDocument,
    "query Storefront($limit: Int = 3) {\n  available: pets(limit: $limit, status: available) {\n    ...Tile\n  }\n  pending: pets(limit: $limit, status: pending) {\n    ...Tile\n  }\n  orders\n}\n\nfragment Tile on Pet {\n  id\n  name\n  status\n}": typeof types.StorefrontDocument,
};
const documents: Documents = {
    "mutation AddPet($input: AddPetInput!) {\n  addPet(input: $input) {\n    id\n    name\n    categoryId\n    status\n  }\n}": types.AddPetDocument,
    "query GetPet($id: ID!) {\n  pet(id: $id) {\n    id\n    name\n    categoryId\n    status\n  }\n}": types.GetPetDocument,
    "query ListOrders {\n  orders\n}": types.ListOrdersDocument,
    "query ListPets($limit: Int = 5, $status: PetStatus) {\n  pets(limit: $limit, status: $status) {\n    id\n    name\n    categoryId\n    status\n  }\n}": types.ListPetsDocument,
    "mutation SendMessage($message: String!) {\n  sendMessage(message: $message) {\n    id\n    message\n    status\n    createdAt\n  }\n}": types.SendMessageDocument,
    "query Storefront($limit: Int = 3) {\n  available: pets(limit: $limit, status: available) {\n    ...Tile\n  }\n  pending: pets(limit: $limit, status: pending) {\n    ...Tile\n  }\n  orders\n}\n\nfragment Tile on Pet {\n  id\n  name\n  status\n}": types.StorefrontDocument,
};

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 *
 *
 * @example
 * ```ts
 * const query = graphql(`query GetUser($id: ID!) { user(id: $id) { name } }`);
 * ```
 *
 * The query argument is unknown!
 * Please regenerate the types.
 */
export function graphql(source: string): unknown;

/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "mutation AddPet($input: AddPetInput!) {\n  addPet(input: $input) {\n    id\n    name\n    categoryId\n    status\n  }\n}"): (typeof documents)["mutation AddPet($input: AddPetInput!) {\n  addPet(input: $input) {\n    id\n    name\n    categoryId\n    status\n  }\n}"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query GetPet($id: ID!) {\n  pet(id: $id) {\n    id\n    name\n    categoryId\n    status\n  }\n}"): (typeof documents)["query GetPet($id: ID!) {\n  pet(id: $id) {\n    id\n    name\n    categoryId\n    status\n  }\n}"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query ListOrders {\n  orders\n}"): (typeof documents)["query ListOrders {\n  orders\n}"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query ListPets($limit: Int = 5, $status: PetStatus) {\n  pets(limit: $limit, status: $status) {\n    id\n    name\n    categoryId\n    status\n  }\n}"): (typeof documents)["query ListPets($limit: Int = 5, $status: PetStatus) {\n  pets(limit: $limit, status: $status) {\n    id\n    name\n    categoryId\n    status\n  }\n}"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "mutation SendMessage($message: String!) {\n  sendMessage(message: $message) {\n    id\n    message\n    status\n    createdAt\n  }\n}"): (typeof documents)["mutation SendMessage($message: String!) {\n  sendMessage(message: $message) {\n    id\n    message\n    status\n    createdAt\n  }\n}"];
/**
 * The graphql function is used to parse GraphQL queries into a document that can be used by GraphQL clients.
 */
export function graphql(source: "query Storefront($limit: Int = 3) {\n  available: pets(limit: $limit, status: available) {\n    ...Tile\n  }\n  pending: pets(limit: $limit, status: pending) {\n    ...Tile\n  }\n  orders\n}\n\nfragment Tile on Pet {\n  id\n  name\n  status\n}"): (typeof documents)["query Storefront($limit: Int = 3) {\n  available: pets(limit: $limit, status: available) {\n    ...Tile\n  }\n  pending: pets(limit: $limit, status: pending) {\n    ...Tile\n  }\n  orders\n}\n\nfragment Tile on Pet {\n  id\n  name\n  status\n}"];

export function graphql(source: string) {
  return (documents as any)[source] ?? {};
}

export type DocumentType<TDocumentNode extends DocumentNode<any, any>> = TDocumentNode extends DocumentNode<  infer TType,  any>  ? TType  : never;