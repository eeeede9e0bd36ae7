/** A service that does not honour `Idempotency-Key`, for writes that are remembered in front of it. */
const forgetfulService = { url: 'http://service/v1', carriesKey: false };

/** Both services of the contract, neither of which honours `Idempotency-Key`. */
export const forgetful = { pets: forgetfulService, messages: forgetfulService };
