import { gateway } from '../../lib/gateway';

export const GET = gateway;
export const POST = gateway;
