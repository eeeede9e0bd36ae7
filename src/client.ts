/** The client package under the name of the gateway's own. */
export * from 'petstore-gateway-client';
