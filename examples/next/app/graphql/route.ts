import { gateway } from '../../lib/gateway';

export const GET = gateway;
export const POST = gateway;
/** Answers preflight requests of browsers on the origins in `CORS_ORIGINS`. */
export const OPTIONS = gateway;
