import { gateway } from '../../lib/gateway';

export const GET = gateway;
export const POST = gateway;
/** Responds to preflight requests from the origins in `CORS_ORIGINS`. */
export const OPTIONS = gateway;
